"""Sections of pages in letters of other people: found where measures of whole texts see nothing."""

import random
from pathlib import Path

import pytest

from stream_lsh import PartialCopies
from tests.evaluation.partial_copies import near_duplicates, partial_copies, plant

pytestmark = pytest.mark.corpus


def test_sections_are_found_where_jaccard_misses_them(data_dir: Path, seed: int) -> None:
    planted = plant(data_dir, 0.05, random.Random(seed), copies=60)
    documents = [*planted.pages, *planted.letters]
    wanted = {frozenset(pair) for pair in planted.origins.items()}
    assert len(wanted & partial_copies(documents)) >= 57
    assert not wanted & near_duplicates(0.5)(documents)


@pytest.mark.parametrize(("bounds", "least"), [({"least_share": 0.2, "least_shared": 20}, 20), ({}, 8)])
def test_every_reported_pair_has_a_passage(data_dir: Path, seed: int, bounds: dict[str, float], least: int) -> None:
    planted = plant(data_dir, 0.0, random.Random(seed), copies=60)
    copies = PartialCopies(**bounds)  # type: ignore[arg-type]
    for one in [*planted.pages, *planted.letters]:
        copies.add(one.id, one.text or "")
    reported = [pair for pair in copies.find() if {pair.left, pair.right} & planted.origins.keys()]
    longest = [max((passage.units for passage in copies.passages(pair)), default=0) for pair in reported]
    assert len(reported) >= 57
    assert min(longest) >= least
