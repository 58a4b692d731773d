"""The fields of two records side by side, with the match weight of each."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from stream_lsh.controls import one_line
from stream_lsh.markup.waterfall import bars
from stream_lsh.web.texts import field_text

_MOST_FIELDS = 60
_MOST_COMPARED = 200


class ComparedField(NamedTuple):
    """A field of both records, with its match weight and the weight's bar.

    Attributes:
        name: of the field or of the comparison.
        sides: the value of each record in parts; the flag marks those that the other one lacks.
        weight: None if it was not compared.
        bar: start and width, in pixels.
    """

    name: str
    sides: Sequence[Sequence[tuple[str, bool]]]
    weight: float | None
    bar: tuple[float, float]


def compared_fields(weights: Mapping[str, float], records: Sequence[Mapping[str, Any]]) -> list[ComparedField]:
    """The fields of both records: compared ones first, in the order of the records.

    Args:
        weights: match weights by field or comparison; empty for a pair that is neither a match nor a review.
        records: both, as the query API describes documents; empty for one that is not stored.
    """
    fields = [one.get("fields", {}) for one in records]
    names = list(dict.fromkeys(name for one in fields for name in one))
    names = [*(name for name in names if name in weights), *(name for name in weights if name not in names)] + [
        name for name in names if name not in weights
    ]
    shown = names[:_MOST_FIELDS]
    drawn = bars([weights.get(name, 0.0) for name in shown])
    return [
        ComparedField(name, _parts(*(field_text(one.get(name)) for one in fields)), weights.get(name), bar)
        for name, bar in zip(shown, drawn, strict=True)
    ]


def is_in_bits(pair: Mapping[str, Any]) -> bool:
    """Whether the score and the weights of a pair are in bits; a profile without trained weights has a mean instead."""
    return bool(pair.get("measure", "weighted") != "weighted")


def _parts(left: str = "", right: str = "") -> Sequence[Sequence[tuple[str, bool]]]:
    """Two values in parts, which the other one has or lacks.

    Example:
        >>> _parts("Garski", "Garsky")
        [[('Garsk', False), ('i', True)], [('Garsk', False), ('y', True)]]
    """
    left, right = one_line(left, _MOST_COMPARED), one_line(right, _MOST_COMPARED)
    if not (left and right):
        return [[(left, False)], [(right, False)]]
    found: list[list[tuple[str, bool]]] = [[], []]
    for tag, begin, end, other_begin, other_end in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        for parts, text in zip(found, (left[begin:end], right[other_begin:other_end]), strict=True):
            if text:
                parts.append((text, tag != "equal"))
    return found
