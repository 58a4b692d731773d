"""Empty and tiny documents have one shingle or none, by the name of the shingler; empty texts are never equal."""

import pytest

from stream_lsh import NearDuplicates
from stream_lsh.text.catalog import KINDS, shingler

KEEP = [name for name, kind in KINDS.items() if kind.pads]
SPECS = {"stem": "stem:en:4", "code": "code:python:4"}
TINY = "re: thanks"
LONG = "one two three four five six"


def spec_of(name: str) -> str:
    return SPECS.get(name, f"{name}:{20 if name == 'char' else 4}")


@pytest.mark.parametrize("name", KEEP)
def test_a_text_of_fewer_than_k_units_is_one_shingle_unless_the_name_ends_with_full(name: str) -> None:
    whole, full = shingler(spec_of(name)), shingler(f"{spec_of(name)}/full")
    texts = [TINY, LONG, "", TINY]
    assert whole(texts).counts.tolist() == [1, *whole([LONG]).counts, 0, 1]
    assert full(texts).counts.tolist() == [0, *whole([LONG]).counts, 0, 0]
    assert full(texts).hashes.tolist() == whole([LONG]).hashes.tolist(), (
        "a text that is long enough has the same shingles"
    )
    assert (whole.units(TINY).firsts.tolist(), full.units(TINY).firsts.tolist()) == ([0], [])


@pytest.mark.parametrize("name", KEEP)
def test_tiny_documents_match_only_where_the_whole_text_is_a_shingle(name: str) -> None:
    found = {}
    for spec in (spec_of(name), f"{spec_of(name)}/full"):
        near = NearDuplicates(0.8, spec)
        near.add("a", TINY)
        found[spec] = [match.id for match in near.query(TINY)]
    assert [*found.values()] == [["a"], []]


@pytest.mark.parametrize("name", ["stopword:en", "capital:4"])
def test_kinds_that_choose_their_runs_have_none_of_a_tiny_text(name: str) -> None:
    assert shingler(name)(["The Who", ""]).counts.tolist() == [0, 0]
    near = NearDuplicates(0.8, name)
    near.add("a", "The Who")
    assert near.query("The Who") == []


@pytest.mark.parametrize("k", [1, 5])
def test_exactly_k_units_are_one_shingle_for_both(k: int) -> None:
    for name, unit in (("char", "x"), ("word", "x "), ("space", "x "), ("mixed", "日")):
        for ending in ("", "/full"):
            counts = shingler(f"{name}:{k}{ending}")([unit * (k - 1), unit * k, unit * (k + 1)]).counts.tolist()
            assert counts == [1 if k > 1 and not ending else 0, 1, 2]
