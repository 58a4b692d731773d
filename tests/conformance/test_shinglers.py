"""Every shingler of the catalog: what the steps after it count on."""

import numpy as np
import pytest
from hypothesis import given, settings

from stream_lsh import NearDuplicates
from stream_lsh.errors import ConfigError
from stream_lsh.text.catalog import BAG, KINDS, SPECS, shingler
from stream_lsh.text.hashing.groups import GROUP
from stream_lsh.text.shinglers.code import RENAMED
from stream_lsh.text.shingles import Shingler
from tests.texts import batches

PLAIN = [
    ":".join([name, *[argument.usual for argument in kind.arguments if argument.usual]]) for name, kind in KINDS.items()
]
OPTIONAL = [
    f"{spec}:{RENAMED}"
    for spec in PLAIN
    if f"[:{RENAMED}]" in [one.shown for one in KINDS[spec.split(":")[0]].arguments]
]
NAMES = [
    *PLAIN,
    *OPTIONAL,
    *[f"{BAG}:{spec}" for spec in PLAIN],
    *[f"{spec}/4" for spec in PLAIN],
    *[f"{spec}/full" for spec in PLAIN if KINDS[spec.split(":")[0]].pads],
]
MADE = {spec: shingler(spec) for spec in NAMES}
"""Made once: lexers and tables take their time."""

STORY = (
    "The river Rhine rose by 3 metres overnight in Basel, and the ferries of all the towns along it stay in port.\n"
    "def total(items):  # 日本語 ที่นี่\n    return sum(item.price for item in items) + 1\n"
)

every_shingler = pytest.mark.parametrize("spec", NAMES)


def documents(made: Shingler, texts: list[str]) -> list[list[int]]:
    shingles = made(texts)
    return [shingles.document(row).tolist() for row in range(len(shingles))]


def test_every_kind_of_the_catalog_is_tested_and_described_by_the_configuration() -> None:
    assert {spec.split(":")[0] for spec in PLAIN} == set(KINDS)
    assert len(PLAIN) >= 8
    assert len(OPTIONAL) == 1
    assert all(f"{name}:<" in SPECS for name in KINDS)


@every_shingler
def test_the_spec_leads_back_to_the_same_shingler(spec: str) -> None:
    made = MADE[spec]
    again = shingler(made.spec)
    assert made.spec == again.spec == spec
    assert (again.version, again.k, again.library) == (made.version, made.k, made.library)
    assert documents(again, [STORY]) == documents(made, [STORY])
    assert made.version >= 1
    assert 1 <= made.k <= 64


@every_shingler
def test_a_text_has_shingles_and_most_of_them_are_different(spec: str) -> None:
    (hashes,) = documents(MADE[spec], [STORY])
    assert len(hashes) > 3
    assert len(set(hashes)) > len(hashes) / 2
    assert MADE[spec]([STORY]).hashes.dtype == np.uint64


@every_shingler
@settings(max_examples=30)
@given(batch=batches)
def test_a_batch_gives_the_same_shingles_as_its_single_texts(spec: str, batch: list[str]) -> None:
    made = MADE[spec]
    together = documents(made, batch)
    assert together == [one for text in batch for one in documents(made, [text])]
    assert documents(made, [STORY, *batch[::-1]])[1:] == together[::-1]
    assert documents(made, batch) == together, "pure"


@every_shingler
def test_a_batch_beyond_a_group_gives_the_same_shingles_as_its_single_texts(spec: str) -> None:
    texts = ["Ab of", STORY * (GROUP // len(STORY) // 2), "", STORY, "the Cat " * (GROUP // 30), STORY]
    made = MADE[spec]
    assert documents(made, texts) == [one for text in texts for one in documents(made, [text])]


@every_shingler
@settings(max_examples=30)
@given(batch=batches)
def test_units_are_in_the_text_and_there_is_one_first_for_every_shingle(spec: str, batch: list[str]) -> None:
    made = MADE[spec]
    for text in [*batch, STORY]:
        starts, ends, firsts = made.units(text)
        assert firsts.size == made([text]).counts[0]
        assert starts.size == ends.size
        assert (starts < ends).all()
        assert (starts >= 0).all()
        assert (ends <= len(text)).all()
        assert all((np.diff(one) >= 0).all() for one in (starts, ends, firsts))
        assert (firsts >= 0).all()
        assert (firsts < starts.size).all()
        if firsts.size > 1:
            assert firsts[-1] + made.k <= starts.size


@every_shingler
def test_seeds_give_other_hashes_and_the_same_seed_the_same(spec: str) -> None:
    (one,), (other,), (again,) = (documents(shingler(spec, seed), [STORY]) for seed in (1, 2**63, 1))
    assert one == again
    assert not set(one) & set(other)
    assert len(one) == len(other)


@every_shingler
@pytest.mark.parametrize("batch", [[], [""], ["", ""], [" \n\t "], ["\u200b"]])
def test_an_empty_text_has_no_shingles(spec: str, batch: list[str]) -> None:
    shingles = MADE[spec](batch)
    assert shingles.offsets.tolist()[:1] == [0]
    assert len(shingles) == len(batch)
    if "" in batch:
        assert shingles.counts.tolist() == [0] * len(batch)
    elif not spec.startswith(("char", f"{BAG}:char", "space", f"{BAG}:space", "code", f"{BAG}:code")):
        assert shingles.hashes.size == 0, "nor one of no words"


@every_shingler
@pytest.mark.parametrize("texts", [["", ""], ["", STORY]])
def test_empty_documents_are_equal_to_nothing(spec: str, texts: list[str]) -> None:
    near = NearDuplicates(0.5, spec)
    assert [near.add(str(at), text) for at, text in enumerate(texts)] == [[], []]


@every_shingler
@pytest.mark.parametrize(
    "text", ["\ud800", "\0", "\ud800\udfff\0 \0\0 a\0b \ud800x The \udfffOf", "\0" * 100, "\x1c\x85\u2028"]
)
def test_lone_surrogates_and_nuls_are_characters_like_others(spec: str, text: str) -> None:
    made = MADE[spec]
    assert documents(made, [text, STORY, text])[0::2] == documents(made, [text]) * 2
    assert made.units(text).firsts.size == made([text]).counts[0]


@every_shingler
def test_a_huge_text_is_one_among_others(spec: str) -> None:
    made = MADE[spec]
    characters = 100_000 if "Pygments" in made.library else 500_000  # some groups
    text = STORY * (characters // len(STORY))
    (huge,), (small,) = documents(made, [text]), documents(made, [STORY * 4])
    assert len(huge) > characters / len(STORY)
    if spec.startswith(BAG):
        assert len(set(huge)) == len(huge), "each occurrence is one of its own"
    else:
        assert set(huge) == set(small)


@every_shingler
def test_near_duplicates_takes_it_by_name(spec: str) -> None:
    near = NearDuplicates(0.3, spec)
    near.add("a", STORY)
    (match,) = near.add("b", f"{STORY} and no more")
    assert 0.3 < match.similarity <= 1
    with pytest.raises(ConfigError, match="did you mean"):
        NearDuplicates(0.3, f"{spec}:nonsense")
