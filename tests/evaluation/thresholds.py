"""Precision, recall and F1 of scored pairs, by threshold."""

from collections.abc import Sequence

import numpy as np

from tests.evaluation.record_corpora import Pair


def figures(
    pairs: Sequence[Pair], bits: np.ndarray, truth: set[Pair], probabilities: Sequence[float]
) -> dict[str, dict[str, float]]:
    """Precision, recall and F1 of the pairs that reach a probability, and at the threshold that is the best.

    Args:
        pairs: each once.
        bits: their evidence.
        truth: all that are right.
        probabilities: the thresholds.
    """
    order = np.argsort(-bits, kind="stable")
    bits = bits[order]
    right = np.cumsum([pairs[place] in truth for place in order.tolist()])

    def counted(found: int) -> dict[str, float]:
        hits = int(right[found - 1]) if found else 0
        precision, recall = hits / max(1, found), hits / max(1, len(truth))
        return {"precision": precision, "recall": recall, "f1": 2 * hits / max(1, found + len(truth))}

    at = {}
    for probability in probabilities:
        at[f"{probability:g}"] = counted(int((bits >= np.log2(probability / (1 - probability))).sum()))
    ends = np.flatnonzero(np.append(bits[1:] != bits[:-1], True)) + 1  # no threshold parts equal evidence
    most = int(ends[np.argmax(2 * right[ends - 1] / (ends + len(truth)))]) if len(pairs) else 0
    least = float(bits[most - 1]) if most else 0.0
    return at | {"best": {**counted(most), "probability": float(1 / (1 + 2.0**-least))}}
