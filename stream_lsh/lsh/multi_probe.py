"""Multi-probe: probes the buckets next to an item's own as well, the most likely first, instead of more tables.

An item close to the border of a cell is likely to have a near neighbour on the other side.  `MarginHashes.margins`
returns the distances from the borders.  A perturbation changes one or several functions of a band, and costs the sum of
the squares of the distances from the borders that it crosses: for projections on normal directions, the order of the
costs is that of the probabilities.

It saves memory: a posting is stored once for a band, regardless of the number of probes.  For vectors of 64 components
and bands of 12 hyperplanes, pairs at 30 degrees are found by 4 bands with a probability of .36, by 4 bands with 10
probes .93, by 24 bands .94; pairs at 80 degrees with .004, .04 and .03.

It does not help if memory is no concern: a probe takes the time of a band and finds less than one more band would (44
bucket look-ups in this example, instead of 24).  Nor does it apply to minhashing and bit sampling, whose values have no
neighbours, or if a stored item must be found by an item that does not probe.

The sets of changes that can be among the first t do not depend on the item, only on the ranks of its changes by cost.
A set that t others always precede, because each of their changes costs no more, is excluded in advance; the others are
summed and sorted for all items together.

Reference: Lv, Josephson, Wang, Charikar and Li, Multi-probe LSH, 2007, sections 4.2 to 4.4; they take the sets from a
heap, item by item, and get the same order.
"""

import functools
from collections.abc import Iterator

import numpy as np

from stream_lsh.arrays import F64, I64, U32
from stream_lsh.errors import ConfigError
from stream_lsh.lsh.families.functions import Margins


def probes(values: U32, margins: Margins, rows: int, count: int) -> U32:
    """The values to look up for each item, its own first: uint32[n, 1 + count, functions].

    Args:
        values: of the functions, uint32[n, bands * rows].
        margins: of the same functions and items, with one or two other values a function.
        rows: functions in a band; each band is perturbed by itself.
        count: perturbations of each band, by ascending cost; `Bands` makes the keys of each.

    Guarantees:
        no bucket of a band occurs twice.  Ties are broken by the place of the function in the band.
    Cost:
        some (count log count) additions an item and band, and their sorting.

    Raises:
        ConfigError: more perturbations than a band has -> at most 2^rows - 1 with one other value, 3^rows - 1 with two.

    Example:
        >>> values = np.array([[1, 0, 1]], np.uint32)
        >>> margins = Margins(1 - values[:, :, None], np.array([[[0.5], [0.1], [0.2]]]))
        >>> probes(values, margins, rows=3, count=4)[0].tolist()
        [[1, 0, 1], [1, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 1]]
    """
    functions = values.shape[1]
    if functions % rows:
        raise ConfigError(f"multi-probe: got {functions} functions, expected a multiple of {rows} rows")
    choices = margins.costs.shape[2]
    if not 0 <= count < (choices + 1) ** rows:
        raise ConfigError(
            f"multi-probe: got {count} perturbations of {rows} rows, expected 0 to {(choices + 1) ** rows - 1}"
        )
    places, other, costs = _ranked(margins, rows)
    chosen = _cheapest(costs, _sets(rows, choices, count), count)
    # An extra last column absorbs the padding of shorter sets.
    probed = np.repeat(np.pad(values.reshape(-1, rows), ((0, 0), (0, 1)))[:, None], 1 + count, axis=1)
    item, probe = np.arange(len(chosen))[:, None], np.arange(1, 1 + chosen.shape[1])
    for change in range(chosen.shape[2]):
        rank = chosen[:, :, change]
        probed[item, probe, places[item, rank]] = other[item, rank]
    by_band = probed[:, :, :rows].reshape(len(values), functions // rows, 1 + count, rows)
    return np.ascontiguousarray(by_band.swapaxes(1, 2)).reshape(len(values), 1 + count, functions)


def _ranked(margins: Margins, rows: int) -> tuple[I64, U32, F64]:
    """The changes of each item and band by ascending cost: functions, values and costs, [n * bands, changes + 1].

    If a function has two other values, the changes across the nearer borders come first and those across the farther
    borders follow in reverse order, so the changes of one function have the ranks i and 2 rows - 1 - i.  The last
    column stands for no change.
    """
    choices = margins.costs.shape[2]
    costs, others = margins.costs.reshape(-1, rows, choices), margins.others.reshape(-1, rows, choices)
    nearer = costs.argmin(axis=2)[:, :, None]
    order = np.take_along_axis(costs, nearer, axis=2)[:, :, 0].argsort(axis=1, kind="stable")
    places, sides = order, np.take_along_axis(nearer[:, :, 0], order, axis=1)
    if choices == 2:
        places, sides = np.hstack((places, places[:, ::-1])), np.hstack((sides, 1 - sides[:, ::-1]))
    item = np.arange(len(places))[:, None]
    return (
        np.pad(places, ((0, 0), (0, 1)), constant_values=rows),
        np.pad(others[item, places, sides], ((0, 0), (0, 1))),
        np.pad(costs[item, places, sides], ((0, 0), (0, 1))),
    )


def _cheapest(costs: F64, sets: I64, count: int) -> I64:
    """The cheapest sets of changes of each item, by ascending cost: int64[n, count, changes]."""
    totals = np.zeros((len(costs), len(sets)))
    for change in sets.T:  # in a fixed order, so that equal costs give equal sums
        totals += costs[:, change]
    cheapest: I64 = sets[totals.argsort(axis=1, kind="stable")[:, :count]]
    return cheapest


@functools.cache
def _sets(rows: int, choices: int, count: int) -> I64:
    """The sets of ranks that can be among the `count` cheapest, padded by the rank of no change: int64[m, changes]."""
    ranks = rows * choices
    sets = list(_extended((), rows, choices, count))
    most = max(map(len, sets), default=0)
    return np.array([(*members, *[ranks] * (most - len(members))) for members in sets], np.int64).reshape(
        len(sets), most
    )


def _extended(start: tuple[int, ...], rows: int, choices: int, count: int) -> Iterator[tuple[int, ...]]:
    """The sets of ranks that begin with these, smaller sets first."""
    for rank in range(start[-1] + 1 if start else 0, rows * choices):
        longer = (*start, rank)
        # The same sets precede every set with greater or more ranks.
        if _preceding(longer, rows, choices, count) >= count:
            return
        if _is_possible(longer, rows, choices):
            yield longer
        yield from _extended(longer, rows, choices, count)


def _is_possible(ranks: tuple[int, ...], rows: int, choices: int) -> bool:
    """Whether no function is changed twice."""
    return choices == 1 or not any(2 * rows - 1 - rank in ranks for rank in ranks)


def _preceding(ranks: tuple[int, ...], rows: int, choices: int, enough: int) -> int:
    """The number of other sets that never cost more: each of their ranks is at most a different rank of these."""
    count = 0
    stack: list[tuple[int, ...]] = [()]
    while stack and count < enough:
        # Built from the greatest rank down; the i-th greatest is compared with the i-th greatest.
        entry = stack.pop()
        place = len(ranks) - 1 - len(entry)
        if place < 0:
            continue
        for rank in range(min(ranks[place], entry[-1] - 1 if entry else ranks[-1]) + 1):
            longer = (*entry, rank)
            if _is_possible(longer, rows, choices):
                count += longer != ranks[::-1]
                stack.append(longer)
    return count
