"""The rows of a table without copies: one from each cluster."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

RULES = ("first", "last", "longest", "shortest")
COLUMN = "column:"
"""The prefix of a rule that names a column."""


def is_rule(rule: str) -> bool:
    """Whether a rule is one of RULES, or `column:NAME`."""
    return rule in RULES or (rule.startswith(COLUMN) and rule != COLUMN)


def ranks(rule: str, lengths: Sequence[int]) -> NDArray[np.float64]:
    """A number for each row, by one of RULES; the row with the greatest one in its cluster is kept.

    Args:
        rule: one of RULES.
        lengths: of the texts, in characters.
    """
    if rule == "first":
        return np.zeros(len(lengths))
    if rule == "last":
        return np.arange(len(lengths), dtype=np.float64)
    return np.array(lengths, np.float64) * (1 if rule == "longest" else -1)


def kept_rows(
    ids: Sequence[str], lengths: Sequence[int], cluster_of: Mapping[str, str], ranks: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """The rows to keep: from each cluster the row with the greatest rank, the first one among equals.

    Args:
        ids: of the rows; the last row of an id counts.
        lengths: of the texts, in characters; -1 for a row that deletes the document.
        cluster_of: the cluster of each document that has matches.
        ranks: of the rows.

    Example:
        >>> kept_rows(["a", "b", "c"], [3, 4, 5], {"a": "a", "b": "a"}, np.array([3.0, 4.0, 5.0])).tolist()
        [False, True, True]
    """
    current = {id: row for row, id in enumerate(ids)}
    best: dict[str, int] = {}
    kept = np.zeros(len(ids), np.bool_)
    for row, (id, length) in enumerate(zip(ids, lengths, strict=True)):
        if current[id] != row or length < 0:
            continue
        cluster = cluster_of.get(id)
        if cluster is None:
            kept[row] = True
        elif cluster not in best or ranks[row] > ranks[best[cluster]]:
            best[cluster] = row
    kept[list(best.values())] = True
    return kept
