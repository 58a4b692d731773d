"""Columns that repeat each other: counted one by one, they would count the same evidence several times.

Texts repeat each other if the words of one occur in the other, in the same record.  Other columns repeat each other if
records that are no match, but agree in one of them, agree in the other as well, such as the columns of an agency in a
list of its sites.  What agrees is counted in the sample.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from stream_lsh.arrays import I64, Bools
from stream_lsh.hashing import fmix64
from stream_lsh.records.compare.catalog import comparator
from stream_lsh.records.compare.levels import levels_of
from stream_lsh.records.infer.columns import Seen
from stream_lsh.records.model import Column

_WORDS_SHARED = 0.5
"""Texts repeat each other if this share of the words of the shorter one is in the longer one."""
_AGREE = 0.6
"""Columns repeat each other if this share of the pairs that agree in one of them agree in the other, both ways."""
_ALIKE, _APART = 0.5, 0.3
"""Pairs that agree in more of their other columns, by information, may be matches, and do not count.  If most pairs do,
a column is shared by matches, and shows nothing."""
_SIMILAR, _LONGEST = 0.85, 64
_FILLED = 0.9
"""Parts stand for a whole if they have values in this share of its records."""
_FEWEST = 30
_PAIRS = 2_000


def repeated_texts(texts: Sequence[Seen]) -> dict[tuple[str, str], float]:
    """The pairs of texts that share words, with the share of the words of the shorter one that are in the other one."""
    found = {}
    words = {one.name: [frozenset(value.split()) for value in one.values] for one in texts}
    for one, other in combinations(texts, 2):
        short, long = sorted((one, other), key=lambda each: each.mean_words)
        half = len(long.values) // 2  # the next record is often one of the same entity
        same = _within(words[short.name], words[long.name])
        apart = _within(words[short.name], words[long.name][half:] + words[long.name][:half])
        if same - apart >= _WORDS_SHARED:
            found[short.name, long.name] = same
    return found


def composed(columns: Sequence[Seen]) -> dict[str, tuple[str, ...]]:
    """The full names of persons whose words are those of two or more shorter columns, each with these columns."""
    filled, parts = {one.name: one.filled for one in columns}, dict[str, list[str]]()
    persons = {one.name for one in columns if one.kind.form == "person"}
    for short, long in repeated_texts(columns):
        if long in persons and filled[short] >= _FILLED * filled[long]:
            parts.setdefault(long, []).append(short)
    return {name: tuple(own) for name, own in parts.items() if len(own) > 1}


def _within(short: Sequence[frozenset[str]], long: Sequence[frozenset[str]]) -> float:
    """The mean share of the words that are in the other text, of records with both; 0 for too few of them."""
    shares = [len(left & right) / len(left) for left, right in zip(short, long, strict=True) if left and right]
    return sum(shares) / len(shares) if len(shares) >= _FEWEST else 0.0


def repeated_values(columns: Sequence[Seen]) -> dict[tuple[str, str], float]:
    """The pairs of columns that agree together in records that are no match, with the lesser of both shares.

    Chance is taken out of the shares: 0 is the agreement of random records.
    """
    if len(columns) < 3:
        return {}
    codes = np.array([np.unique(one.values, return_inverse=True)[1].reshape(-1) for one in columns])
    filled = np.array([[bool(value) for value in one.values] for one in columns])
    chance = np.array([_chance(*each) for each in zip(codes, filled, strict=True)])
    bits = -np.log2(chance)
    values = [Column.of([value[:_LONGEST] for value in one.values]) for one in columns]
    share = np.zeros((len(columns), len(columns)))
    for at in range(len(columns)):
        left, right = _pairs_within(codes[at], filled[at])
        both = filled[:, left] & filled[:, right]
        agree = both & (codes[:, left] == codes[:, right])
        similar = np.array([_similar(one, left, right) for one in values])
        known_bits, agreed_bits = bits @ both, bits @ similar
        for other in range(len(columns)):
            if other == at:
                continue
            known = known_bits - bits[at] - bits[other] * both[other]
            agreed = agreed_bits - bits[at] - bits[other] * similar[other]
            apart = both[other] & (known > 0) & (agreed <= _ALIKE * known)
            if apart.sum() >= max(_FEWEST, _APART * both[other].sum()):
                share[at, other] = (agree[other][apart].mean() - chance[other]) / (1 - chance[other] + 1e-9)
    least = np.minimum(share, share.T)
    return {
        (columns[one].name, columns[other].name): float(least[one, other])
        for one, other in combinations(range(len(columns)), 2)
        if least[one, other] >= _AGREE
    }


def _similar(column: Column, left: I64, right: I64) -> Bools:
    """Whether the values of each pair are equal or nearly so; an error does not make a match another record."""
    similar: Bools = levels_of(comparator("jaro-winkler", (_SIMILAR,)), column, left, right) <= 1
    return similar


def _chance(codes: I64, filled: Bools) -> float:
    """The share of random pairs with values that agree."""
    counts = np.bincount(codes[filled]).astype(np.float64)
    total = counts.sum()
    return float(max((counts * (counts - 1)).sum(), 1.0) / max(total * (total - 1), 2.0))


def _pairs_within(codes: I64, filled: Bools) -> tuple[I64, I64]:
    """Pairs of records with one value, each record with the next one in a random order of its group."""
    rows = np.flatnonzero(filled)
    rows = rows[np.argsort(fmix64(rows.astype(np.uint64) + np.uint64(1)), kind="stable")]
    rows = rows[np.argsort(codes[rows], kind="stable")]
    same = np.flatnonzero(codes[rows[1:]] == codes[rows[:-1]])
    same = same[:: max(1, same.size // _PAIRS)]
    return rows[same], rows[same + 1]


def groups_of(names: Sequence[str], pairs: Mapping[tuple[str, str], float]) -> Iterator[tuple[str, ...]]:
    """The groups of names that pairs connect, in the order of the names.

    Example:
        >>> [*groups_of(["a", "b", "c", "d"], {("a", "c"): 0.9})]
        [('a', 'c')]
    """
    group = {name: {name} for name in names}
    for one, other in pairs:
        together = group[one] | group[other]
        for name in together:
            group[name] = together
    for name in names:
        if len(group[name]) > 1 and name == next(each for each in names if each in group[name]):
            yield tuple(each for each in names if each in group[name])
