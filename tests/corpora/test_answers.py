"""Answers of about 200 words: copies at three levels are reported with their source, original answers are not.

The bounds were chosen on part 0 of the threads; the tests judge them on part 1.
"""

import random
from pathlib import Path

import pytest

from tests.evaluation.answers import answers, questions, reported

pytestmark = pytest.mark.corpus


def test_copies_of_all_levels_are_reported_and_original_answers_are_not(data_dir: Path, seed: int) -> None:
    asked = questions(data_dir, part=1)
    found = reported(asked, answers(asked, random.Random(seed)))
    assert min(found["cut"], found["light"]) >= 0.98
    assert found["heavy"] >= 0.9
    assert found["none"] <= 0.05


def test_more_copies_of_a_source_hide_nothing(data_dir: Path, seed: int) -> None:
    asked = questions(data_dir, part=1)
    given = answers(asked, random.Random(seed))
    many = [one for one in answers(asked, random.Random(seed + 1)) if one.level != "none"]
    alone = reported(asked, given)
    assert reported(asked, [*given, *many, *many])["heavy"] >= alone["heavy"] - 0.05
