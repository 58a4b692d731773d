"""The command `dedup` with every kind of shingle."""

import pytest

from stream_lsh.text.catalog import BAG, KINDS
from tests.unit.cli.runs import DOCUMENTS, STORY, lines_of, stream_lsh

CAPITALS = [{"id": "a", "text": STORY.title()}, {"id": "b", "text": STORY.title() + " and so on"}]
SPECS = [
    ":".join([name, *[argument.usual for argument in kind.arguments if argument.usual]]) for name, kind in KINDS.items()
]


@pytest.mark.parametrize("spec", [*SPECS, f"{BAG}:{SPECS[0]}", f"{SPECS[0]}/4", f"{SPECS[1]}/full"])
def test_a_near_duplicate_is_found_by_shingles_of_every_kind(spec: str) -> None:
    documents = lines_of([*CAPITALS, DOCUMENTS[2]])
    run = stream_lsh("dedup", "-", "--threshold", "0.3", "--shingles", spec, "--jobs", "1", stdin=documents)
    assert run.code == 0, run.err
    assert [*run.pairs] == [("a", "b")]
    assert run.pairs["a", "b"] > 0.5
