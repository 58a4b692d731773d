"""Partial copies in memory: exact shares, separate sources, and removal."""

import random

import pytest

from stream_lsh import ConfigError, InputError, PartialCopies, UnusableDocument
from stream_lsh.applications import partial_copies
from tests.evaluation.oracles import word_windows

WORDS = [f"w{number}" for number in range(5000)]


def own(seed: int, words: int = 300) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def with_passage(seed: int, passage: str) -> str:
    words = own(seed).split()
    return " ".join([*words[:100], passage, *words[100:]])


def with_a_common_passage() -> PartialCopies:
    """The texts a and b, with one passage of 100 words in both."""
    passage, copies = own(99, 100), PartialCopies()
    copies.add("a", with_passage(1, passage))
    copies.add("b", with_passage(2, passage))
    return copies


def test_a_passage_of_a_text_in_another_one_is_found_with_exact_shares() -> None:
    copies = PartialCopies()
    original = own(1)
    thief = with_passage(2, " ".join(original.split()[50:150]))
    for id, text in (("original", original), ("thief", thief), ("honest", own(3))):
        copies.add(id, text)
    (found,) = copies.find()
    sets = {"original": set(word_windows(original, 3)), "thief": set(word_windows(thief, 3))}
    shared = len(sets["original"] & sets["thief"])
    assert (found.left, found.right, found.shared) == ("original", "thief", shared)
    assert found.left_share == shared / len(sets["original"])
    assert found.right_share == shared / len(sets["thief"])
    assert found.share == max(found.left_share, found.right_share)
    assert found.similarity == shared / len(sets["original"] | sets["thief"])
    (passage,) = copies.passages(found)
    assert original[passage.left_start : passage.left_end] == " ".join(original.split()[50:150])
    assert thief[passage.right_start : passage.right_end] == " ".join(original.split()[50:150])
    assert passage.units == 100


def test_the_bounds_are_met_exactly() -> None:
    first, second = own(1, 60), with_passage(2, " ".join(own(1, 60).split()[:22]))
    for least, count in ((20, 1), (21, 0)):
        copies = PartialCopies(least_shared=least, least_share=0.3)
        copies.add("a", first)
        copies.add("b", second)
        assert len(copies.find()) == count, "22 words are 20 shingles"
    share = 20 / 58
    for bound, count in ((share, 1), (share + 1e-9, 0)):
        copies = PartialCopies(least_share=bound)
        copies.add("a", first)
        copies.add("b", second)
        assert len(copies.find()) == count


@pytest.mark.parametrize(
    ("shorter", "longer", "least"), [(102, 502, 7), (202, 502, 10), (1002, 1002, 38), (1002, 4002, 73)]
)
def test_the_default_bound_grows_with_the_lengths_of_both_texts(shorter: int, longer: int, least: int) -> None:
    for shared, count in ((least, 1), (least - 1, 0)):
        passage = [f"p{number}" for number in range(shared + 2)]
        copies = PartialCopies()
        for id, words in (("a", shorter), ("b", longer)):
            copies.add(id, " ".join(passage + [f"{id}{number}" for number in range(words - len(passage))]))
        assert len(copies.find()) == count


def test_many_copies_of_a_source_do_not_hide_it() -> None:
    copies = PartialCopies(most_holders=3)
    source = own(99, 80)
    copies.add("source", source, source=True)
    for number in range(6):
        copies.add(f"essay{number}", with_passage(number, source))
    found = copies.find()
    assert [(one.left, one.right, one.right_share) for one in found] == [
        (f"essay{number}", "source", 1.0) for number in range(6)
    ]
    assert {passage.units for one in found for passage in copies.passages(one)} == {80}
    for number in range(3):
        copies.add(f"source{number}", source, source=True)
    assert copies.find() == [], "more sources have it: a licence, not a source"


def test_two_texts_that_copied_from_one_source_are_listed_under_it() -> None:
    copies = PartialCopies()
    source, other = own(99, 100), own(98, 100)
    copies.add("source", source, source=True)
    copies.add("ann", with_passage(1, source))
    copies.add("bob", with_passage(2, source))
    copies.add("cid", with_passage(3, f"{source} {other}"))
    copies.add("dan", with_passage(4, f"{source} {other}"))
    found = [(one.left, one.right, one.source) for one in copies.find()]
    assert set(found[:5]) == {
        *((id, "source", None) for id in ("ann", "bob", "cid", "dan")),
        ("cid", "dan", None),
    }
    assert {(left, right) for left, right, of in found[5:] if of == "source"} == {
        (left, right) for left in ("ann", "bob") for right in ("bob", "cid", "dan") if left < right
    }
    assert len(found) == 10


def test_common_text_does_not_count() -> None:
    task = own(99, 80)
    copies = PartialCopies(most_holders=3)
    for number in range(3):
        copies.add(f"essay{number}", with_passage(number, task))
    assert len(copies.find()) == 3
    copies.add("essay3", with_passage(3, task))
    assert copies.find() == []


def test_passages_shared_by_sources_only_are_not_reported() -> None:
    passage = own(99, 100)
    copies = PartialCopies()
    copies.add("a", with_passage(1, passage), source=True)
    copies.add("b", with_passage(2, passage), source=True)
    assert copies.find() == []
    copies.add("essay", with_passage(3, passage))
    assert {(one.left, one.right) for one in copies.find()} == {("a", "essay"), ("b", "essay")}
    copies.add("a", with_passage(1, passage))
    assert len(copies.find()) == 3


def test_replaced_and_removed_texts_are_forgotten() -> None:
    passage = own(99, 100)
    copies = PartialCopies()
    copies.add("a", with_passage(1, passage))
    copies.add("b", with_passage(2, passage))
    assert len(copies.find()) == 1
    assert copies.remove("a")
    assert not copies.remove("a")
    assert copies.find() == []
    copies.add("a", with_passage(1, passage))
    copies.add("b", own(2))
    assert copies.find() == []
    assert (len(copies), "a" in copies, "c" in copies) == (2, True, False)


def test_the_error_about_an_absent_text_names_its_id() -> None:
    copies = with_a_common_passage()
    (found,) = copies.find()
    copies.remove("a")
    with pytest.raises(UnusableDocument, match="got 'a', expected the id of a text that was added"):
        copies.text("a")
    with pytest.raises(UnusableDocument, match="got 'a', expected the id of a text that was added"):
        copies.passages(found)


def test_passages_are_available_after_more_texts_were_added() -> None:
    copies = with_a_common_passage()
    (found,) = copies.find()
    copies.add("c", own(3))
    assert [one.units for one in copies.passages(found)] == [100]


@pytest.mark.parametrize("kept", [0, 400, 1 << 20])
def test_passages_are_the_same_however_many_texts_are_kept(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    monkeypatch.setattr(partial_copies, "_RECENT_SHINGLES", kept)
    copies, passage = PartialCopies(), own(99, 100)
    for number in range(4):
        copies.add(f"{number}", with_passage(number, passage))
    for pair in copies.find() * 2:
        assert [one.units for one in copies.passages(pair)] == [100]
    copies.add("0", with_passage(7, f"{passage} {own(98, 10)} {passage}"))
    (pair, *_) = [one for one in copies.find() if one.left == "0"]
    (found, *_) = copies.passages(pair)
    assert copies.text("0")[found.left_start : found.left_end].startswith(passage[:40])


def test_empty_texts_and_no_texts_have_no_copies() -> None:
    copies = PartialCopies(least_shared=1)
    assert copies.find() == []
    for id in "abc":
        copies.add(id, "")
    assert copies.find() == []


def test_invalid_settings_are_reported_all_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        PartialCopies(least_share=0, least_shared=0, most_holders=1)
    assert [problem.split(":")[0] for problem in caught.value.problems] == [
        "least_share",
        "least_shared",
        "most_holders",
    ]
    with pytest.raises(InputError):
        PartialCopies().add("", "text")
