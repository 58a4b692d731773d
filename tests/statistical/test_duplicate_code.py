"""Copies of functions planted in the standard library of the running Python, renamed from head to foot and edited."""

import random

import pytest

from tests.evaluation.duplicate_code import library, measured, plant


@pytest.mark.slow
@pytest.mark.parametrize(("edits", "least"), [(0.0, 0.95), (0.05, 0.9)])
def test_planted_copies_are_found_and_reported_pairs_are_similar(seed: int, edits: float, least: float) -> None:
    rng = random.Random(seed)
    quality = measured(plant(library(60, rng), rng, edits, copies=120))
    assert quality.planted == 120
    assert quality.found >= least * quality.planted
    assert quality.right >= 0.95 * quality.reported
