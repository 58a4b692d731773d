"""The database of documents: its files of keys, and how many it keeps open."""

import random
import resource
from pathlib import Path

import pytest

from stream_lsh.worker.storage.rocksdb import open_files_per_database, open_rocksdb


def test_keys_are_in_many_small_files_in_several_levels(tmp_path: Path) -> None:
    """With one large file, each compaction would write all keys again, and move the oldest tenth of the texts."""
    database, rng = open_rocksdb(tmp_path / "d"), random.Random(7)
    keys = [rng.randbytes(16) for _ in range(120_000)]
    for first in range(0, len(keys), 4_000):
        for key in keys[first : first + 4_000]:
            database[key] = rng.randbytes(40)
        database.flush()
    database.compact_range(b"\0", b"\1")  # waits for compactions that are under way
    files = [int(database.property_value(f"rocksdb.num-files-at-level{level}") or "") for level in range(1, 7)]
    assert sum(files) > 8
    assert sum(count > 0 for count in files) > 1
    database.close()
    largest = max(file.stat().st_size for file in (tmp_path / "d").glob("*.sst"))
    assert largest < 1 << 20


@pytest.mark.parametrize(
    ("limit", "databases", "expected"),
    [(1_024, 1, 256), (1_024, 4, 64), (10_240, 7, 256), (10_240, 20, 128), (resource.RLIM_INFINITY, 500, 256)],
)
def test_databases_share_a_quarter_of_the_open_files(
    limit: int, databases: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (limit, limit))
    assert open_files_per_database(databases) == expected
