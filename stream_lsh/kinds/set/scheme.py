"""The schemes of a pipeline of sets of items: customers by their purchases, users by the pages they visited.

They are those of texts: the text is `kinds.set.content.items_text`, and each of its items is one shingle.
"""

from stream_lsh.kinds.set.content import ItemShingler
from stream_lsh.kinds.shingled.methods import RECALL, ShingleScheme, text_scheme
from stream_lsh.lsh.solver import Banding
from stream_lsh.measure.catalog import JACCARD, Measure


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
) -> ShingleScheme:
    """The scheme of sets for a method; its settings do not include the version of Unicode.

    With `bag` repetitions count: the similarity is the sum of the lesser counts over the sum of the greater ones.  The
    other arguments are those of `text_scheme`.

    Raises:
        ConfigError: an unknown method, or invalid settings.
    """
    return text_scheme(
        method,
        threshold,
        ItemShingler(seed),
        recall=recall,
        slots=slots,
        normalise=(),
        seed=seed,
        measure=measure,
        kind_settings={"kind": "set", "bag": int(bag), **measure.settings},
        banding=banding,
    )
