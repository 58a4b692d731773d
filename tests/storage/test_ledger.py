"""The ledger on disk: the one that was saved, or none."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from stream_lsh.errors import DoubtError
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.model import About, Retirement, make_ref
from stream_lsh.pipeline.changelog.ledger_rewrite import LogSizes
from stream_lsh.pipeline.changelog.records import LedgerRecord
from stream_lsh.pipeline.settle import Settler
from stream_lsh.retention import Horizon
from stream_lsh.worker.storage.folder import Identity
from stream_lsh.worker.storage.ledger import LedgerStore

FINGERPRINT = 1
IDENTITY = Identity("app", "news", "ledger", 0, 4, f"{FINGERPRINT:016x}", "an id")


def store_of(place: Path, identity: Identity = IDENTITY) -> LedgerStore:
    return LedgerStore(place, identity, FINGERPRINT)


def settler_of() -> Settler:
    return Settler(0.5, 4, 1_000, 0, stories=True)


def settle(settler: Settler, offset: int, rng: random.Random) -> LedgerRecord:
    """Some documents find each other, some change, some expire; the record of it."""
    abouts = [About(f"{offset}", rng.choice("xyz"), rng.randrange(5)) for _ in range(6)]
    drawn = zip(rng.sample(range(40), 6), abouts, strict=True)
    ends = [End(f"{id}", make_ref(0, offset), offset, rng.randrange(5), about) for id, about in drawn]
    pairs = [sorted(ends[at : at + 2]) for at in (0, 2, 4)]
    edges = [Edge(one, other, 0.75, 3, 4) for one, other in pairs]
    gone = rng.random() < 0.5
    changed = [
        Retirement(ends[0].id, make_ref(0, offset), offset, ends[0].digest, deleted=gone, keep_until_ms=offset + 50)
    ]
    horizon = Horizon(offset - 100) if rng.random() < 0.2 else None
    settled = settler.ledger.settle(offset, retirements=changed, edges=edges, horizon=horizon)
    settler.applied_offset = offset
    return LedgerRecord(offset, settled.changes, ())


@pytest.mark.parametrize("case", range(10))
def test_a_restored_ledger_continues_as_if_it_had_not_stopped(case: int, tmp_path: Path) -> None:
    rng, settler = random.Random(case), settler_of()
    for offset in range(200):
        settle(settler, offset, rng)
        if offset % 20 == 19:
            store_of(tmp_path / "l").save(settler.snapshot(), offset, LogSizes(7, offset, 9))
            store = store_of(tmp_path / "l")
            assert (store.offset, store.sizes) == (offset, LogSizes(7, offset, 9))
            again = settler_of()
            assert store.record is not None
            again.apply(store.record)
            assert again.snapshot() == settler.snapshot()
            state = rng.getstate()  # what it does next is the same, expiry and all
            expected = settle(settler, offset + 1_000_000, rng)
            rng.setstate(state)
            assert settle(again, offset + 1_000_000, rng) == expected
            settler = settler_of()
            settler.apply(store.record)


def saved(place: Path) -> None:
    settler = settler_of()
    settle(settler, 5, random.Random(0))
    store_of(place).save(settler.snapshot(), 5, LogSizes())


@pytest.mark.parametrize(
    "identity", [replace(IDENTITY, changelog="another id"), replace(IDENTITY, application="other")]
)
def test_the_ledger_of_something_else_is_removed(
    identity: Identity, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    saved(tmp_path / "l")
    store = store_of(tmp_path / "l", identity)
    assert (store.offset, store.record) == (None, None)
    assert "belongs to another state" in caplog.text


def test_damage_is_found_wherever_it_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    saved(tmp_path / "l")
    file = tmp_path / "l" / "snapshot"
    data = file.read_bytes()
    for at in range(0, len(data), 7):
        harmed = bytearray(data)
        harmed[at] ^= 0x40
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(bytes(harmed))
        store = store_of(tmp_path / "l")
        assert (store.offset, store.record, file.exists()) == (None, None, False), at
    for length in range(0, len(data), 11):
        file.write_bytes(data[:length])
        store = store_of(tmp_path / "l")
        assert (store.offset, store.record) == (None, None), length
    assert "the state read from the changelog" in caplog.text


def test_a_ledger_that_cannot_be_written_is_the_surroundings_fault(tmp_path: Path) -> None:
    store = store_of(tmp_path / "l")
    (tmp_path / "l").rmdir()
    with pytest.raises(DoubtError, match="free some space"):
        store.save(settler_of().snapshot(), 1, LogSizes())
