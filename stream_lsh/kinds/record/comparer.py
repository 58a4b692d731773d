"""Pairs of records: scored by the profile, with the evidence of each."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U32, Bools
from stream_lsh.errors import InvariantError
from stream_lsh.kinds.record.frequencies import RecordCounts
from stream_lsh.model import at_rows, in_full
from stream_lsh.pipeline.compare import Compared, Criteria, Pairs, affordable
from stream_lsh.records.block.blocker import block_of
from stream_lsh.records.evidence import evidence_text
from stream_lsh.records.model import SEVERAL, Values, values_of
from stream_lsh.records.profile import Profile
from stream_lsh.records.reading import columns_of
from stream_lsh.records.score import Scored, Scorer

_MANY = 48
"""Pairs from which arrays pay."""
_MOST_CACHED = 1 << 14
"""Records: some 1 KB each."""
_WORK = 1 << 12
"""What is compared where the work is bounded: a pair of small records is 1, and takes some 30 us."""
_CHARACTERS = 1 << 16
"""Characters of the one record times those of the other that are worth as much."""


class _Read(NamedTuple):
    """A record as it is compared: its values, how many there are of fields with several, and all characters."""

    values: Values
    several: int
    characters: int

    @classmethod
    def of(cls, text: str, fields: int) -> "_Read":
        return cls(values_of(text, fields), 1 + text.count(SEVERAL), len(text))


class RecordPairs:
    """Scores pairs of records; the values of those that were compared lately are remembered.

    Args:
        profile: of the pipeline.
        limit: records remembered.
    """

    def __init__(self, profile: Profile, limit: int = _MOST_CACHED) -> None:
        self._fields = len(profile.fields)
        self._link_only = profile.link == "link"
        self._limit = limit
        self._read: OrderedDict[int, _Read] = OrderedDict()

    def compare(self, pairs: Pairs, near: Bools, criteria: Criteria, *, bounded: bool = False) -> Compared:
        """The probability that each pair is a match, and why; 0 for two of one source where only sources are linked.

        Pairs below the threshold that nobody asked again about need no evidence, and have none.
        """
        counts = pairs.documents.counts
        if not isinstance(counts, RecordCounts):
            raise InvariantError("got a table of documents that counts no records, expected one of a record pipeline")
        wanted = near & self._of_other_sources(pairs) if self._link_only else near
        # A pair that was decided to be one stays whatever its similarity: its evidence is told all the same.
        at, count = np.flatnonzero(wanted | pairs.recheck), len(pairs)
        news, olds = self._ends(pairs, at)
        if bounded and at.size:
            some = affordable(_costs(news, olds), _WORK)
            count = int(at[some]) if some < at.size else count
            at, news, olds = at[:some], news[:some], olds[:some]
        similarity, evidence = np.zeros(count), [""] * count
        scored = _scored(counts.scorer, [new.values for new in news], [old.values for old in olds])
        similarity[at] = [score.probability for score in scored]
        similarity[~wanted[:count]] = 0
        reported = np.flatnonzero((similarity[at] >= criteria.threshold) | pairs.recheck[at])
        keys = _Keys(pairs, at[reported])
        for place, chosen in enumerate(reported.tolist()):
            evidence[at[chosen]] = evidence_text(scored[chosen], keys.shared(place))
        none = np.zeros(count, np.uint32)
        return Compared(similarity, none, none, None, evidence)

    def forget(self, ref: int) -> None:
        """A version will not be asked about again."""
        self._read.pop(ref, None)

    def __len__(self) -> int:
        return len(self._read)

    def _of_other_sources(self, pairs: Pairs) -> Bools:
        news = at_rows(in_full(pairs.asked.abouts, pairs.asked.refs.size), pairs.new.tolist())
        olds = in_full(pairs.documents.abouts(pairs.old), len(pairs))
        return np.array([new.source != old.source for new, old in zip(news, olds, strict=True)], np.bool_)

    def _ends(self, pairs: Pairs, at: I64) -> tuple[list[_Read], list[_Read]]:
        """Both ends of some pairs."""
        asked, rows = pairs.asked, pairs.new[at].tolist()
        news = {row: _Read.of(asked.texts[row], self._fields) for row in set(rows)}
        refs = pairs.old_refs[at].tolist()
        read_ends = self._read
        missing = [place for place, ref in enumerate(refs) if ref not in read_ends]
        for place, text in zip(missing, pairs.documents.texts(pairs.old[at[missing]]), strict=True):
            read_ends[refs[place]] = _Read.of(text, self._fields)
        olds = [read_ends[ref] for ref in refs]
        for ref in dict.fromkeys(refs):
            read_ends.move_to_end(ref)
        while len(read_ends) > self._limit:
            read_ends.popitem(last=False)
        return [news[row] for row in rows], olds


def _costs(news: Sequence[_Read], olds: Sequence[_Read]) -> I64:
    """How much work each pair is: each of several values meets each, and some comparisons meet all characters."""
    several = np.array([new.several for new in news]) * np.array([old.several for old in olds])
    characters = np.array([new.characters for new in news]) * np.array([old.characters for old in olds])
    return np.asarray(several + characters // _CHARACTERS, np.int64)


def _scored(scorer: Scorer, news: Sequence[Values], olds: Sequence[Values]) -> list[Scored]:
    """The evidence of pairs, each given by its two ends: of many at once, of few one by one."""
    if len(news) < _MANY:
        return [scorer.score_one(new, (old,))[0] for new, old in zip(news, olds, strict=True)]
    rows: dict[Values, int] = {}
    left = np.array([rows.setdefault(values, len(rows)) for values in news], np.int64)
    right = np.array([rows.setdefault(values, len(rows)) for values in olds], np.int64)
    return scorer.score(columns_of([*rows]), left, right).rows()


class _Keys:
    """The blocking keys of both ends of some pairs."""

    def __init__(self, pairs: Pairs, at: I64) -> None:
        self._news = _keys(pairs.asked.signatures[pairs.new[at]])
        self._olds = _keys(pairs.documents.signatures(pairs.old[at]).values)

    def shared(self, place: int) -> Sequence[int]:
        """The places of the blocks that both are in, ascending."""
        keys = {key for key in self._news[place] if key}.intersection(self._olds[place])
        return sorted({block_of(key) for key in keys})


def _keys(signatures: U32) -> list[list[int]]:
    keys: list[list[int]] = np.ascontiguousarray(signatures).view(np.uint64).tolist()
    return keys
