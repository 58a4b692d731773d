"""Finds pairs of sets that share uncommon elements, with exact counts, to detect copied passages.

Elements of many sets, such as menus, licences and quoted mottos, are no evidence of copying and do not count.  The
other elements have short posting lists, so all pairs of each list are counted: the containment of a small excerpt in a
large text is as cheap as that of two equal texts, which no bound on sizes and no signature can provide.

Reference: Broder, On the resemblance and containment of documents, 1997 (containment); Schleimer, Wilkerson and Aiken,
Winnowing: local algorithms for document fingerprinting, 2003, section 5 (passages that are common do not count).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stream_lsh.arrays import I64, U64

_PAIRS_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Sharing:
    """Pairs of sets that share something uncommon.

    Attributes:
        left, right: int64[n], the rows of two sets, left < right; ascending.
        shared: int64[n], common uncommon elements of both sets.
        sizes: int64[sets], uncommon elements of each set.
        common: uint64[m], the elements that do not count, ascending.
    """

    left: I64
    right: I64
    shared: I64
    sizes: I64
    common: U64

    def __len__(self) -> int:
        return self.shared.size


def sharing(sets: Sequence[U64], most_holders: int) -> Sharing:
    """All pairs of sets that share an element of at most `most_holders` sets, and the number of such elements.

    Args:
        sets: each ascending and without repetitions.
        most_holders: 2 or more; an element of more sets is common, and ignored.

    Guarantees:
        exact.
    Cost:
        24 bytes an element for sorting; for each element at most `most_holders`² / 2 pairs are added up, some 20 ns
        each.

    Example:
        >>> sets = [np.array(one, np.uint64) for one in ([1, 2, 3, 9], [2, 3, 4, 5, 6, 9], [7, 9])]
        >>> found = sharing(sets, most_holders=2)
        >>> found.left.tolist(), found.right.tolist(), found.shared.tolist(), found.sizes.tolist()
        ([0], [1], [2], [3, 5, 1])
        >>> found.common.tolist()
        [9]
    """
    rows = np.repeat(np.arange(len(sets)), [members.size for members in sets])
    elements = np.concatenate(sets) if sets else np.empty(0, np.uint64)
    order = np.argsort(elements, kind="stable")
    elements, rows = elements[order], rows[order]
    begins = np.flatnonzero(np.concatenate(([True], elements[1:] != elements[:-1]))) if elements.size else order
    holders = np.diff(np.append(begins, elements.size))
    common = elements[begins[holders > most_holders]]
    uncommon = np.repeat(holders <= most_holders, holders)
    sizes = np.bincount(rows[uncommon], minlength=len(sets)).astype(np.int64)
    keys, counts = _added_up(rows, begins, holders, most_holders, len(sets))
    return Sharing(keys // max(len(sets), 1), keys % max(len(sets), 1), counts, sizes, common)


def _added_up(rows: I64, begins: I64, holders: I64, most_holders: int, sets: int) -> tuple[I64, I64]:
    """Each pair in a posting list as left * sets + right, ascending, and the number of lists with it."""
    keys, counts = np.empty(0, np.int64), np.empty(0, np.int64)
    pending: list[I64] = []
    size = 0
    # Lists of one length at a time: their pairs are columns of a table.
    for length in range(2, most_holders + 1):
        of_length = begins[holders == length]
        firsts, seconds = np.triu_indices(length, 1)
        step = max(1, _PAIRS_AT_ONCE // firsts.size)
        for start in range(0, of_length.size, step):
            lists = rows[of_length[start : start + step, None] + np.arange(length)]
            pending.append((lists[:, firsts] * sets + lists[:, seconds]).ravel())
            size += pending[-1].size
            if size > _PAIRS_AT_ONCE:
                keys, counts = _merged(keys, counts, pending)
                pending, size = [], 0
    return _merged(keys, counts, pending) if pending else (keys, counts)


def _merged(keys: I64, counts: I64, pending: Sequence[I64]) -> tuple[I64, I64]:
    """The pairs so far and new ones, each once."""
    new = np.sort(np.concatenate(pending))
    ends = np.flatnonzero(np.concatenate((new[1:] != new[:-1], [True]))) if new.size else new
    new, new_counts = new[ends], np.diff(np.concatenate(([-1], ends)))
    if not keys.size:
        return new, new_counts
    both, both_counts = np.concatenate((keys, new)), np.concatenate((counts, new_counts))
    order = np.argsort(both, kind="stable")
    both, both_counts = both[order], both_counts[order]
    begins = np.flatnonzero(np.concatenate(([True], both[1:] != both[:-1])))
    return both[begins], np.add.reduceat(both_counts, begins)
