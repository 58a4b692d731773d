"""The evidence of a pair as one short text, which travels and is kept with the pair.

    total ; the weight of each comparison, nothing where a value is missing ; the blocks that the two share

Numbers in bits, with three digits; blocks by their places in `Blocker.names`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stream_lsh.records.score import Scored


class Evidence(NamedTuple):
    """Why a pair is one.

    Attributes:
        total: bits, with the prior; of a profile that has not learned the weighted mean.
        weights: of each comparison, in the order of the profile; None where a value is missing.
        blocks: places of the blocks that both records are in, ascending.
    """

    total: float
    weights: tuple[float | None, ...]
    blocks: tuple[int, ...]


def evidence_text(scored: "Scored", blocks: Sequence[int]) -> str:
    """The evidence of a pair that was scored.

    Example:
        >>> from stream_lsh.records.compare.comparator import MISSING
        >>> from stream_lsh.records.score import Scored
        >>> evidence_text(Scored(5.25, 0.97, (6.0, -0.75, 0.0), (0, 2, MISSING)), [0, 3])
        '5.250;6.000,-0.750,;0,3'
    """
    from stream_lsh.records.compare.comparator import MISSING  # noqa: PLC0415 - whoever only reads has no comparators

    weights = [
        "" if level == MISSING else f"{weight:.3f}" for weight, level in zip(scored.weights, scored.levels, strict=True)
    ]
    return f"{scored.total:.3f};{','.join(weights)};{','.join(map(str, blocks))}"


def evidence_of(text: str) -> Evidence:
    """What a text says that `evidence_text` wrote.

    Example:
        >>> evidence_of("5.250;6.000,-0.750,;0,3")
        Evidence(total=5.25, weights=(6.0, -0.75, None), blocks=(0, 3))
    """
    total, weights, blocks = text.split(";")
    return Evidence(
        float(total),
        tuple(float(weight) if weight else None for weight in weights.split(",")),
        tuple(int(block) for block in blocks.split(",") if block),
    )
