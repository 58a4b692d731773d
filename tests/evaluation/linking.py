"""Linking the records of a corpus, one at a time, and the quality of what was found."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from stream_lsh.kinds.record.in_memory import RecordLinker, learned_from
from stream_lsh.kinds.record.profiles import bundled, load_profile
from stream_lsh.ledger.clusters.guards.choice import EntityGuards
from stream_lsh.ledger.clusters.guards.links import Links
from stream_lsh.records.block.blocker import Blocker, blocker_of
from stream_lsh.records.infer import infer
from stream_lsh.records.model import Record, Values
from stream_lsh.records.profile import Profile
from stream_lsh.records.reading import Reader, columns_of
from stream_lsh.records.score import Scorer
from stream_lsh.records.train.learning import train
from tests.evaluation.clustering import components
from tests.evaluation.one_to_one import best_pairs
from tests.evaluation.record_corpora import Corpus, Pair, pair_of

CAP = 32
"""Records of a bucket that a new one is compared with, as the index of a pipeline has it."""
MOST = 200
"""Candidates of a record, those with the most shared keys first."""
GUARDS = EntityGuards(bridge_similarity=0.999)
"""The guards of the bundled profiles."""


@dataclass(slots=True)
class Found:
    """The results of the stream: pairs of rows, later and earlier, with their scores."""

    left: list[int]
    right: list[int]
    totals: list[float]
    seconds: float
    compared: set[Pair]


class Stream:
    """Records one at a time against those before them.

    Args:
        profile: that has learned.
        blocker: of the profile.
        keep: the probability below which a pair is forgotten.
    """

    def __init__(self, profile: Profile, blocker: Blocker, keep: float = 1e-3) -> None:
        self.reader, self.blocker, self.scorer = Reader(profile), blocker, Scorer(profile)
        self.values: list[Values] = []
        self.sources: list[str] = []
        self._link_only = profile.link == "link"
        self._keep = keep
        self._buckets: dict[int, list[int]] = {}

    def candidates(self, keys: Sequence[int], source: str) -> list[int]:
        """The rows that share a key, most shared keys first."""
        shared: dict[int, int] = {}
        for key in keys:
            for row in self._buckets.get(key, ())[-CAP:]:
                shared[row] = shared.get(row, 0) + 1
        rows = [row for row in shared if self.sources[row] != source] if self._link_only else list(shared)
        if len(rows) > MOST:
            rows = sorted(rows, key=lambda row: (-shared[row], -row))[:MOST]
        return rows

    def search(self, values: Values, keys: Sequence[int], source: str) -> list[tuple[int, float]]:
        """The rows that may be the same thing, with their evidence in bits."""
        rows = self.candidates(keys, source)
        scored = self.scorer.score_one(values, [self.values[row] for row in rows])
        return [(row, one.total) for row, one in zip(rows, scored, strict=True) if one.probability >= self._keep]

    def add(self, values: Values, keys: Sequence[int], source: str) -> None:
        """Keep a record for those that come."""
        for key in keys:
            self._buckets.setdefault(key, []).append(len(self.values))
        self.values.append(values)
        self.sources.append(source)


def learned(profile: Profile, records: Sequence[Record]) -> tuple[Profile, np.ndarray, list[Values], Blocker]:
    """The profile with what the records say, unless it knows already; their keys and values."""
    reader, blocker = Reader(profile), blocker_of(profile)
    values = [reader.values(record) for record in records]
    keys = blocker.keys(values)
    if profile.learned:
        return profile, keys, values, blocker
    numbers = {source: number for number, source in enumerate(dict.fromkeys(one.source for one in records))}
    sources = np.array([numbers[record.source] for record in records])
    return train(profile, columns_of(values), keys, blocker, sources), keys, values, blocker


def streamed(profile: Profile, corpus: Corpus) -> tuple[Found, Profile]:
    """The results of the stream on a corpus."""
    counted_first = profile.learned
    profile, keys, values, blocker = learned(profile, corpus.records)
    stream, found = Stream(profile, blocker), Found([], [], [], 0.0, set())
    rows_of_keys = [[key for key in row if key] for row in keys.tolist()]
    if counted_first:
        stream.scorer.count(values)
    start = time.perf_counter()
    for row, (record, own) in enumerate(zip(corpus.records, rows_of_keys, strict=True)):
        if not counted_first:
            stream.scorer.count([values[row]])  # a value that two records have was seen twice
        for other, total in stream.search(values[row], own, record.source):
            found.left.append(other)
            found.right.append(row)
            found.totals.append(total)
        stream.add(values[row], own, record.source)
    found.seconds = time.perf_counter() - start
    found.compared = compared(corpus, stream, rows_of_keys)
    return found, profile


def compared(corpus: Corpus, stream: Stream, keys: Sequence[Sequence[int]]) -> set[Pair]:
    """The true pairs that were compared."""
    again = Stream.__new__(Stream)
    again._buckets, again._link_only, again.sources = {}, stream._link_only, stream.sources
    pairs = set()
    for row, own in enumerate(keys):
        for other in again.candidates(own, stream.sources[row]):
            pair = pair_of(corpus.records[other].id, corpus.records[row].id)
            if pair in corpus.truth:
                pairs.add(pair)
        for key in own:
            again._buckets.setdefault(key, []).append(row)
    return pairs


def figures(found: Found, corpus: Corpus, probability: float) -> dict[str, dict[str, float]]:
    """Precision, recall and F1 of pairs and of clusters at a threshold."""
    least = np.log2(probability / (1 - probability))
    left, right = np.array(found.left, np.int64), np.array(found.right, np.int64)
    totals = np.array(found.totals)
    at = np.flatnonzero(totals >= least)
    if corpus.clean:
        at = at[best_pairs(left[at], right[at], totals[at])]
    ids = [record.id for record in corpus.records]
    ends = zip(left[at].tolist(), right[at].tolist(), (1 / (1 + 2.0 ** -totals[at])).tolist(), strict=True)
    pairs = {pair_of(ids[one], ids[other]): likely for one, other, likely in ends}
    groups = [sorted(group) for group in components(pairs)]
    return {
        "pairs": measured({*pairs}, corpus.truth),
        "clusters": measured_within(groups, corpus.truth),
        "entities": measured_within(_divided(groups, pairs), corpus.truth),
    }


def measured(found: set[Pair], truth: set[Pair]) -> dict[str, float]:
    """Precision, recall, F1."""
    return _figures(len(found & truth), len(found), len(truth))


def _figures(right: int, found: int, true: int) -> dict[str, float]:
    precision, recall = right / max(1, found), right / max(1, true)
    return {"precision": precision, "recall": recall, "f1": 2 * precision * recall / max(1e-12, precision + recall)}


def measured_within(groups: Sequence[Sequence[str]], truth: set[Pair]) -> dict[str, float]:
    """The same of all pairs of members of one group, without making them: a group may be most of a corpus."""
    group_of = {id: number for number, group in enumerate(groups) for id in group}
    right = sum(one in group_of and group_of[one] == group_of.get(other) for one, other in truth)
    return _figures(right, sum(len(group) * (len(group) - 1) // 2 for group in groups), len(truth))


def _divided(groups: Sequence[Sequence[str]], pairs: dict[Pair, float]) -> list[list[str]]:
    """The entities that the guards of the bundled profiles make of connected components."""
    group_of = {id: number for number, group in enumerate(groups) for id in group}
    inside: dict[int, list[Pair]] = {}
    for pair in sorted(pairs):
        inside.setdefault(group_of[pair[0]], []).append(pair)
    parts = []
    for number, own in inside.items():
        places = {id: place for place, id in enumerate(groups[number])}
        links = Links([1] * len(places), [(places[one], places[other], pairs[one, other]) for one, other in own])
        parts += [[groups[number][place] for place in part] for part in GUARDS.parts(links)]
    return parts


def linked(profile: Profile, records: Sequence[Record]) -> RecordLinker:
    """The result of `stream-lsh link` for these records: sorted, trained, counted, and then compared."""
    ordered = sorted(records, key=lambda record: (record.time_ms, record.id))
    linker = RecordLinker(profile if profile.learned else learned_from(profile, ordered))
    linker.count_first(ordered)
    for first in range(0, len(ordered), 1_000):
        linker.add_many(ordered[first : first + 1_000])
    return linker


def groups_of(linker: RecordLinker) -> list[tuple[str, ...]]:
    """The members of each entity."""
    return [entity.members for entity in linker.entities()]


def profile_of(name: str) -> Profile:
    """A profile of the package, or one of these benchmarks."""
    return load_profile(Path(__file__).parents[2] / name) if name.endswith(".toml") else bundled(name)


def profile_for(corpus: Corpus, name: str) -> Profile:
    """The profile with a name, with the link that its user would name: one source has duplicates of its own."""
    profile = profile_of(name)
    if len({record.source for record in corpus.records}) > 1:
        return profile
    return replace(profile, link="both", one_to_one=False)


def proposed(corpus: Corpus) -> Profile:
    """The profile that `infer` proposes for a corpus, as it comes."""
    return infer(corpus.records)
