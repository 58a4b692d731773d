"""Why two records match, or do not, in lines with bars, and as JSON; the picture is in `waterfall_picture`."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from stream_lsh.cli.output.terminal import Screen, clipped, columns, padded, plain
from stream_lsh.cli.reports.json_line import json_line
from stream_lsh.records.explained import PairEvidence
from stream_lsh.records.model import SEVERAL
from stream_lsh.records.steps import Step, level, rarity

_HALF = 8
"""Columns that a bar has on each side of the centre."""
_LONGEST_FIELD = 20
_MOST_BLOCKS = 4
_BETWEEN = "  "


class Pair(NamedTuple):
    """The ids of two records and their evidence."""

    ids: tuple[str, str]
    evidence: PairEvidence


def as_text(pair: Pair, screen: Screen, *, full: bool) -> Iterator[str]:
    """The explanation as text."""
    evidence = pair.evidence
    yield f"{title(pair)}."
    yield f"{capitalised(found(evidence, most=None if full else _MOST_BLOCKS))}."
    yield ""
    yield from _table(evidence, screen, full=full)
    yield ""
    yield f"{capitalised(thresholds(evidence))}."
    nothing = without_values(evidence)
    if nothing:
        yield f"No value in either record: {', '.join(nothing)}."
    if full:
        yield from _blocks(evidence)


def as_json(pair: Pair) -> str:
    """One line of JSON, with everything."""
    evidence = pair.evidence
    value = {
        "records": list(pair.ids),
        "verdict": evidence.verdict,
        "compared": evidence.compared,
        "linkable": evidence.linkable,
        "learned": evidence.learned,
        "prior": evidence.prior,
        "total": evidence.total,
        "probability": evidence.probability,
        "match": evidence.match,
        "review": evidence.review,
        "steps": [_json_step(step) for step in evidence.steps],
        "blocks": [{"name": block.name, "shared": block.shared, "keys": block.keys} for block in evidence.blocks],
    }
    return json_line(value)


def _json_step(step: Step) -> dict[str, Any]:
    return {
        "field": step.field,
        "comparator": step.comparator,
        "level": None if step.missing else step.level,
        "values": [value.split(SEVERAL) if value else [] for value in step.values],
        "given": list(step.given),
        "adds": step.adds,
        "most": step.most,
        "frequency": None if step.frequency is None else step.frequency._asdict(),
        "predicted_by": step.predicted_by,
    }


# -- words


def title(pair: Pair) -> str:
    """The ids, the verdict and the score."""
    left, right = (plain(id) for id in pair.ids)
    return f"{left} and {right}: {pair.evidence.verdict}, {total_text(pair.evidence)}"


def total_text(evidence: PairEvidence) -> str:
    """The total in words."""
    if not evidence.learned:
        return f"a weighted mean of {evidence.total:.3f}, as the profile has no weights"
    return f"{evidence.total:+.2f} bits, a probability of {_probability(evidence.probability)}"


def found(evidence: PairEvidence, most: int | None = None) -> str:
    """The blocks that the two share, `most` of them by name, or why the two are never compared."""
    shared, every = evidence.shared, len(evidence.blocks)
    if not evidence.linkable:
        return "they are of one source, and the profile links different ones only: they are never compared"
    if not shared:
        return f"they share none of {every} blocks: they are never compared"
    named = [plain(name) for name in shared[:most]]
    more = [] if most is None or len(shared) <= most else [f"{len(shared) - most} more"]
    return f"they share {len(shared)} of {every} blocks: {', '.join([*named, *more])}"


def thresholds(evidence: PairEvidence) -> str:
    """The thresholds of matches and of reviews."""
    parts = []
    for name, probability in (("match", evidence.match), ("review", evidence.review)):
        bits = f" ({evidence.threshold(probability):+.2f} bits)" if evidence.learned else ""
        parts.append(f"{name} from {probability:g}{bits}")
    return ", ".join(parts)


def capitalised(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def without_values(evidence: PairEvidence) -> list[str]:
    """The fields for which neither record has a value."""
    return [step.field for step in evidence.steps if not any(step.values)]


def shown(value: str) -> str:
    """A value on one line: several of them with a stroke between, "-" for none."""
    return plain(value.replace(SEVERAL, " / ")) or "-"


def amount(evidence: PairEvidence, adds: float) -> str:
    """The contribution of a step, as text."""
    return f"{adds:+.2f}" if evidence.learned else f"{adds:.3f}"


def as_given(step: Step) -> tuple[str, str]:
    """Both original values, "" where one equals its standard form or is not known."""
    left, right = (
        ""
        if raw_value is None or raw_value == value
        else plain(" / ".join(map(str, raw_value)) if isinstance(raw_value, list) else str(raw_value))
        for raw_value, value in zip(step.given, step.values, strict=True)
    )
    return left, right


def _probability(value: float) -> str:
    return f"{value:.4f}" if 0.0001 <= value < 0.99995 else "less than 0.0001" if value < 0.5 else "more than 0.9999"


# -- the table


def bar(adds: float, longest: float, half: int = _HALF) -> str:
    """A bar from a line in the centre: positive values to the right, negative ones to the left.

    Args:
        adds: the value.
        longest: the length that fills a side.
        half: columns of a side.

    Example:
        >>> bar(2, 4, half=4), bar(-3, 4, half=4), bar(0.6, 4, half=4), bar(0, 4, half=4)
        ('    │██  ', ' ███│    ', '    │▌   ', '    │    ')
    """
    halves = round(2 * half * min(1.0, abs(adds) / longest)) if longest else 0
    whole, odd = divmod(halves, 2)
    if adds < 0:
        return f"{'▐' * odd + '█' * whole:>{half}}│{'':{half}}"
    return f"{'':{half}}│{'█' * whole + '▌' * odd:<{half}}"


class _Row(NamedTuple):
    field: str
    adds: float
    number: str
    level: str = ""
    values: tuple[str, str] = ("", "")


def _table(evidence: PairEvidence, screen: Screen, *, full: bool) -> Iterator[str]:
    rows = [_Row("prior", evidence.prior, amount(evidence, evidence.prior))] if evidence.learned else []
    for step in evidence.steps:
        if any(step.values):
            values = shown(step.values[0]), shown(step.values[1])
            of = "" if evidence.learned else f" of {amount(evidence, step.most)}"
            number = "" if step.missing else amount(evidence, step.adds) + of
            level_text = ", ".join(filter(None, (level(step), rarity(step))))
            rows.append(_Row(step.field, step.adds, number, level_text, values))
            if full and any(as_given(step)):
                rows.append(_Row("", 0.0, "", "as given", as_given(step)))
    rows.append(_Row("total", 0.0, amount(evidence, evidence.total)))
    longest = max(abs(row.adds) for row in rows)
    widths = _widths(rows, screen, full=full)
    yield from (_line(row, bar(row.adds, longest), widths, screen) for row in rows)


def _widths(rows: Sequence[_Row], screen: Screen, *, full: bool) -> tuple[int, int, int, int]:
    """Columns of field, number, level and values; the values get the columns that remain."""
    field = max(columns(row.field) for row in rows)
    field = field if full else min(field, _LONGEST_FIELD)
    number = max(len(row.number) for row in rows)
    levels = max(columns(row.level) for row in rows)
    value = max(columns(value) for row in rows for value in row.values)
    if not full:
        left = screen.width - field - number - len(bar(0, 0)) - levels - 5 * len(_BETWEEN)
        value = min(value, max(left // 2, 8))
    return field, number, levels, value


def _line(row: _Row, drawn: str, widths: tuple[int, int, int, int], screen: Screen) -> str:
    field, number, level, value = widths
    drawn = drawn if row.field not in ("", "total") else " " * len(drawn)
    colour = "new" if row.adds > 0 else "gone" if row.adds < 0 else ""
    parts = [
        padded(row.field, field),
        f"{row.number:>{number}}",
        screen.coloured(drawn, colour),
        padded(row.level, level),
        padded(row.values[0], value),
        clipped(row.values[1], value),
    ]
    line = _BETWEEN.join(parts).rstrip()
    return screen.coloured(line, "dim") if row.level in ("no value", "as given") else line


def _blocks(evidence: PairEvidence) -> Iterator[str]:
    """All blocks, one a line."""
    yield ""
    for block in evidence.blocks:
        why = "shared" if block.shared else "no value" if not all(block.keys) else "differs"
        yield f"{why:<8}{_BETWEEN}{plain(block.name)}"
