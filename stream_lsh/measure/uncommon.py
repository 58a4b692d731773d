"""Finds pairs of sets that share uncommon elements, with exact counts, to detect copied passages.

Elements of many sets, such as menus, licences and quoted mottos, are no evidence of copying and do not count.  The
other elements have short posting lists, so all pairs of each list are counted: the containment of a small excerpt in a
large text is as cheap as that of two equal texts, which no bound on sizes and no signature can provide.

Reference: Broder, On the resemblance and containment of documents, 1997 (containment); Schleimer, Wilkerson and Aiken,
Winnowing: local algorithms for document fingerprinting, 2003, section 5 (passages that are common do not count).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import I64, U64, Bools

_PAIRS_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Sharing:
    """Pairs of sets that share something uncommon.

    Attributes:
        left, right: int64[n], the rows of two sets, left < right; ascending.
        shared: int64[n], uncommon elements of both sets.
        sizes: int64[sets], uncommon elements of each set.
        common: uint64[m], the elements that do not count, ascending.
        source_sizes, source_common: the same for the pairs of a source and another set.
    """

    left: I64
    right: I64
    shared: I64
    sizes: I64
    common: U64
    source_sizes: I64
    source_common: U64

    def __len__(self) -> int:
        return self.shared.size


class _Lists(NamedTuple):
    """Posting lists: the rows of list `i` start at `begins[i]`, `sources[i]` of its `holders[i]` rows are sources."""

    rows: I64
    begins: I64
    holders: I64
    sources: I64


def sharing(sets: Sequence[U64], most_holders: int, sources: Bools | None = None) -> Sharing:
    """All pairs of sets that share an element of at most `most_holders` sets, and the number of such elements.

    Sets that copied from one source do not make its elements common: for the pairs of a source and another set, an
    element of a source counts if at most `most_holders` sources have it.

    Args:
        sets: each ascending and without repetitions.
        most_holders: 2 or more; an element of more sets is common, and ignored.
        sources: the sets that are sources; None: no set is.

    Guarantees:
        exact; of two sources, elements of more than `most_holders` sets do not count.
    Cost:
        24 bytes an element for sorting; for each element at most `most_holders`² / 2 pairs are added up, or
        `most_holders` for each set that has it, some 20 ns each.

    Example:
        >>> sets = [np.array(one, np.uint64) for one in ([1, 2, 3, 9], [2, 3, 4, 5, 6, 9], [7, 9])]
        >>> found = sharing(sets, most_holders=2)
        >>> found.left.tolist(), found.right.tolist(), found.shared.tolist(), found.sizes.tolist()
        ([0], [1], [2], [3, 5, 1])
        >>> found.common.tolist()
        [9]
        >>> found = sharing(sets, most_holders=2, sources=np.array([False, False, True]))
        >>> found.left.tolist(), found.right.tolist(), found.shared.tolist(), found.source_sizes.tolist()
        ([0, 0, 1], [1, 2, 2], [2, 1, 1], [4, 6, 2])
    """
    count = len(sets)
    is_source = np.zeros(count, np.bool_) if sources is None else sources
    rows = np.repeat(np.arange(count), [members.size for members in sets])
    elements = np.concatenate(sets) if sets else np.empty(0, np.uint64)
    order = np.argsort(elements, kind="stable")
    elements, rows = elements[order], rows[order]
    begins = np.flatnonzero(np.concatenate(([True], elements[1:] != elements[:-1]))) if elements.size else order
    holders = np.diff(np.append(begins, elements.size))
    of_sources = np.add.reduceat(is_source[rows], begins, dtype=np.int64) if begins.size else begins
    lists = _Lists(rows, begins, holders, of_sources)
    common = holders > most_holders
    of_any_source = common & (of_sources > 0) & (of_sources <= most_holders)
    keys, counts = _added_up(chain(_pairs(lists, most_holders, count), _source_pairs(lists, of_any_source, is_source)))
    return Sharing(
        keys // max(count, 1),
        keys % max(count, 1),
        counts,
        _sizes(lists, ~common, count),
        elements[begins[common]],
        _sizes(lists, ~common | of_any_source, count),
        elements[begins[common & ~of_any_source]],
    )


def _sizes(lists: _Lists, counting: Bools, sets: int) -> I64:
    """The elements of each set that count."""
    return np.bincount(lists.rows[np.repeat(counting, lists.holders)], minlength=sets).astype(np.int64)


def _pairs(lists: _Lists, most_holders: int, sets: int) -> Iterator[I64]:
    """Each pair in a short posting list, as left * sets + right."""
    # Lists of one length at a time: their pairs are columns of a table.
    lengths = np.unique(lists.holders[(lists.holders > 1) & (lists.holders <= most_holders)])
    for length in lengths.tolist():
        of_length = lists.begins[lists.holders == length]
        firsts, seconds = np.triu_indices(length, 1)
        step = max(1, _PAIRS_AT_ONCE // firsts.size)
        for start in range(0, of_length.size, step):
            table = lists.rows[of_length[start : start + step, None] + np.arange(length)]
            yield (table[:, firsts] * sets + table[:, seconds]).ravel()


def _source_pairs(lists: _Lists, chosen: Bools, is_source: Bools) -> Iterator[I64]:
    """Each pair of a source and another set in the chosen posting lists, as left * sets + right."""
    rows = lists.rows[np.repeat(chosen, lists.holders)]
    sources, others = rows[is_source[rows]], rows[~is_source[rows]]
    per_list = lists.sources[chosen]
    first_source = np.cumsum(per_list) - per_list
    list_of = np.repeat(np.arange(per_list.size), lists.holders[chosen] - per_list)
    step = max(1, _PAIRS_AT_ONCE // int(per_list.max(initial=1)))
    for start in range(0, others.size, step):
        at = list_of[start : start + step]
        times = per_list[at]
        nth = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
        source = sources[np.repeat(first_source[at], times) + nth]
        other = np.repeat(others[start : start + step], times)
        yield np.minimum(source, other) * is_source.size + np.maximum(source, other)


def _added_up(tables: Iterable[I64]) -> tuple[I64, I64]:
    """Each pair, ascending, and how often it occurs."""
    keys, counts = np.empty(0, np.int64), np.empty(0, np.int64)
    pending: list[I64] = []
    size = 0
    for pairs in tables:
        pending.append(pairs)
        size += pairs.size
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
