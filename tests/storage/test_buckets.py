"""The band-bucket table on disk: the table of some offset of its changelog, whatever ends the process."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stream_lsh.errors import DamagedBytes, DoubtError
from stream_lsh.index.sealed import Sealed
from stream_lsh.index.segment import Segment
from stream_lsh.index.table import BandTable
from stream_lsh.model import make_ref
from stream_lsh.pipeline.changelog.head import Extent, LogHead
from stream_lsh.retention import Horizon
from stream_lsh.worker.storage.buckets import BucketStore, release_memory, stored_segment
from stream_lsh.worker.storage.folder import Identity

IDENTITY = Identity("app", "news", "buckets", 0, 4, f"{1:016x}", None)
SETTINGS: dict[str, Any] = {"segment_span_ms": 100, "first_capacity": 64, "cap_postings": 4}

Record = tuple[str, Any]
"""A change of a table: new postings, retired postings, or a horizon."""


def store_of(place: Path, identity: Identity = IDENTITY) -> BucketStore:
    return BucketStore(place, identity, **SETTINGS)


def records(rng: random.Random, count: int) -> list[Record]:
    log, there = list[Record](), dict[int, list[int]]()
    for offset in range(count):
        chance = rng.random()
        if chance < 0.1:
            log.append(("horizon", Horizon(offset * 10 - rng.choice((150, 400)))))
        elif chance < 0.3 and there:
            ref = rng.choice(list(there))
            log.append(("out", (ref, there.pop(ref))))
        else:
            ref, buckets = make_ref(rng.choice((0, 3)), offset), [rng.randrange(30) << 50 | rng.randint(0, 1)]
            buckets += [rng.getrandbits(63) << 1 for _ in range(rng.randint(0, 5))]
            there[ref] = buckets
            log.append(("in", (ref, offset * 10 - rng.choice((0, 80)), buckets)))
    return log


def apply(table: BandTable, record: Record) -> None:
    kind, value = record
    if kind == "horizon":
        table.expire(value.time_ms, np.array(value.min_offsets, np.uint64))
        return
    ref, *times, buckets = value
    columns = np.array([ref], np.uint64), np.zeros(len(buckets), np.int64), np.array(buckets, np.uint64)
    if kind == "in":
        table.insert(columns[0], np.array(times, np.int64), *columns[1:])
    else:
        table.retire(*columns)


def probed(table: BandTable, log: Sequence[Record]) -> list[Any]:
    """Whom a query meets in every bucket that there ever was, newest first."""
    buckets = np.unique(np.array([b for kind, value in log if kind != "horizon" for b in value[-1]], np.uint64))
    hits = [table.probe(np.zeros(1, np.int64), buckets[at : at + 1]) for at in range(buckets.size)]
    return [hit.old.tolist() for hit in hits] + [len(table), table.documents]


@pytest.mark.parametrize("case", range(25))
def test_after_every_restart_the_table_is_that_of_the_changelog(case: int, tmp_path: Path) -> None:
    rng = random.Random(case)
    log = records(rng, 300)
    store, plain = store_of(tmp_path / "b"), BandTable(**SETTINGS)
    table, head, at, saved = store.table, store.head, 0, 0
    while at < len(log):
        for offset in range(at, min(len(log), at + rng.randint(1, 60))):
            apply(table, log[offset])
            apply(plain, log[offset])
            head.note(offset, Extent(offset, (offset,)))
            at = offset + 1
        if rng.random() < 0.7:
            table.seal()
        if rng.random() < 0.6:
            captured = store.capture(table, at - 1, head, Horizon(5, (7,)))
            if rng.random() < 0.5 and at < len(log):  # the worker continues while a thread writes
                apply(table, log[at])
                apply(plain, log[at])
                at += 1
                head.note(at - 1, Extent(at - 1, (at - 1,)))
            release_memory(store.save(captured), captured.parts)
            saved += 1
        assert probed(table, log) == probed(plain, log)
        if rng.random() < 0.4:
            store.close()
            store = store_of(tmp_path / "b")
            table, head = store.table, store.head
            assert (store.offset is not None) == (saved > 0)
            if store.offset is not None:
                assert store.horizon == Horizon(5, (7,))
                assert head.runs[0] == (0, head.runs[0][1])
            at = 0 if store.offset is None else store.offset  # the engine reads the last record again
            plain = BandTable(**SETTINGS)
            for record in log[: at + 1]:
                apply(plain, record)
            apply(table, log[at])
            head.note(at, Extent(at, (at,)))
            at += 1
            assert probed(table, log) == probed(plain, log)
    assert saved


@pytest.mark.parametrize("abandoned", [False, True])
def test_a_copy_that_is_saved_late_does_not_replace_a_later_one(tmp_path: Path, *, abandoned: bool) -> None:
    log = records(random.Random(1), 300)
    store = store_of(tmp_path / "b")
    captures = []
    for at, record in enumerate(log):
        apply(store.table, record)
        if at in (149, 299):
            store.table.seal()
            captures.append(store.capture(store.table, at, LogHead(), Horizon()))
    first, second = captures
    release_memory(store.save(second), second.parts)
    if not abandoned:
        release_memory(store.save(first), first.parts)
    expected = probed(store.table, log)
    store.close()
    again = store_of(tmp_path / "b")
    assert again.offset == 299
    assert probed(again.table, log) == expected
    assert len([*(tmp_path / "b").iterdir()]) == len(second.parts) + 2


def saved(place: Path, count: int = 200) -> BucketStore:
    store = store_of(place)
    for record in records(random.Random(1), count):
        apply(store.table, record)
    store.table.seal()
    store.save(store.capture(store.table, count - 1, LogHead(), Horizon()))
    return store


def files(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir() if path.suffix == ".seg"}


def test_a_store_that_is_closed_before_a_copy_is_written_leaves_its_files(tmp_path: Path) -> None:
    place = tmp_path / "b"
    store = saved(place)
    apply(store.table, ("in", (make_ref(0, 1_000), 2_005, [1 << 50])))
    copy = store.capture(store.table, 200, store.head, Horizon())
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    store.close()
    assert store.save(copy) == {}, "the folder may have another owner"
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


def test_only_segments_that_changed_are_written_again_and_others_are_mapped(tmp_path: Path) -> None:
    place = tmp_path / "b"
    saved(place)
    store, before = store_of(place), files(place)
    sealed = [segment for segment in store.table.state[2] if isinstance(segment, Sealed)]
    assert len(sealed) > 2
    assert all(not segment.keys.flags.owndata for segment in sealed)
    apply(store.table, ("in", (make_ref(0, 1_000), 2_005, [1 << 50])))
    store.save(store.capture(store.table, 200, store.head, Horizon()))
    after = files(place)
    written, kept = after.keys() - before.keys(), after.keys() & before.keys()
    assert len(written) == 2, "the open segment, and what is beside the segments"
    assert len(kept) >= len(sealed)


def test_changes_of_mapped_segments_are_not_written_to_their_files(tmp_path: Path) -> None:
    place, log = tmp_path / "b", records(random.Random(1), 200)
    saved(place)
    before, store = files(place), store_of(place)
    open_one = store.table.state[2][-1]
    assert isinstance(open_one, Segment)
    assert not open_one.log.flags.owndata
    count = open_one.count
    apply(store.table, ("in", (make_ref(0, 1_000), open_one.until_ms - 1, [1 << 50])))
    assert (open_one.count, store.table.state[2][-1]) == (count + 1, open_one)
    apply(store.table, ("out", (make_ref(0, 1_000), [1 << 50])))
    for kind, value in log:
        if kind == "in":
            apply(store.table, ("out", (value[0], value[-1])))
    assert len(store.table) == 0
    assert files(place) == before
    assert len(store_of(place).table) > 0


@pytest.mark.parametrize("harm", ["flipped", "cut", "gone"])
@pytest.mark.parametrize("which", ["manifest", "segments"])
def test_damage_is_found_and_nothing_of_it_is_read(
    which: str, harm: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "b"
    saved(place)
    for file in [place / "manifest"] if which == "manifest" else sorted(place.glob("*.seg"))[:1]:
        data = bytearray(file.read_bytes())
        data[len(data) * 2 // 3] ^= 1
        file.unlink()
        if harm != "gone":
            file.write_bytes(data if harm == "flipped" else data[: len(data) // 2])
    store = store_of(place)
    assert (store.offset, len(store.table)) == (None, 0)
    assert ("it is removed, and the state read from the changelog" in caplog.text) == (
        (which, harm) != ("manifest", "gone")
    )


def test_every_flipped_bit_of_a_segment_is_found(tmp_path: Path) -> None:
    place = tmp_path / "b"
    saved(place, 12)
    before = _read(store_of(place))
    whole = {path: path.read_bytes() for path in [place / "manifest", *sorted(place.glob("*.seg"))]}
    for path, content in whole.items():
        for at in random.Random(3).sample(range(len(content)), 60):
            place.mkdir(exist_ok=True)
            for one, data in whole.items():
                one.write_bytes(data)
            changed = bytearray(content)
            changed[at] ^= 1 << at % 8
            path.write_bytes(changed)
            store = store_of(place)
            # The bytes between two arrays are never read.
            assert store.offset is None or _read(store) == before, (path.name, at)


@pytest.mark.parametrize("name", ["log", "head", "borders", "refs", "room"])
def test_a_segment_whose_file_lacks_an_array_or_room_is_damaged(name: str) -> None:
    table = BandTable(**SETTINGS)
    apply(table, ("in", (make_ref(0, 1), 5, [1 << 50])))
    arrays = table.state[2][0].snapshot()
    whole = np.zeros((int(arrays["fields"][0]) + 1, 2), np.uint64)
    whole[: len(arrays["log"])] = arrays["log"]
    assert stored_segment({**arrays, "log": whole}, "1.seg").live == 1
    harmed = arrays if name == "room" else {other: array for other, array in arrays.items() if other != name}
    with pytest.raises(DamagedBytes, match="rebuild the table"):
        stored_segment(harmed, "1.seg")


def _read(store: BucketStore) -> tuple[Any, ...]:
    """All that was read from the disk."""
    marks, in_parts, segments = store.table.state
    arrays = [one.arrays() if isinstance(one, Sealed) else one.snapshot() for one in segments]
    bytes_of = [{name: array.tobytes() for name, array in of_one.items()} for of_one in arrays]
    return store.offset, store.horizon, store.head.runs, marks.tobytes(), in_parts, bytes_of


def test_the_state_of_something_else_is_removed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    saved(tmp_path / "b")
    store = store_of(tmp_path / "b", replace(IDENTITY, fingerprint=f"{2:016x}"))
    assert (store.offset, len(store.table)) == (None, 0)
    assert "fingerprint: ours '0000000000000002', its '0000000000000001'" in caplog.text


def test_a_half_written_copy_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "b"
    store = saved(place)
    before = probed(store.table, records(random.Random(1), 200))
    apply(store.table, ("in", (make_ref(0, 1_000), 2_005, [1 << 50])))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("stream_lsh.worker.storage.buckets.write_archive", full)
    with pytest.raises(DoubtError, match=r"cannot be written \(.*No space left on device\): free some space"):
        store.save(store.capture(store.table, 200, store.head, Horizon()))
    again = store_of(place)
    assert again.offset == 199
    assert probed(again.table, records(random.Random(1), 200)) == before
