"""The reliability of trained probabilities, as lines of text and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from stream_lsh.measure.reliability import Bin, reliability
from stream_lsh.records.train.learning import Training

_WIDTH = 20
_PLENTY = 10
"""Labelled pairs in a bin from which the observed share is of use."""


def bins_of(training: Training) -> list[Bin]:
    """The bins of the pairs that training compared."""
    return reliability(training.probability, training.labels)


def chart(training: Training) -> Iterator[str]:
    """A line for each bin: expected matches, labelled pairs, and both shares on a scale from 0 to 1.

    `=` reaches to the mean probability, and `o` is the observed share of matches among the labelled pairs.
    """
    bins = bins_of(training)
    negative = any(one.true < one.labelled for one in bins)
    yield f"{'probability':<13} {'pairs':>9} {'expected':>9} {'labelled':>9} {'matches':>8}  0{'':{_WIDTH - 2}}1"
    for one in bins:
        shown = f"{one.true:,}" if one.labelled else "-"
        between = f"{one.low:g} to {one.high:g}"
        numbers = f"{one.pairs:>9,} {one.expected:>9,.1f} {one.labelled:>9,} {shown:>8}"
        yield f"{between:<13} {numbers}  {_bar(one, negative=negative)}".rstrip()
    yield _conclusion(bins, negative=negative)


def as_rows(training: Training) -> list[dict[str, Any]]:
    """The bins as JSON objects."""
    return [
        {"from": one.low, "to": one.high, "pairs": one.pairs, "expected": one.expected, "labelled": one.labelled,
         "matches": one.true}
        for one in bins_of(training)
    ]  # fmt: skip


def _bar(one: Bin, *, negative: bool) -> str:
    if not one.pairs:
        return ""
    bar = list(f"{'=' * round(_WIDTH * one.mean):<{_WIDTH + 1}}")
    if negative and one.observed is not None:
        bar[round(_WIDTH * one.observed)] = "o"
    return "".join(bar)


def _conclusion(bins: Sequence[Bin], *, negative: bool) -> str:
    """The finding of the labels, or the way to labels that allow one."""
    doubtful = sum(one.pairs for one in bins if 0.3 <= one.low < 0.95)
    if not any(one.labelled for one in bins):
        return (
            f"without labels the expected matches are estimates; {doubtful:,} pairs from 0.3 to 0.95 are worth a "
            "review: pass the answers with --labels"
        )
    if not negative:
        return "the labels are matches only: label non-matches as well (column `match`, 1 or 0) to observe shares"
    upper = [one for one in bins if one.low >= 0.95]
    labelled, true = sum(one.labelled for one in upper), sum(one.true for one in upper)
    if labelled < _PLENTY:
        return f"{labelled} labelled pairs from 0.95 on are few: label more pairs to observe shares"
    return f"from 0.95 on, {true:,} of {labelled:,} labelled pairs match ({true / labelled:.0%})"
