"""The line of a summary about the pairs that the caps omitted."""

from stream_lsh.pipeline.agents.state import StepCounts


def caps_lines(counts: StepCounts) -> list[str]:
    """The number of omitted pairs with the estimated recall, if there are any.

    Example:
        >>> from stream_lsh.pipeline.agents.state import StepCounts
        >>> caps_lines(StepCounts())
        []
        >>> caps_lines(StepCounts(edges=7, capped_candidates=20, capped_matches=3.0))[0].split(":")[2]
        ' recall about 0.70; --max-candidates 0 lifts the caps'
    """
    if not counts.capped_candidates:
        return []
    return [
        f"capped: {counts.capped_candidates:,} candidates were not compared, about "
        f"{counts.capped_matches:,.0f} of them matches: recall about {counts.recall_under_caps:.2f}; "
        "--max-candidates 0 lifts the caps"
    ]
