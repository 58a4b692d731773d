"""The steps from the prior to the score of two records, in words and as a waterfall."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stream_lsh.markup.bars import steps as drawn
from stream_lsh.markup.texts import line
from stream_lsh.records.model import SEVERAL

_MOST = 80
"""Characters of a value in a waterfall."""


class Frequency(NamedTuple):
    """The effect of the frequency of a value that both records have.

    Attributes:
        adds: bits; below 0 for a frequent value.
        records: the number of counted records with the value.
        of: the number of counted values of the field.
    """

    adds: float
    records: int
    of: int


class Step(NamedTuple):
    """The contribution of one comparison to the score.

    Attributes:
        field: its name.
        comparator: with its settings, such as `jaro-winkler 0.92 0.8`.
        level: the name of the level; "" if a value is missing.
        values: in standard form, "" for a missing value.
        given: the raw values; None for a missing or unknown value.
        adds: to the total: bits, or a term of the mean.
        most: the contribution of equal values, without the effect of their frequency.
        frequency: the effect of the value's frequency, if it applies; `adds` includes its bits.
        predicted_by: the comparison whose equal value predicts this one, so that it adds less; "" if there is none.
    """

    field: str
    comparator: str
    level: str
    values: tuple[str, str]
    given: tuple[object, object]
    adds: float
    most: float
    frequency: Frequency | None
    predicted_by: str = ""

    @property
    def missing(self) -> bool:
        """Whether one of the values is missing, so that they were not compared."""
        return not self.level


def level(step: Step) -> str:
    """The level of agreement of the two values."""
    return step.level or "no value"


def rarity(step: Step) -> str:
    """The part of the match weight that comes from the frequency of a shared value, or its predictor; "" if none."""
    if step.predicted_by:
        return f"follows from {step.predicted_by}"
    if step.frequency is None or abs(step.frequency.adds) < 0.05:
        return ""
    return f"{'rare' if step.frequency.adds > 0 else 'frequent'} {step.frequency.adds:+.1f}"


def waterfall(steps: Sequence[Step], prior: float, total: float, *, learned: bool) -> Iterator[str]:
    """The steps as HTML: values, level of agreement and contribution of each comparison with a value.

    Args:
        steps: in the order of the profile.
        prior: bits, to which the steps are added.
        total: the sum.
        learned: whether these are bits; otherwise they are terms of a weighted mean.
    """
    rows = [("prior", "<td></td>" * 3, prior, True)] if learned else []
    for step in steps:
        if any(step.values):
            why = ", ".join(filter(None, (level(step), rarity(step))))
            values = (line(value.replace(SEVERAL, " / ") or "-", _MOST) for value in step.values)
            cells = "".join(f"<td>{value}</td>" for value in values) + f'<td class="why">{line(why)}</td>'
            rows.append((line(step.field), cells, step.adds, not step.missing))
    unit = "bits" if learned else "of the mean"
    yield from drawn(rows, ("field", "left", "right", "agreement", "evidence", unit), ("total", total))
