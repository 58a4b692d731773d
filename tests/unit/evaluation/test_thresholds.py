"""The figures of pairs that records are matched against peers with."""

import numpy as np
import pytest

from tests.evaluation.thresholds import figures

TRUTH = {("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")}


def test_a_threshold_takes_the_pairs_that_reach_it() -> None:
    pairs = [("a", "b"), ("a", "c"), ("c", "d")]
    at = figures(pairs, np.array([6.0, 0.0, -3.0]), TRUTH, (0.5, 0.95))

    assert at["0.5"] == {"precision": 0.5, "recall": 0.25, "f1": pytest.approx(1 / 3)}
    assert at["0.95"] == {"precision": 1.0, "recall": 0.25, "f1": pytest.approx(0.4)}


def test_the_best_threshold_parts_no_two_pairs_of_equal_evidence() -> None:
    """Three pairs with 1 bit, one of them right: all or none.  None: 1 of 1 and 4, 2/5.  All: 2 of 4 and 4, 4/8."""
    pairs = [("x", "y"), ("c", "d"), ("x", "z"), ("a", "b")]
    best = figures(pairs, np.array([1.0, 1.0, 1.0, 5.0]), TRUTH, ())["best"]

    assert best == {"precision": 0.5, "recall": 0.5, "f1": 0.5, "probability": pytest.approx(2 / 3)}


def test_no_pairs_are_no_f1() -> None:
    at = figures([], np.array([]), TRUTH, (0.5,))

    assert at["0.5"]["f1"] == at["best"]["f1"] == 0.0
