"""Entity resolution: `python -m benchmarks.records --data DIR [--out FILE] [--only NAME ...] [--part quality|latency]`.

Records arrive one at a time; each is compared with those that came before it and share a key with it, at most 32 of a
bucket, the newest.  Its values are counted into the frequencies first.  What each level is worth is learned from the
records of the file, without labels.  Profiles and thresholds come with the package and are the same for all files; but
the blocking rules of `people`, and how fast frequencies count, were chosen with the figures of historical_50k and
fake_1000 in view, and 1 and 2 of FEBRL, on which a threshold was to be fixed, do not tell .5 from .99.

    blocking    share of the true pairs that were compared
    pairs       precision, recall and F1 of pairs at the profile's threshold, and at .5; where sources are clean, after
                the best match of each record was taken
    clusters    of the pairs within connected components at the threshold
    strong      likewise, where a single pair does not hold two groups together (`guards.strong_links`)
    inferred    the same with a profile that was proposed from the file (`infer`), nothing known of it
    latency     one new record against 5,000: read, keys, candidates, scores

The Senzing truth set is too small to learn from.  Its profile, `benchmarks/parties.toml`, has weights that were set by
hand with its truth in view, and the frequencies of the whole file are counted before the first record is compared.
"""

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.clustering import components
from benchmarks.one_to_one import best_pairs
from benchmarks.record_corpora import CORPORA, Corpus, Pair, febrl, pair_of
from stream_lsh import __version__
from stream_lsh.kinds.record.profiles import bundled, load_profile
from stream_lsh.ledger.clusters.guards.links import Links
from stream_lsh.ledger.clusters.guards.strong import strong_parts
from stream_lsh.records.block.blocker import Blocker, blocker_of
from stream_lsh.records.infer import infer
from stream_lsh.records.model import Record, Values
from stream_lsh.records.profile import Profile
from stream_lsh.records.reading import Reader, columns_of
from stream_lsh.records.score import Scorer
from stream_lsh.records.train.learning import train

CAP = 32
"""Records of a bucket that a new one is compared with, as the index of a pipeline has it."""
MOST = 200
"""Candidates of a record, those with the most shared keys first."""


@dataclass(slots=True)
class Found:
    """What the stream gave: pairs of rows, later and earlier, with their scores."""

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
    """What the stream finds in a corpus."""
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
    totals = np.array(found.totals)
    at = np.flatnonzero(totals >= least)
    left, right = np.array(found.left, np.int64)[at], np.array(found.right, np.int64)[at]
    if corpus.clean:
        chosen = best_pairs(left, right, totals[at])
        left, right = left[chosen], right[chosen]
    ids = [record.id for record in corpus.records]
    pairs = {pair_of(ids[one], ids[other]) for one, other in zip(left.tolist(), right.tolist(), strict=True)}
    groups = [sorted(group) for group in components(pairs)]
    strong = _strong(groups, pairs)
    return {
        "pairs": measured(pairs, corpus.truth),
        "clusters": measured_within(groups, corpus.truth),
        "strong": measured_within(strong, corpus.truth),
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


def _strong(groups: Sequence[Sequence[str]], pairs: set[Pair]) -> list[list[str]]:
    """What is left of groups without their weak pairs."""
    group_of = {id: number for number, group in enumerate(groups) for id in group}
    inside: dict[int, list[Pair]] = {}
    for pair in sorted(pairs):
        inside.setdefault(group_of[pair[0]], []).append(pair)
    parts = []
    for number, own in inside.items():
        places = {id: place for place, id in enumerate(groups[number])}
        links = Links([1] * len(places), [(places[one], places[other], 1.0) for one, other in own])
        parts += [[groups[number][place] for place in part] for part in strong_parts(links)]
    return parts


def quality(corpus: Corpus, profile: Profile, *, inferred: bool = False) -> dict[str, object]:
    """All figures of a corpus under a profile."""
    found, _ = streamed(profile, corpus)
    rows = {f"{p:g}": figures(found, corpus, p) for p in (0.5, profile.match, 0.99)}
    row: dict[str, object] = {
        "corpus": corpus.name + (" inferred" if inferred else ""),
        "records": len(corpus.records),
        "true_pairs": len(corpus.truth),
        "blocking_recall": len(found.compared) / len(corpus.truth),
        "records_per_second": len(corpus.records) / found.seconds,
        "match": profile.match,
        "at": rows,
    }
    print(f"{row['corpus']:30} {len(corpus.records):6} records, blocking {row['blocking_recall']:.4f}")
    for p, one in rows.items():
        print(f"   p ≥ {p:5}" + "".join(f"  {name} {_shown(each)}" for name, each in one.items()))
    return row


def _shown(one: dict[str, float]) -> str:
    return f"{one['precision']:.4f} {one['recall']:.4f} F1 {one['f1']:.4f}"


def latency(data: Path) -> dict[str, float]:
    """One new record of FEBRL4-B against the 5,000 of FEBRL4-A, all steps, in milliseconds."""
    corpus = febrl(data, 4)
    old, new = corpus.records[:5000], corpus.records[5000:]
    profile, _, _, blocker = learned(bundled("people"), corpus.records)
    stream = Stream(profile, blocker, keep=profile.match)
    for record in old:
        values = stream.reader.values(record)
        stream.add(values, blocker.keys_of(values), record.source)
        stream.scorer.count([values])
    took, hits = [], 0
    for record in new:
        start = time.perf_counter()
        values = stream.reader.values(record)
        matches = stream.search(values, blocker.keys_of(values), record.source)
        took.append(1000 * (time.perf_counter() - start))
        hits += len(matches)
    row = {
        "median_ms": statistics.median(took),
        "p99_ms": statistics.quantiles(took, n=100)[98],
        "matches": float(hits),
        "indexed": float(len(old)),
    }
    print(
        f"one record against {len(old)}: median {row['median_ms']:.3f} ms, p99 {row['p99_ms']:.3f} ms, {hits} matches"
    )
    return row


INFERRED = ("febrl3", "leipzig_dblp_acm")


def main(argv: Sequence[str]) -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.records", description="Entity resolution.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--out", type=Path, help="file for the data")
    parser.add_argument("--only", nargs="*", choices=list(CORPORA), default=list(CORPORA), help="these corpora")
    parser.add_argument("--part", choices=("quality", "inferred", "latency"), help="only this part")
    options = parser.parse_args(argv)
    parts = [options.part] if options.part else ["latency", "quality", "inferred"]
    result: dict[str, object] = {"version": __version__, "python": platform.python_version()}
    if "latency" in parts:
        result["latency"] = latency(options.data)
    if "quality" in parts:
        result["quality"] = [
            quality(CORPORA[name][0](options.data), profile_of(CORPORA[name][1])) for name in options.only
        ]
    if "inferred" in parts:
        chosen = [CORPORA[name][0](options.data) for name in INFERRED if name in options.only]
        result["inferred"] = [quality(one, proposed(one), inferred=True) for one in chosen]
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


def profile_of(name: str) -> Profile:
    """A profile of the package, or one of these benchmarks."""
    return load_profile(Path(__file__).parents[1] / name) if name.endswith(".toml") else bundled(name)


def proposed(corpus: Corpus) -> Profile:
    """What `infer` makes of a corpus, with the link that its user would name."""
    sources = len({record.source for record in corpus.records})
    profile = infer(corpus.records)
    return replace(profile, link="link" if corpus.clean and sources > 1 else profile.link, one_to_one=corpus.clean)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
