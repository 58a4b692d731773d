"""The version of a document that counts, of those in several partitions and processes."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from stream_lsh.model import make_ref
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.worker.query.resources.pairs import Content, _contents, contents_of
from tests.unit.pipeline.makers import Row, record_of

SLOTS = 4
TEXTS: list[Content] = [("old", 1), ("new", 5), (None, 9), ("lone \ud800", 3)]
"""Of the document `d` in partitions of their own; the third one is deleted."""


def answer_of(partitions: list[int]) -> bytes:
    """The answer of a process with these partitions."""
    states = dict[int, Any]()
    for partition in partitions:
        text, time_ms = TEXTS[partition]
        table = DocumentTable(SLOTS)
        table.apply(record_of([Row("d", make_ref(partition, 0), time_ms, time_ms + 100, text)], SLOTS))
        states[partition] = SimpleNamespace(table=table)
    part: Any = SimpleNamespace(body=msgspec.json.encode(["d", "unknown"]), states=lambda: states)
    return asyncio.run(_contents(part))


@pytest.mark.parametrize(
    ("partitions", "expected"),
    [([0, 1], ("new", 5)), ([1, 0, 2], ("new", 5)), ([2], (None, 9)), ([0, 3], ("lone \ud800", 3)), ([], None)],
)
def test_the_newest_live_version_counts_in_one_process_and_across_several(
    partitions: list[int], expected: Content | None
) -> None:
    together, alone = [answer_of(partitions)], [answer_of([partition]) for partition in partitions]
    for answers in (together, alone):
        found = contents_of(answers)
        assert {id: tuple(version) for id, version in found.items()} == ({} if expected is None else {"d": expected})
    assert set(json.loads(together[0])) <= {"d"}
