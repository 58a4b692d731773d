"""When a copy is saved and used: never with more than the changelog holds, and never if it is too old."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stream_lsh.config import parse
from stream_lsh.model import Document
from stream_lsh.pipeline.batches import BandsFrame, EdgesFrame, Postings
from stream_lsh.pipeline.changelog.head import Extent, extent_of_buckets
from stream_lsh.pipeline.sign import Arrivals
from stream_lsh.retention import Horizon
from stream_lsh.wire.frames import encode, encode_buckets
from stream_lsh.wire.ledger_parts import encode_ledger
from stream_lsh.worker.state.changelogged import Applied, Changelogged
from stream_lsh.worker.state.pipeline_state import PipelineState
from stream_lsh.worker.storage.folder import DataFolder, Storage
from tests.unit.pipeline.signing import sign
from tests.unit.worker.deliveries import Delivered

PIPELINE = parse('[[pipeline]]\nname = "p"\nsource = "s"\n', "test.toml", {}).pipelines[0]
TABLES = ("documents", "buckets", "ledger")


def owned(folder: DataFolder, table: str) -> tuple[PipelineState, Changelogged[Any]]:
    """A worker's state with the partition of one table, and what is on disk of it."""
    state = PipelineState(PIPELINE, 1)
    state.storage = Storage(folder, "app", {})
    states: Changelogged[Any] = getattr(state, table)
    states.own(0)
    return state, states


def signed(state: PipelineState, offset: int) -> tuple[bytes, Applied]:
    """Sign takes a message; its record."""
    table = state.documents[0].table
    arrivals = Arrivals(0, [offset], [Document(f"d{offset}", "some text of a few words", offset)])
    record = sign(arrivals, table, state.scheme, table.horizon).record
    assert record is not None
    return encode(record, state.fingerprint), state.applied_documents(state.documents[0], record)


def indexed(state: PipelineState, offset: int) -> tuple[bytes, Applied]:
    """Index takes a frame; its record."""
    one = np.array([offset], np.uint64)
    postings = Postings(one, one.astype(np.int64), np.zeros(1, np.bool_), np.zeros(1, np.int64), one + np.uint64(7))
    state.buckets[0].table.insert(postings.refs, postings.times, postings.rows, postings.buckets)
    state.buckets[0].unsaved += 1
    return encode_buckets(BandsFrame(postings), state.fingerprint), Applied(extent_of_buckets(BandsFrame(postings)))


def settled(state: PipelineState, offset: int) -> tuple[bytes, Applied]:
    """Settle takes a frame; its record."""
    settlement = state.ledger[0].settler.settle(EdgesFrame(), offset)
    assert settlement is not None
    return encode_ledger(settlement.record, state.fingerprint)[0], Applied(Extent())


Agent = Callable[[PipelineState, int], tuple[bytes, Applied]]
AGENTS: dict[str, Agent] = {"documents": signed, "buckets": indexed, "ledger": settled}


def held(folder: DataFolder, table: str) -> tuple[int | None, int]:
    """How far the copy on disk goes, and how much is in it: of the ledger, how many messages were settled."""
    _, states = owned(folder, table)
    state = states[0]
    amount = state.settler.applied_offset + 1 if table == "ledger" else len(state.table)
    found = states.offset(0), amount
    states.clear()
    return found


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("ahead", ["in hand", "under way", "nothing"])
def test_a_state_that_is_ahead_of_its_changelog_is_not_saved(table: str, ahead: str, tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    state, states = owned(folder, table)
    for offset in (0, 1):
        _, taken = AGENTS[table](state, offset)
        states[0].is_ahead = offset == 1 and ahead == "in hand"
        confirm = states.appended(0, taken)
        if offset == 0 or ahead == "nothing":
            confirm(Delivered(offset))
    if ahead == "in hand":
        states.under_way = lambda partition: 0  # type: ignore[method-assign]  # its record is not even sent
    state.save_all()
    states.clear()
    before = (0, 1) if table == "documents" else (None, 0)  # documents are written with each record
    assert held(folder, table) == ((1, 2) if ahead == "nothing" else before)
    folder.close()


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("first", "end"), [(0, 2), (2, 2), (2, 9), (0, 1), (3, 9)])
def test_a_copy_is_used_if_the_changelog_continues_it_and_removed_otherwise(
    table: str, first: int, end: int, tmp_path: Path
) -> None:
    folder = DataFolder(tmp_path)
    state, states = owned(folder, table)
    for offset in (0, 1):
        _, taken = AGENTS[table](state, offset)
        states.appended(0, taken)(Delivered(offset))
    state.save_all()
    states.clear()
    _, states = owned(folder, table)
    states.fit(0, first, end)
    fits = first <= 2 <= end
    assert states.offset(0) == (1 if fits else None)
    states.clear()
    assert held(folder, table) == ((1, 2) if fits else (None, 0)), "what does not fit is gone from the disk too"
    folder.close()


@pytest.mark.parametrize("horizon", [Horizon(5), Horizon(0, (5,)), Horizon(25)])
def test_versions_that_expire_before_their_record_is_confirmed_are_not_written(
    horizon: Horizon, tmp_path: Path
) -> None:
    """Its contents would stay on disk for ever: what has expired is deleted once."""
    folder = DataFolder(tmp_path)
    state, states = owned(folder, "documents")
    documents = state.documents[0]
    record = sign(
        Arrivals(0, [3, 4], [Document("a", "one text", 20), Document("b", "another text", 4)]),
        documents.table,
        state.scheme,
        Horizon(),
    ).record
    assert record is not None
    later = sign(Arrivals(0, [6], [Document("a", "a text", 4)]), documents.table, state.scheme, Horizon()).record
    assert later is not None
    documents.table.expire(horizon)
    for offset, one in enumerate((record, later)):
        states.appended(0, state.applied_documents(documents, one))(Delivered(offset))
    store = documents.store
    assert store is not None
    live = {"a"} if documents.table.rows(later.refs)[0] >= 0 else set[str]()
    known = {id for id in ("a", "b") if documents.table.version(id) is not None}
    assert [len([*store._items(prefix)]) for prefix in (b"t", b"s", b"v")] == [len(live), len(live), len(known)]
    states.clear()
    folder.close()
