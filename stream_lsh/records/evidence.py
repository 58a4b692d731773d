"""The evidence of a pair as one short text, which is sent and stored with the pair.

    total ; the weight of each comparison, empty if a value is missing ; the blocks that the records share

Numbers are in bits, with three digits; blocks are indices of `Blocker.names`.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from stream_lsh.records.profile import Profile, comparison_names

if TYPE_CHECKING:
    from stream_lsh.records.score import Scored


class Evidence(NamedTuple):
    """The evidence of a pair.

    Attributes:
        total: bits, with the prior; for a profile without trained weights the weighted mean.
        weights: of each comparison, in the order of the profile; None if a value is missing.
        blocks: indices of the blocks that contain both records, ascending.
    """

    total: float
    weights: tuple[float | None, ...]
    blocks: tuple[int, ...]


def evidence_text(scored: "Scored", blocks: Sequence[int]) -> str:
    """The evidence of a scored pair.

    Example:
        >>> from stream_lsh.records.compare.comparator import MISSING
        >>> from stream_lsh.records.score import Scored
        >>> evidence_text(Scored(5.25, 0.97, (6.0, -0.75, 0.0), (0, 2, MISSING)), [0, 3])
        '5.250;6.000,-0.750,;0,3'
    """
    from stream_lsh.records.compare.comparator import MISSING  # noqa: PLC0415 - readers need no comparators

    weights = [
        "" if level == MISSING else f"{weight:.3f}" for weight, level in zip(scored.weights, scored.levels, strict=True)
    ]
    return f"{scored.total:.3f};{','.join(weights)};{','.join(map(str, blocks))}"


def evidence_of(text: str) -> Evidence:
    """The evidence in a text of `evidence_text`.

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


class Named(NamedTuple):
    """The names of comparisons and blocks, with which evidence is published.

    Attributes:
        comparisons: in the order of the profile.
        blocks: `Blocker.names`.
    """

    comparisons: Sequence[str]
    blocks: Sequence[str]

    @classmethod
    def of(cls, profile: Profile, blocks: Sequence[str]) -> "Named":
        """The names of a profile."""
        return cls(comparison_names(profile), blocks)

    def read(self, text: str) -> tuple[float, Mapping[str, float], tuple[str, ...]]:
        """The total, the weight of each comparison without a missing value, and the shared blocks.

        Example:
            >>> Named(("name", "born", "town"), ("name", "born", "town", "postcode")).read("5.250;6.000,-0.750,;0,3")
            (5.25, {'name': 6.0, 'born': -0.75}, ('name', 'postcode'))
        """
        total, weights, blocks = evidence_of(text)
        bits_by_name = {name: bits for name, bits in zip(self.comparisons, weights, strict=True) if bits is not None}
        return total, bits_by_name, tuple(self.blocks[block] for block in blocks)
