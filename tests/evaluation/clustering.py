"""How well groups of documents agree with true ones: the field's measures, each from its paper.

A grouping is one label a document, found and true ones in the same order; a document that is in no group has a label of
its own.  Nothing of these measures is the package's.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import comb, fsum

Labels = Sequence[Hashable]


@dataclass(frozen=True, slots=True)
class Score:
    """Precision: the share of what was found that is true; recall: the share of what is true that was found."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of the two (van Rijsbergen, Information Retrieval, 1979)."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def labels_of(ids: Iterable[str], groups: Iterable[Iterable[str]]) -> list[str]:
    """The label of each document: the least id of its group, or its own id where it is in none."""
    named = {member: min(members) for members in map(list, groups) for member in members}
    return [named.get(id, id) for id in ids]


def components(pairs: Iterable[tuple[str, str]]) -> list[set[str]]:
    """The components of pairs, by union-find.

    Tarjan & van Leeuwen 1984, Worst-case analysis of set union algorithms (Journal of the ACM 31): path halving.
    """
    parent: dict[str, str] = {}

    def root(one: str) -> str:
        parent.setdefault(one, one)
        while parent[one] != one:
            parent[one] = one = parent[parent[one]]
        return one

    for left, right in pairs:
        parent[root(left)] = root(right)
    groups: dict[str, set[str]] = {}
    for one in list(parent):
        groups.setdefault(root(one), set()).add(one)
    return list(groups.values())


def pairwise(found: Labels, true: Labels) -> Score:
    """Pairs of documents that are in one group.

    Menestrina, Whang & Garcia-Molina 2010, Evaluating entity resolution results (PVLDB 3), section 2: `pairwise F1`.
    Where there are no pairs, nothing is wrong, and nothing is missing.
    """
    both = _pairs(Counter(zip(found, true, strict=True)))
    return Score(_share(both, _pairs(Counter(found))), _share(both, _pairs(Counter(true))))


def exact_clusters(found: Labels, true: Labels) -> Score:
    """Groups that are one of the others, member for member; only those of two documents or more.

    Menestrina et al. 2010, `cluster F1`, but for groups of one: where most documents have no near-duplicate, these
    would make any answer look good.
    """
    found_sizes, true_sizes = Counter(found), Counter(true)
    cells = Counter(zip(found, true, strict=True))
    same = sum(size > 1 and size == found_sizes[a] == true_sizes[b] for (a, b), size in cells.items())
    return Score(_share(same, _several(found_sizes)), _share(same, _several(true_sizes)))


def bcubed(found: Labels, true: Labels) -> Score:
    """Each document's share of its group that is of its true one, and the reverse; the mean over all documents.

    Bagga & Baldwin 1998, Algorithms for scoring coreference chains (LREC workshop on linguistic coreference); why it is
    to be preferred: Amigó, Gonzalo, Artiles & Verdejo 2009, A comparison of extrinsic clustering evaluation metrics
    based on formal constraints (Information Retrieval 12).
    """
    found_sizes, true_sizes = Counter(found), Counter(true)
    cells = Counter(zip(found, true, strict=True))
    return Score(
        fsum(size * size / found_sizes[a] for (a, _), size in cells.items()) / len(found),
        fsum(size * size / true_sizes[b] for (_, b), size in cells.items()) / len(true),
    )


def adjusted_rand_index(found: Labels, true: Labels) -> float:
    """Pairs in one group, beyond those that groups of the same sizes have by chance: 1 for equal ones, 0 for chance.

    Hubert & Arabie 1985, Comparing partitions (Journal of Classification 2), equation 5.
    """
    both = _pairs(Counter(zip(found, true, strict=True)))
    in_found, in_true = _pairs(Counter(found)), _pairs(Counter(true))
    expected = in_found * in_true / comb(len(found), 2) if len(found) > 1 else 0.0
    greatest = (in_found + in_true) / 2
    return (both - expected) / (greatest - expected) if greatest != expected else 1.0


def _pairs(sizes: Counter[Hashable] | Counter[tuple[Hashable, Hashable]]) -> int:
    return sum(comb(size, 2) for size in sizes.values())


def _several(sizes: Counter[Hashable]) -> int:
    return sum(size > 1 for size in sizes.values())


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
