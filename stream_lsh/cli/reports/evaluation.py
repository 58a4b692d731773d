"""The scores of `evaluate`, as a table and as JSON."""

import json
from collections.abc import Iterator
from typing import Any

from stream_lsh.cli.runs.evaluate import Evaluated
from stream_lsh.measure.evaluation import Evaluation, Score


def as_text(evaluated: Evaluated) -> Iterator[str]:
    """The table of all pairs, and the table by threshold."""
    scores = evaluated.scores
    yield f"{'':<8}  precision  recall      F1       found        true        both"
    for name, score in _named(scores):
        counts = f" {score.found:>11,} {score.true:>11,} {score.right:>11,}" if name != "B-cubed" else ""
        yield f"{name:<8} {_shares(score)}{counts}"
    if scores.clusters is None:
        yield "only labelled pairs count: the truth has non-matches, so other pairs are unknown"
    if not evaluated.thresholds:
        return
    yield ""
    further = "" if scores.clusters is None else "  F1 of clusters  F1 of B-cubed"
    yield f"threshold        pairs  precision  recall      F1{further}"
    best = best_threshold(evaluated)
    for threshold, at in evaluated.thresholds:
        pairs = at.pairs
        line = f"{rounded_down(threshold):>9} {pairs.found:>12,} {_shares(pairs)}"
        if at.clusters is not None and at.bcubed is not None:
            line += f" {at.clusters.f1:>15.4f} {at.bcubed.f1:>14.4f}"
        yield f"{line}{'  best' if threshold == best else ''}"


def _shares(score: Score) -> str:
    return f"{score.precision:>10.4f} {score.recall:>7.4f} {score.f1:>7.4f}"


def rounded_down(threshold: float) -> str:
    """A threshold with few digits, none of which raises it.

    Example:
        >>> rounded_down(0.55), rounded_down(0.504249), rounded_down(0.99999996)
        ('0.55', '0.5042', '0.99999996')
    """
    shown = (f"{threshold:.{digits}g}" for digits in range(4, 18, 2))
    return next((text for text in shown if float(text) <= threshold), repr(threshold))


def best_threshold(evaluated: Evaluated) -> float | None:
    """The threshold with the greatest F1 of pairs, the highest of equal ones; None without similarities."""
    return max(((at.pairs.f1, threshold) for threshold, at in evaluated.thresholds), default=(0.0, None))[1]


def as_json(evaluated: Evaluated) -> str:
    """One object."""
    value = {
        "items": evaluated.items,
        **_object(evaluated.scores),
        "best_threshold": best_threshold(evaluated),
        "thresholds": [{"threshold": threshold, **_object(at)} for threshold, at in evaluated.thresholds],
    }
    return json.dumps(value)


def _named(scores: Evaluation) -> Iterator[tuple[str, Score]]:
    for name, score in (("pairs", scores.pairs), ("clusters", scores.clusters), ("B-cubed", scores.bcubed)):
        if score is not None:
            yield name, score


def _object(scores: Evaluation) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, score in _named(scores):
        values = {"precision": score.precision, "recall": score.recall, "f1": score.f1}
        if name != "B-cubed":
            values |= {"found": score.found, "true": score.true, "both": score.right}
        found[name.lower().replace("-", "")] = values
    return found
