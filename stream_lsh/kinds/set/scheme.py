"""The schemes of a pipeline of sets that are given as such: customers by what they bought, users by the pages they saw.

They are those of texts, where the text is `kinds.set.content.items_text` and each item of it is one shingle.
"""

from collections.abc import Mapping

from stream_lsh.kinds.set.content import ItemShingler
from stream_lsh.kinds.shingled.exact_scheme import ExactScheme
from stream_lsh.kinds.shingled.methods import EXACT, RECALL, check_method
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.lsh.solver import Banding
from stream_lsh.measure.catalog import JACCARD, Measure

_OF_TEXTS = frozenset({"normalise", "normaliser_version", "unicode"})
"""What sets do not depend on."""

Settings = dict[str, str | int | float]


class SetScheme(TextScheme):
    """The scheme of a pipeline of sets, or of bags.

    Args:
        threshold: the least similarity of a match; the bands are chosen for it.
        bag: repetitions count: the similarity is the sum of the lesser counts over the sum of the greater ones.

    The others are those of `TextScheme`.
    """

    def __init__(
        self,
        threshold: float,
        *,
        recall: float = 0.99,
        slots: int = 128,
        seed: int = 1,
        measure: Measure = JACCARD,
        bag: bool = False,
        banding: Banding | None = None,
    ) -> None:
        super().__init__(
            threshold,
            ItemShingler(seed),
            recall=recall,
            slots=slots,
            normalise=(),
            seed=seed,
            measure=measure,
            banding=banding,
        )
        self.bag = bag

    @property
    def settings(self) -> Settings:
        """Everything that signatures, buckets and sets depend on; no tables of Unicode."""
        return _of_sets(super().settings, self.measure, self.bag)


class ExactSetScheme(ExactScheme):
    """The scheme of a pipeline of sets that misses no pair; arguments as for `ExactScheme` and `SetScheme`."""

    def __init__(
        self, threshold: float, *, slots: int = 128, seed: int = 1, measure: Measure = JACCARD, bag: bool = False
    ) -> None:
        super().__init__(threshold, ItemShingler(seed), slots=slots, normalise=(), seed=seed, measure=measure)
        self.bag = bag

    @property
    def settings(self) -> Settings:
        """Everything that signatures, buckets and sets depend on; no tables of Unicode."""
        return _of_sets(super().settings, self.measure, self.bag)


def _of_sets(of_texts: Mapping[str, str | int | float], measure: Measure, bag: bool) -> Settings:
    kept = {name: value for name, value in of_texts.items() if name not in _OF_TEXTS}
    return {**kept, "kind": "set", "bag": int(bag), **measure.settings}


def set_scheme(
    method: str,
    threshold: float,
    *,
    recall: float = RECALL,
    slots: int = 128,
    seed: int = 1,
    measure: Measure = JACCARD,
    bag: bool = False,
    banding: Banding | None = None,
) -> SetScheme | ExactSetScheme:
    """The scheme of sets of a method; the other arguments are those of `SetScheme` and `ExactSetScheme`.

    Raises:
        ConfigError: an unknown method, or settings that cannot be.
    """
    if method == EXACT:
        return ExactSetScheme(threshold, slots=slots, seed=seed, measure=measure, bag=bag)
    check_method(method)
    return SetScheme(threshold, recall=recall, slots=slots, seed=seed, measure=measure, bag=bag, banding=banding)
