"""The findings of an audit and the documents that it does not judge, without a broker."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from stream_lsh.config.model import PipelineConfig
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.ledger.decisions import Decision
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.ledger.sites.page_counts import AsOf, PageCounts
from stream_lsh.model import Document, Retirement, make_ref
from stream_lsh.pipeline.batches import BandsFrame, CandidatesFrame, EdgesFrame, Mark, VerificationsFrame, Watermarks
from stream_lsh.retention import Horizon
from stream_lsh.wire.fingerprint import fingerprint
from stream_lsh.wire.frames import Frame, encode
from stream_lsh.worker.clients.audit import Doubts, Published, Source, compare, count_effective
from tests.evaluation.edges import edges_of

TEXT = "one two three four five six seven eight nine ten"
ENDLESS = PipelineConfig(sources=("s",), retention_ms=None, kind=TextKind(threshold=0.5))


EDGE = Edge(End("a", 1, 5, 1), End("b", 2, 5, 2), 0.9, 9, 10)
PAGES = PageCounts(0, AsOf(3, 1), ["a.org"], np.array([1], np.uint32))
NO_PAGES = PageCounts(0, AsOf(3, 1), [], np.array([], np.uint32), begins=True, ends=True)
MARKS = Watermarks(0, (Mark(0, 1_000, False, 0, 1, 1),))


@pytest.mark.parametrize(
    ("topic", "frame", "count"),
    [
        ("edges", EdgesFrame(edges=edges_of([EDGE])), 1),
        ("edges", EdgesFrame(retirements=(Retirement("a", 1, 5, 0, deleted=False, keep_until_ms=5),)), 1),
        ("edges", EdgesFrame(decisions=(Decision("a", "b", "same", 7),)), 1),
        ("edges", EdgesFrame(pages=PAGES), 1),
        ("edges", EdgesFrame(pages=NO_PAGES), 1),
        ("edges", EdgesFrame(pages=PAGES, watermarks=MARKS), 1),
        ("edges", EdgesFrame(watermarks=MARKS), 0),
        ("bands", BandsFrame(lag=7), 0),
        ("bands", BandsFrame(horizon=Horizon(5)), 0),
        ("candidates", CandidatesFrame(watermarks=MARKS), 0),
        ("verifications", VerificationsFrame(watermarks=MARKS), 0),
    ],
)
def test_a_message_is_under_way_if_it_can_change_a_result(topic: str, frame: Frame, count: int) -> None:
    value = encode(frame, fingerprint(ENDLESS.kind.stored_settings()))
    assert count_effective(ENDLESS, ENDLESS.internal_topic(topic), [value]) == count


def test_any_message_of_a_source_counts_as_under_way() -> None:
    assert count_effective(ENDLESS, "s", [b"?", None]) == 2


def source_of(*documents: Document, span_ms: int | None = None) -> Source:
    source = Source()
    for offset, document in enumerate(documents):
        source.add(make_ref(0, offset), document, span_ms)
    return source


def published(*pairs: tuple[str, str], similarity: float = 1.0, cluster: str = "a") -> Published:
    return Published(dict.fromkeys(pairs, similarity), {one: cluster for pair in pairs for one in pair})


def findings_of(
    source: Source, results: Published, doubts: Doubts | None = None, pipeline: PipelineConfig = ENDLESS
) -> list[tuple[str, str]]:
    """The state of each finding, and its message up to the cases."""
    found = compare(pipeline, source, results, doubts or Doubts())
    return [(state, message.partition(":")[0]) for state, message in found]


def test_the_newest_version_counts_and_a_delete_is_one() -> None:
    source = source_of(
        Document("a", TEXT), Document("b", "else"), Document("b", TEXT), Document("c", TEXT), Document("c", None)
    )
    assert findings_of(source, published(("a", "b"))) == [("ok", "1 pair and 2 members of 2 documents are true")]
    assert ("wrong", "1 pairs are wrong") in findings_of(source, published(("a", "b"), ("a", "c")))


def test_records_of_another_program_are_wrong_and_the_others_are_still_compared() -> None:
    results = published(("a", "b"))
    foreign = [(b"garbage", b"{}"), (b'["a","c"]', b"?"), (b"\xff", None), (b'["a","c"]', b'{"a": 1}'), (b"[1]", b"5")]
    for key, value in foreign:
        results.add(SimpleNamespace(topic="p-matches", key=key, value=value, headers=[]), is_pair=True)
    for value in (b"garbage", b"[1]", b"{}"):
        results.add(SimpleNamespace(topic="p-members", key=b"x", value=value, headers=[]), is_pair=False)
    source = source_of(Document("a", TEXT), Document("b", TEXT))
    ((state, message),) = compare(ENDLESS, source, results, Doubts())
    assert state == "wrong"
    first = json.dumps(["p-matches", '["a","c"]'])
    assert message.startswith(f"8 records are not results: {first}, ")


def test_a_version_that_repeats_the_one_before_keeps_its_time_within_a_stretch() -> None:
    versions = [Document("a", TEXT, 1_000), Document("a", TEXT, 1_900), Document("a", TEXT, 2_000)]
    assert [one.time_ms for one in source_of(*versions[:2], span_ms=1_000).live.values()] == [1_000]
    assert [one.time_ms for one in source_of(*versions, span_ms=1_000).live.values()] == [2_000]


def copies(count: int) -> list[Document]:
    """Documents of one text, but for a word each, so that they are no twins."""
    return [Document(f"{number:03}", f"{TEXT} {TEXT} {TEXT} w{number}") for number in range(count)]


@pytest.mark.slow
def test_pairs_that_a_cap_may_leave_out_are_not_wrong_and_published_pairs_are_checked() -> None:
    documents = copies(60)
    capped = PipelineConfig(sources=("s",), retention_ms=None, kind=TextKind(threshold=0.5), max_candidates=2)
    free = PipelineConfig(sources=("s",), retention_ms=None, kind=TextKind(threshold=0.5), max_candidates=0)
    ids = [one.id for one in documents]
    every = [(left, right) for left in ids for right in ids if left < right]
    similarity = 10 / 12  # the windows that are in all, and the last one of each
    full = published(*every, similarity=similarity)
    assert findings_of(source_of(*documents), full, pipeline=free)[0][0] == "ok"
    # More than the chain finds under the same cap, and every pair holds.
    assert {state for state, _ in findings_of(source_of(*documents), full, pipeline=capped)} == {"note", "ok"}
    fewer = published(*every[:1], similarity=similarity)
    assert ("wrong", "1,769 pairs are missing") in findings_of(source_of(*documents), fewer, pipeline=free)
    assert {state for state, _ in findings_of(source_of(*documents), fewer, pipeline=capped)} == {"note"}
    untrue = published(*every, similarity=0.9)
    findings = findings_of(source_of(*documents), untrue, pipeline=capped)
    assert any(state == "wrong" and text.endswith("pairs are wrong") for state, text in findings)  # beyond the cap


@pytest.mark.parametrize("doubts", [Doubts(unsure={"b"}), Doubts(lost=True), Doubts(waiting=1)])
def test_uncertain_documents_are_never_reported_as_wrong(doubts: Doubts) -> None:
    results = published(("a", "b"), cluster="z")
    findings = findings_of(source_of(Document("a", TEXT)), results, doubts)
    assert {state for state, _ in findings} <= {"note", "ok"}
    assert "wrong" in {state for state, _ in findings_of(source_of(Document("a", TEXT)), results)}


def test_a_document_beyond_the_newest_that_are_kept_is_not_judged() -> None:
    kept = PipelineConfig(sources=("s",), retention_ms=None, kind=TextKind(threshold=0.5), max_documents=2)
    source = source_of(*(Document(one, TEXT) for one in "abc"))
    findings = findings_of(source, published(("b", "c")), pipeline=kept)
    assert findings == [
        ("note", "1 documents may have expired, or have no newest version, and are not audited"),
        ("ok", "1 pair and 2 members of 3 documents are true"),
    ]
    assert ("wrong", "1 pairs are missing") in findings_of(source, published(), pipeline=kept)


def test_results_that_kafka_has_deleted_are_not_missing() -> None:
    source = source_of(Document("a", TEXT), Document("b", TEXT))
    doubts = Doubts(gone=[ENDLESS.matches_topic])
    assert [state for state, _ in findings_of(source, Published({}, {"a": "a", "b": "a"}), doubts)] == ["note", "note"]
    assert ("wrong", "2 documents have no cluster") in findings_of(
        source, Published(), Doubts(gone=[ENDLESS.matches_topic])
    )
