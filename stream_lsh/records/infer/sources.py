"""Sources without duplicates: files that can be linked one to one.

If a source lists each thing once, a record has one partner in it at most, and the partner's next best record is far
less similar.  If a source has duplicates, they are nearly as similar as the best one.
"""

from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.records.infer.neighbours import Neighbours, Vectors

_FEWEST, _CHECKED = 10, 200
_RIVAL = 0.8
"""A rival is as similar to a record's partner as this share of the record's own similarity."""
_MOST_RIVALS = 0.4


class Sources(NamedTuple):
    """Whether each source lists a thing once, with the reason for the user."""

    clean: bool
    why: str


def sources_of(neighbours: Neighbours, vectors: Vectors, sources: I64) -> Sources:
    """Whether the sources have no duplicates.

    Args:
        neighbours: of some records.
        vectors: of n records.
        sources: a number for each record, int64[n].
    """
    several = int(np.unique(sources).size)
    if several < 2:
        return Sources(False, "one source: duplicates are within it")
    near = np.flatnonzero(neighbours.cosine >= neighbours.least)
    near = near[np.argsort(-neighbours.cosine[near], kind="stable")][: near.size // 2][:_CHECKED]
    if near.size < _FEWEST:
        return Sources(False, "too few near-equal records of different sources to say whether a source has duplicates")
    rivals = 0
    for row, partner in zip(neighbours.rows[near].tolist(), neighbours.other[near].tolist(), strict=True):
        cosines = vectors.cosines_of(partner)
        own = np.where(sources == sources[row], cosines, 0.0)
        own[row] = 0.0
        rivals += bool(own.max() >= _RIVAL * cosines[row])
    share = rivals / near.size
    found = f"of {near.size} records with a partner in another source, {share:.0%} have a rival in their own source"
    if share > _MOST_RIVALS:
        return Sources(False, f"the sources have duplicates of their own: {found}")
    return Sources(True, f"no source has duplicates: {found}; remove `one_to_one` if one has")
