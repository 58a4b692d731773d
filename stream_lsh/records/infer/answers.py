"""Columns that are no content: those that hold the answer, such as a cluster number, and those that number the records.

A column holds the answer if near-equal records share its value, other records do not, and its values are no content:
its name shows it, or it consists of consecutive numbers.  A column numbers the records if no value occurs twice.
"""

import re
from collections.abc import Sequence

import numpy as np

from stream_lsh.arrays import I64
from stream_lsh.records.infer.columns import Seen
from stream_lsh.records.infer.neighbours import Vectors
from stream_lsh.records.profile import folded

_NAMED = re.compile(
    "cluster|entity|truth|golden|goldid|groundtruth|labels?$|^(true|real)?(group|match|dup|duplicate|person|cust|block)"
    "(e?s?of|no|nr|number|num|id)?$|duplicateof|canonical|master|^cid$"
)
_FEWEST = 20
_DENSE = 0.3
"""Consecutive numbers: this share of the numbers from the least to the greatest occurs."""
_SHARED, _ALIKE = (0.9, 0.5), (0.7, 0.2)
"""The least share of near-equal pairs with one value, and of pairs with one value that are near-equal; for a column
without and with a name of answers."""
_CHECKED = 100
_LARGEST_GROUP = 0.1


def may_answer(one: Seen) -> bool:
    """Whether a column consists of short codes for all records, and has the name or the numbers of an answer."""
    if one.filled < 0.98 or one.distinct < _FEWEST or one.mean_words > 1.2:
        return False
    counts = np.unique([value for value in one.values if value], return_counts=True)[1]
    if counts.max() > _LARGEST_GROUP * len(one.values):
        return False
    return bool(_NAMED.search(folded(one.column))) or _is_dense(one)


def numbers_records(one: Seen) -> bool:
    """Whether a column has consecutive numbers, each once."""
    filled = sum(map(bool, one.values))
    return filled >= _FEWEST and one.distinct == filled and _is_dense(one)


def _is_dense(one: Seen) -> bool:
    if one.kind.type not in ("number", "identifier", "postcode") or one.kind.form:
        return False
    values = {value for value in one.values if value}
    if not all(value.isascii() and value.isdecimal() and len(value) < 12 for value in values):
        return False
    numbers = sorted(map(int, values))
    return len(numbers) >= _DENSE * (numbers[-1] - numbers[0] + 1)


def answers(one: Seen, near: tuple[I64, I64], vectors: Vectors, least: float) -> str:
    """The reason why a column that may hold the answer does; "" if it does not.

    Args:
        one: a column for which `may_answer`.
        near: rows of near-equal pairs, found without this column.
        vectors: of the texts of the records without this column.
        least: the cosine from which pairs are near-equal.
    """
    if not near[0].size:
        return ""
    named = bool(_NAMED.search(folded(one.column)))
    shared = _equal(one.values, *near)
    alike = _alike(one.values, vectors, least)
    if shared < _SHARED[named] or alike < _ALIKE[named]:
        return ""
    return (
        f"it seems to hold the answer: {shared:.0%} of the near-equal pairs have one value, and {alike:.0%} of the "
        "pairs with one value are near-equal"
    )


def _alike(values: Sequence[str], vectors: Vectors, least: float) -> float:
    """The share of pairs with one value that are near-equal."""
    rows: dict[str, int] = {}
    pairs = []
    for row, value in enumerate(values):
        if value in rows:
            pairs.append((rows[value], row))
        rows[value] = row
    some = pairs[:: 1 + len(pairs) // _CHECKED]
    alike = [float(vectors.cosines_of(one)[other]) >= least for one, other in some]
    return sum(alike) / max(1, len(alike))


def _equal(values: Sequence[str], left: I64, right: I64) -> float:
    equal = [bool(values[one] == values[other]) for one, other in zip(left.tolist(), right.tolist(), strict=True)]
    return sum(equal) / len(equal)
