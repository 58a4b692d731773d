"""Step 1: the meaning of each message; replays after a crash are in `test_sign_crashes`."""

import random

import numpy as np
import pytest

from stream_lsh.arrays import I64, U64
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.model import NO_ABOUT, About, Document, make_ref
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.pipeline.documents.content_store import MemoryContents
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.sign import Arrivals, SignCounts, Signed
from stream_lsh.retention import BEGINNING_MS, Horizon
from tests.simulation.pipelines.scheme import NamedShingles
from tests.unit.pipeline.makers import AWKWARD_IDS, plain, record_of, signed
from tests.unit.pipeline.signing import SCHEME, buckets_of, new_table, posted, sign


def counted(result: Signed) -> dict[str, int]:
    """The counters that are not 0."""
    return {name: value for name in SignCounts.__slots__ if (value := getattr(result.counts, name))}


# -- the table of the docstring


def test_a_first_version_is_stored_and_posted_and_retires_nothing() -> None:
    table = new_table()
    result = signed(table, SCHEME, 7, [Document("a", "1 2", 100)], partition=3)
    ref = make_ref(3, 7)
    assert posted(result) == {ref: buckets_of("1 2")}
    assert posted(result, retired=True) == {}
    assert result.retirements == ()
    assert counted(result) == {"added": 1}
    assert result.record is not None
    assert plain(result.record) == plain(table.snapshot(SCHEME.slots + 1))
    assert result.postings is not None
    assert result.postings.times.tolist() == [100]


def test_a_newer_version_is_posted_and_its_predecessor_retired_first() -> None:
    table = new_table()
    signed(table, SCHEME, 0, [Document("a", "1 2", 100)])
    result = signed(table, SCHEME, 1, [Document("a", "2 3", 90)])
    assert posted(result) == {1: buckets_of("2 3")}
    assert posted(result, retired=True) == {0: buckets_of("1 2")}
    assert result.postings is not None
    assert result.postings.retired.tolist() == [True, False]
    assert result.postings.times.tolist() == [0, 90]
    (retirement,) = result.retirements
    assert (retirement.id, retirement.ref, retirement.time_ms, retirement.deleted) == ("a", 1, 90, False)
    assert retirement.digest == int(SCHEME.sign(["2 3"]).digests[0])
    assert retirement.keep_until_ms == 100, "the newest time in the chain"
    assert counted(result) == {"updated": 1}


class OnlyLive(MemoryContents):
    """Contents that hold nothing of deleted versions, as on a disk."""

    def texts(self, rows: I64, refs: U64) -> list[str]:
        found = super().texts(rows, refs)
        assert all(found), "the text of a version that is not live was asked for"
        return found


def test_a_document_comes_again_after_its_delete_and_the_text_of_the_marker_is_not_read() -> None:
    table = DocumentTable(SCHEME.slots, OnlyLive(SCHEME.slots))
    for offset, text in enumerate(("1 2", None)):
        signed(table, SCHEME, offset, [Document("a", text, 100)])
    assert posted(signed(table, SCHEME, 2, [Document("a", "1 2", 100)])) == {2: buckets_of("1 2")}


def test_a_replay_sends_what_was_sent() -> None:
    table = new_table()
    signed(table, SCHEME, 0, [Document("a", "1 2", 100)])
    first = signed(table, SCHEME, 1, [Document("a", "2 3", 90), Document("b", "4", 90)])
    again = signed(table, SCHEME, 1, [Document("a", "2 3", 90), Document("b", "4", 90)])
    assert again.record is None
    for retired in (False, True):
        assert posted(again, retired=retired) == posted(first, retired=retired)
    assert again.retirements == first.retirements
    assert counted(again) == {"replayed": 2}
    assert first.postings is not None
    assert again.postings is not None
    assert again.postings.times.tolist() == first.postings.times.tolist()


def test_a_superseded_version_is_only_retired() -> None:
    table = new_table()
    signed(table, SCHEME, 5, [Document("a", "1 2", 100)])
    result = signed(table, SCHEME, 2, [Document("a", "3", 50)])
    assert result.record is None
    assert posted(result) == {}
    assert posted(result, retired=True) == {2: buckets_of("3")}
    (retirement,) = result.retirements
    assert (retirement.id, retirement.ref, retirement.deleted) == ("a", 5, False)
    assert counted(result) == {"superseded": 1}


@pytest.mark.parametrize("text", [None, ""])
def test_a_superseded_delete_or_empty_text_has_nothing_to_take_out(text: str | None) -> None:
    table = new_table()
    signed(table, SCHEME, 5, [Document("a", "1 2", 100)])
    result = signed(table, SCHEME, 2, [Document("a", text, 50)])
    assert result.postings is None
    assert len(result.retirements) == 1


# -- deletes


def test_a_delete_retires_and_leaves_a_tombstone_as_long_as_the_newest_version() -> None:
    table = new_table()
    signed(table, SCHEME, 0, [Document("a", "1", 100), Document("a", "2", 60)])
    result = signed(table, SCHEME, 2, [Document("a", None, 5_000)])
    assert posted(result) == {}
    assert posted(result, retired=True) == {1: buckets_of("2")}
    (retirement,) = result.retirements
    assert (retirement.ref, retirement.time_ms, retirement.keep_until_ms) == (2, 100, 100)
    assert (retirement.deleted, retirement.digest) == (True, 0)
    assert table.rows(np.arange(3, dtype=np.uint64)).tolist() == [-1, -1, -1]
    assert counted(result) == {"deleted": 1}
    assert signed(table, SCHEME, 2, [Document("a", None, 5_000)]).retirements == result.retirements


def test_a_repeated_delete_and_an_unknown_one_are_no_news() -> None:
    table = new_table()
    signed(table, SCHEME, 0, [Document("a", "1"), Document("a", None)])
    result = signed(table, SCHEME, 2, [Document("a", None), Document("b", None)])
    assert (result.record, result.postings, result.retirements) == (None, None, ())
    assert counted(result) == {"unchanged": 1, "unknown_deletes": 1}


def test_a_delete_that_is_read_again_after_its_acknowledgement_is_delivered_whatever_the_table_knows() -> None:
    source = [Document("a", "1", 10), Document("a", None, 20), Document("b", None, 30)]
    table = new_table()
    table.apply(record_of([], SCHEME.slots, acknowledged=3))
    signed(table, SCHEME, 0, source[:1])
    lost = signed(table, SCHEME, 1, source[1:2])  # a crash comes before the outputs of this message
    assert lost.record is not None
    table = new_table()
    table.apply(lost.record)
    assert table.version("a") is None, "the record states that its message is acknowledged"
    result = signed(table, SCHEME, 1, source[1:])
    assert [(one.id, one.ref, one.deleted) for one in result.retirements] == [("a", 1, True), ("b", 2, True)]
    assert (posted(result), posted(result, retired=True)) == ({}, {})
    table.apply(record_of([], SCHEME.slots, acknowledged=4))
    assert table.version("a") is table.version("b") is None


def test_a_document_can_be_made_again_even_with_the_same_text() -> None:
    table = new_table()
    signed(table, SCHEME, 0, [Document("a", "1", 10), Document("a", None)])
    result = signed(table, SCHEME, 2, [Document("a", "1", 20)])
    assert posted(result) == {2: buckets_of("1")}
    assert result.retirements == (), "the tombstone has retired all that there was"


# -- repeats


@pytest.mark.parametrize(
    ("span_ms", "time_ms", "same"),
    [(None, 10**15, True), (100, 199, True), (100, 200, False), (100, 99, False), (1, 150, True), (1, 151, False)],
)
def test_a_byte_equal_repeat_is_no_news_within_its_time_segment(span_ms: int | None, time_ms: int, same: bool) -> None:
    for split in (False, True):
        table = new_table()
        documents = [Document("a", "1 2", 150), Document("a", "1 2", time_ms)]
        if split:
            signed(table, SCHEME, 0, documents[:1], span_ms=span_ms)
            result = signed(table, SCHEME, 1, documents[1:], span_ms=span_ms)
        else:
            result = signed(table, SCHEME, 0, documents, span_ms=span_ms)
        version = table.version("a")
        assert version is not None
        assert (version.ref, version.time_ms) == ((0, 150) if same else (1, time_ms))
        assert result.counts.unchanged == same
        assert bool(result.retirements) != same


def test_negative_times_lie_in_segments_too() -> None:
    table = new_table()
    result = signed(table, SCHEME, 0, [Document("a", "1", -1), Document("a", "1", 0)], span_ms=100)
    assert result.counts.unchanged == 0


def test_equal_shingles_in_other_bytes_are_a_new_version() -> None:
    table = new_table()
    result = signed(table, SCHEME, 0, [Document("a", "1 2"), Document("a", "2 1")])
    assert posted(result, retired=True) == {0: buckets_of("1 2")}


# -- several versions in one batch


def test_of_several_versions_in_a_batch_the_last_is_posted_and_all_others_are_retired() -> None:
    table = new_table()
    signed(table, SCHEME, 0, [Document("a", "1", 500)])
    batch = [Document("a", "2", 40), Document("b", "9"), Document("a", None), Document("a", "3", 30)]
    result = signed(table, SCHEME, 1, batch)
    assert posted(result) == {2: buckets_of("9"), 4: buckets_of("3")}
    assert posted(result, retired=True) == {0: buckets_of("1"), 1: buckets_of("2")}
    (retirement,) = result.retirements
    assert (retirement.ref, retirement.keep_until_ms, retirement.deleted) == (4, 500, False)
    assert result.record is not None
    assert sorted(result.record.ids) == ["a", "b"]


def test_a_replayed_version_that_is_replaced_in_the_same_batch_hands_on_what_it_retired() -> None:
    table = new_table()
    signed(table, SCHEME, 0, [Document("a", "1")])
    signed(table, SCHEME, 1, [Document("a", "2")])
    result = signed(table, SCHEME, 1, [Document("a", "2"), Document("a", "3")])
    assert posted(result, retired=True) == {0: buckets_of("1"), 1: buckets_of("2")}
    assert posted(result) == {2: buckets_of("3")}
    version = table.version("a")
    assert version is not None
    retired = table.retired_by(version.row)
    assert retired is not None
    assert retired.refs.tolist() == [0, 1]


# -- texts without shingles


def test_an_empty_text_is_a_version_without_postings() -> None:
    table = new_table()
    result = signed(table, SCHEME, 0, [Document("a", "1"), Document("b", ""), Document("c", " ")])
    assert posted(result) == {0: buckets_of("1")}
    assert table.rows(np.arange(3, dtype=np.uint64)).min() >= 0
    emptied = signed(table, SCHEME, 3, [Document("a", ""), Document("b", "2")])
    assert posted(emptied, retired=True) == {0: buckets_of("1")}
    assert posted(emptied) == {4: buckets_of("2")}
    assert [retirement.digest for retirement in emptied.retirements] == [0, int(SCHEME.sign(["2"]).digests[0])]


# -- time


def test_a_version_older_than_the_horizon_is_expired_on_arrival() -> None:
    table = new_table()
    result = signed(table, SCHEME, 0, [Document("a", "1", 99), Document("b", "1", 100)], horizon=Horizon(100))
    assert posted(result) == {1: buckets_of("1")}
    assert table.version("a") is None
    assert counted(result) == {"added": 1, "expired": 1}


def test_a_late_version_still_retires_its_predecessor() -> None:
    table = new_table()
    signed(table, SCHEME, 0, [Document("a", "1", 500)])
    result = signed(table, SCHEME, 1, [Document("a", "2", 50)], horizon=Horizon(100))
    assert posted(result) == {}
    assert posted(result, retired=True) == {0: buckets_of("1")}
    (retirement,) = result.retirements
    assert (retirement.ref, retirement.time_ms, retirement.keep_until_ms) == (1, 50, 500)
    assert not retirement.deleted, "settle derives from the time that it has expired"
    assert counted(result) == {"updated": 1, "expired": 1}
    again = signed(table, SCHEME, 1, [Document("a", "2", 50)], horizon=Horizon(100))
    assert posted(again, retired=True) == {0: buckets_of("1")}
    assert again.retirements == result.retirements


def test_the_replay_of_a_version_that_has_expired_since_retires_its_predecessor_and_is_no_delete() -> None:
    table = new_table()
    signed(table, SCHEME, 0, [Document("a", "1", 500)])
    signed(table, SCHEME, 1, [Document("a", "2", 50)])
    table.expire(Horizon(100))
    result = signed(table, SCHEME, 1, [Document("a", "2", 50)])
    assert posted(result) == {}
    assert posted(result, retired=True) == {0: buckets_of("1")}
    (retirement,) = result.retirements
    assert (retirement.ref, retirement.digest, retirement.deleted) == (1, 0, False)


def test_a_replay_is_posted_at_the_time_that_is_stored() -> None:
    table = new_table()
    signed(table, SCHEME, 0, [Document("a", "1", 500)])
    result = signed(table, SCHEME, 0, [Document("a", "1", 700)])
    assert result.postings is not None
    assert result.postings.times.tolist() == [500]


def test_extreme_times_and_refs_beyond_an_int64_pass() -> None:
    table = new_table()
    times = [BEGINNING_MS, -1, (1 << 63) - 1]
    result = signed(
        table, SCHEME, (1 << 48) - 9, [Document(str(t), "1", t) for t in times], partition=65_535, span_ms=1_000
    )
    assert result.postings is not None
    assert result.postings.times.tolist() == times
    assert result.postings.refs.tolist() == [make_ref(65_535, (1 << 48) - 9 + n) for n in range(3)]
    updated = signed(table, SCHEME, (1 << 48) - 5, [Document("-1", "2", 5)], partition=65_535)
    assert posted(updated, retired=True) == {make_ref(65_535, (1 << 48) - 8): buckets_of("1")}


def test_ids_may_hold_any_characters() -> None:
    table = new_table()
    signed(table, SCHEME, 0, [Document(id, "1") for id in AWKWARD_IDS])
    result = signed(table, SCHEME, 100, [Document(id, "2") for id in AWKWARD_IDS])
    assert [retirement.id for retirement in result.retirements] == list(AWKWARD_IDS)
    superseded = signed(table, SCHEME, 0, [Document(id, "1") for id in AWKWARD_IDS])
    assert {retirement.id for retirement in superseded.retirements} == set(AWKWARD_IDS)


# -- signatures that were made elsewhere


class Refusing(NamedShingles):
    """A scheme that must not compute signatures."""

    def sign(self, texts: object) -> Signatures:
        """Not here."""
        raise AssertionError("the signatures were given")


@pytest.mark.parametrize("case", range(30))
def test_presigned_batches_give_the_same_without_signing_again(case: int) -> None:
    rng = random.Random(case)
    one, other = new_table(), new_table()
    texts = (None, "", "1", "2 3", "4 5 1")
    documents = [Document(rng.choice("abcdef"), rng.choice(texts), rng.randint(0, 9)) for _ in range(66)]
    for first in range(0, 60, 6):
        offset = rng.choice((first, max(0, first - 3)))
        batch = documents[offset : offset + 6]
        presigned = SCHEME.sign([document.text or "" for document in batch])
        arrivals = Arrivals(0, range(offset, offset + 6), batch)
        expected = sign(arrivals, one, SCHEME, Horizon())
        got = sign(arrivals, other, Refusing(), Horizon(), presigned=presigned)
        assert (posted(got), posted(got, retired=True)) == (posted(expected), posted(expected, retired=True))
        assert (got.retirements, got.counts) == (expected.retirements, expected.counts)
    assert plain(one.snapshot(7)) == plain(other.snapshot(7))


# -- the real scheme


def test_the_real_scheme_retires_the_buckets_that_it_posted() -> None:
    scheme = TextScheme(0.7)
    table = DocumentTable(scheme.slots)
    rng = random.Random(5)
    texts = [" ".join(rng.choices("alpha beta gamma delta épsilon 日本 zeta".split(), k=12)) for _ in range(40)]
    first = signed(table, scheme, 0, [Document(str(n), text) for n, text in enumerate(texts)])
    second = signed(table, scheme, 40, [Document(str(n), text + " end") for n, text in enumerate(texts)])
    assert posted(second, retired=True) == posted(first)
    assert set(posted(second)) == set(range(40, 80))


def test_the_same_text_under_another_title_is_a_new_version_and_under_the_same_none() -> None:
    table, about = new_table(), About("Title", "wire", 3)
    document = Document("a", "1 2", 100, about)
    first = signed(table, SCHEME, 0, [document, document])
    assert counted(first) == {"added": 1, "unchanged": 1}
    assert first.record is not None
    assert first.record.abouts == [about]
    retitled = document._replace(about=about._replace(title="Another"))
    second = signed(table, SCHEME, 2, [document, retitled, retitled])
    assert counted(second) == {"unchanged": 2, "updated": 1}
    assert [(one.ref, one.digest, one.deleted, one.about) for one in second.retirements] == [
        (make_ref(0, 3), int(SCHEME.sign(["1 2"]).digests[0]), False, retitled.about)
    ]
    assert table.abouts(table.rows(np.array([make_ref(0, 3)], np.uint64))) == [retitled.about]
    gone = signed(table, SCHEME, 5, [Document("a", None)])
    assert [(one.deleted, one.about) for one in gone.retirements] == [(True, NO_ABOUT)]


def test_a_replay_retires_a_version_with_its_stored_metadata() -> None:
    table, about = new_table(), About("Title", "wire", 3)
    signed(table, SCHEME, 0, [Document("a", "1 2", 100, about)])
    newer = Document("a", "2 3", 100, about._replace(title="Another"))
    first = signed(table, SCHEME, 1, [newer])
    again = signed(table, SCHEME, 1, [newer])
    assert again.retirements == first.retirements
    assert again.retirements[0].about.title == "Another"
