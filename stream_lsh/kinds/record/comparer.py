"""Compares pairs of records: scores them by the profile, with the evidence of each."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import F64, I64, U32, Bools
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
"""The number of pairs from which arrays are faster."""
_MOST_CACHED = 1 << 14
"""The size of the cache in records, of some 1 KB each."""
_WORK = 1 << 12
"""The budget of a bounded comparison: a pair of small records costs 1, which takes some 30 us."""
_CHARACTERS = 1 << 16
"""The product of the two records' characters that costs 1 as well."""


class _Read(NamedTuple):
    """A record ready for comparison: its values, 1 plus the additional values of its fields, and its characters."""

    values: Values
    several: int
    characters: int

    @classmethod
    def of(cls, text: str, fields: int) -> "_Read":
        return cls(values_of(text, fields), 1 + text.count(SEVERAL), len(text))


class _Ends(NamedTuple):
    """The records of some pairs, and the place of both records of each pair among them, int64[n] twice."""

    reads: list[_Read]
    left: I64
    right: I64

    def costs(self) -> I64:
        """The cost of each pair: several values are compared each with each, some comparators compare all letters."""
        several, characters = (np.array(column) for column in zip(*(read[1:] for read in self.reads), strict=True))
        return np.asarray(
            several[self.left] * several[self.right] + characters[self.left] * characters[self.right] // _CHARACTERS,
            np.int64,
        )


class RecordPairs:
    """Scores pairs of records, with a cache of the values of recently compared records.

    Args:
        profile: of the pipeline.
        limit: the size of the cache in records.
    """

    def __init__(self, profile: Profile, limit: int = _MOST_CACHED) -> None:
        self._fields = len(profile.fields)
        self._link_only = profile.link == "link"
        self._limit = limit
        self._read: OrderedDict[int, _Read] = OrderedDict()

    def compare(self, pairs: Pairs, near: Bools, criteria: Criteria, *, bounded: bool = False) -> Compared:
        """The probability that each pair is a match, with its evidence; -1 within one source if `link` is "link".

        A pair below the threshold has evidence only if it is a recheck.
        """
        counts = pairs.documents.counts
        if not isinstance(counts, RecordCounts):
            raise InvariantError("got a table of documents without record counts, expected one of a record pipeline")
        wanted = near & self._of_other_sources(pairs) if self._link_only else near
        # A decision can keep a pair of any similarity published, and its evidence with it.
        at, count = np.flatnonzero(wanted | pairs.recheck), len(pairs)
        ends = self._ends(pairs, at)
        if bounded and at.size:
            some = affordable(ends.costs(), _WORK)
            count = int(at[some]) if some < at.size else count
            at, ends = at[:some], ends._replace(left=ends.left[:some], right=ends.right[:some])
        similarity, evidence = np.zeros(count), [""] * count
        similarity[at], scored = _scored(counts.scorer, ends)
        # A pair that is not compared stays below a threshold of 0, too.
        similarity[~wanted[:count]] = np.where(pairs.recheck[:count], 0.0, -1.0)[~wanted[:count]]
        reported = np.flatnonzero((similarity[at] >= criteria.threshold) | pairs.recheck[at])
        keys = _Keys(pairs, at[reported])
        for place, (chosen, score) in enumerate(zip(at[reported].tolist(), scored(reported), strict=True)):
            evidence[chosen] = evidence_text(score, keys.shared(place))
        none, counted = np.zeros(count, np.uint32), np.full(count, counts.records, np.uint32)
        return Compared(similarity, none, counted, None, evidence)

    def forget(self, ref: int) -> None:
        """Drop a version that will not be compared again."""
        self._read.pop(ref, None)

    def __len__(self) -> int:
        return len(self._read)

    def _of_other_sources(self, pairs: Pairs) -> Bools:
        news = at_rows(in_full(pairs.asked.abouts, pairs.asked.refs.size), pairs.new.tolist())
        olds = in_full(pairs.documents.abouts(pairs.old), len(pairs))
        return np.array([new.source != old.source for new, old in zip(news, olds, strict=True)], np.bool_)

    def _ends(self, pairs: Pairs, at: I64) -> _Ends:
        """Both records of some pairs."""
        news, olds = pairs.new[at].tolist(), pairs.old_refs[at].tolist()
        rows, refs, read_ends = dict[int, int](), dict[int, int](), self._read
        left = np.array([rows.setdefault(row, len(rows)) for row in news], np.int64)
        right = np.array([refs.setdefault(ref, len(refs)) for ref in olds], np.int64)
        missing = [ref for ref in refs if ref not in read_ends]
        if missing:
            old_rows = dict(zip(olds, pairs.old[at].tolist(), strict=True))
            texts = pairs.documents.texts(np.array([old_rows[ref] for ref in missing], np.int64))
            for ref, text in zip(missing, texts, strict=True):
                read_ends[ref] = _Read.of(text, self._fields)
        reads = [_Read.of(pairs.asked.texts[row], self._fields) for row in rows] + [read_ends[ref] for ref in refs]
        for ref in refs:
            read_ends.move_to_end(ref)
        while len(read_ends) > self._limit:
            read_ends.popitem(last=False)
        return _Ends(reads, left, right + len(rows))


def _scored(scorer: Scorer, ends: _Ends) -> tuple[F64, Callable[[I64], list[Scored]]]:
    """The probability of each pair, and a function to the scores of some: many pairs at once, few pairs one by one."""
    values = [read.values for read in ends.reads]
    if ends.left.size < _MANY:
        few = [
            scorer.score_one(values[one], (values[other],))[0]
            for one, other in zip(ends.left.tolist(), ends.right.tolist(), strict=True)
        ]
        return np.array([score.probability for score in few]), lambda at: [few[place] for place in at.tolist()]
    scores = scorer.score(columns_of(values), ends.left, ends.right)
    return scores.probability, scores.rows


class _Keys:
    """The blocking keys of both records of some pairs."""

    def __init__(self, pairs: Pairs, at: I64) -> None:
        self._news = _keys(pairs.asked.signatures[pairs.new[at]])
        self._olds = _keys(pairs.documents.signatures(pairs.old[at]).values)

    def shared(self, place: int) -> Sequence[int]:
        """The indices of the blocks that contain both records, ascending."""
        keys = {key for key in self._news[place] if key}.intersection(self._olds[place])
        return sorted({block_of(key) for key in keys})


def _keys(signatures: U32) -> list[list[int]]:
    keys: list[list[int]] = np.ascontiguousarray(signatures).view(np.uint64).tolist()
    return keys
