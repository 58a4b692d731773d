"""The weights of a profile, as a table and as JSON."""

import json
from collections.abc import Iterator
from typing import Any

from stream_lsh.cli.output.terminal import plain
from stream_lsh.cli.reports.reliability import as_rows
from stream_lsh.records.compare.catalog import comparator
from stream_lsh.records.profile import Comparison, Profile
from stream_lsh.records.score import bits_of
from stream_lsh.records.train.learning import Training


def table(profile: Profile, training: Training | None = None) -> Iterator[str]:
    """A line for each level of each comparison: m, u and their bits; no line if the profile has no weights.

    Args:
        profile: the profile.
        training: the training that produced it; comparisons without values are then left out.
    """
    some = training.others if training else [1.0] * len(profile.comparisons)
    comparisons = [comparison for comparison, others in zip(profile.comparisons, some, strict=True) if others >= 1]
    if not profile.learned or not comparisons:
        return
    names = [f"{plain(comparison.field)} ({comparison.comparator})" for comparison in comparisons]
    width = max(map(len, names))
    level_width = max(len(level) for comparison in comparisons for level in _levels(comparison))
    yield f"{'comparison':<{width}}  {'level':<{level_width}}  {'m':>8}  {'u':>8}    bits"
    for name, comparison in zip(names, comparisons, strict=True):
        shown = name
        for level, m, u, bits in zip(
            _levels(comparison), comparison.m, comparison.u, bits_of(comparison.m, comparison.u), strict=True
        ):
            yield f"{shown:<{width}}  {level:<{level_width}}  {_share(m):>8}  {_share(u):>8}  {bits:+6.2f}"
            shown = ""


def _levels(comparison: Comparison) -> tuple[str, ...]:
    return comparator(comparison.comparator, comparison.levels).levels


def _share(value: float) -> str:
    return f"{value:.4f}" if value >= 0.001 else f"{value:.2e}"


def totals(training: Training) -> Iterator[str]:
    """The prior, and the number of pairs behind the estimates."""
    prior = training.profile.prior or 0.0
    yield f"prior {prior:.3g}: about {training.expected:,.0f} matches among {training.comparable:,} pairs of records"
    yield (
        f"m from {training.rounds} iterations over {training.candidates:,} candidates, "
        f"u from these and {training.random:,} pairs at random"
    )


def warnings(training: Training) -> list[str]:
    """Warnings about unreliable estimates."""
    return [plain(doubt) for doubt in training.profile.doubts]


def as_json(training: Training) -> bytes:
    """The weights, the totals and the warnings as one JSON object."""
    profile = training.profile
    comparisons: list[dict[str, Any]] = [
        {
            "field": comparison.field,
            "comparator": comparison.comparator,
            "levels": [
                {"level": level, "m": m, "u": u, "bits": bits}
                for level, m, u, bits in zip(
                    _levels(comparison), comparison.m, comparison.u, bits_of(comparison.m, comparison.u), strict=True
                )
            ],
            "matches": matches,
            "others": others,
        }
        for comparison, matches, others in zip(profile.comparisons, training.matches, training.others, strict=True)
    ]
    value = {
        "profile": profile.name,
        "prior": profile.prior,
        "pairs": {"random": training.random, "blocked": training.candidates, "comparable": training.comparable},
        "expected": training.expected,
        "iterations": training.rounds,
        "comparisons": comparisons,
        "reliability": as_rows(training),
        "warnings": warnings(training),
    }
    return json.dumps(value, ensure_ascii=False).encode()
