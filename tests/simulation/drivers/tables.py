"""The contents of the tables of a partition, in a form that can be compared."""

from collections.abc import Set
from dataclasses import replace
from typing import Any

import numpy as np

from stream_lsh.index.sealed import DEAD
from stream_lsh.index.table import BandTable
from stream_lsh.model import ref_offset
from stream_lsh.pipeline.changelog.records import LedgerRecord
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.settle import Settler
from tests.simulation.log.broker import Broker
from tests.simulation.log.codec import decoded
from tests.simulation.pipelines.setup import Setup


def as_recovered(settler: Settler) -> LedgerRecord:
    """The contents of a ledger without the generations of reports: its next owner is in another generation.

    In that one no source is idle before it is reported again, and all pages are reported again.
    """
    record = settler.snapshot()
    rows = [
        replace(row, marks=tuple(mark._replace(idle=False, generation=-1, number=0) for mark in row.marks))
        for row in record.watermarks
    ]
    origins = [origin._replace(offset=-1, generation=-1) for origin in record.changes.site_origins]
    return replace(record, watermarks=tuple(rows), changes=replace(record.changes, site_origins=origins))


def rows_of(table: DocumentTable, without: Set[int] = frozenset()) -> list[tuple[Any, ...]]:
    """The contents of a table of documents, except the retirements by the versions `without`."""
    record = table.snapshot(bands=7)
    retired = record.retired_refs[~np.isin(record.refs[record.retired_rows], [*without])]
    columns = (record.refs, record.times, record.keep_until, record.digests, record.live, retired)
    assert isinstance(record.refs, np.ndarray)
    return [
        tuple(record.ids),
        tuple(record.texts),
        tuple(record.abouts),
        (record.acknowledged,),
        *(tuple(column.tolist()) for column in columns),
    ]


def acknowledged_to(setup: Setup, table: DocumentTable, offset: int, *, is_forgotten: bool) -> DocumentTable:
    """A table of documents that knows that the source is acknowledged up to an offset: itself, or else a copy.

    After Kafka has forgotten a group, a table also holds markers of messages below the offset, until it advances.
    """
    if table.acknowledged == offset and not is_forgotten:
        return table
    copy = setup.new_documents()
    copy.apply(replace(table.snapshot(setup.scheme.width), acknowledged=offset))
    copy.expire(table.horizon)
    return copy


def differently_retired(broker: Broker, partition: int, acknowledged: int) -> set[int]:
    """The versions from an offset of the source on that two owners stored with different retirements.

    Each owner retires what its predecessors have not delivered, and a late record of one may follow that of the other.
    """
    retirements: dict[int, set[bytes]] = {}
    for message in broker.read("documents-changelog", partition):
        record = decoded("documents-changelog", message.value)
        for row, ref in enumerate(record.refs.tolist()):
            retired = record.retired_refs[record.retired_rows == row]
            retirements.setdefault(ref, set()).add(retired.tobytes())
    return {ref for ref, found in retirements.items() if len(found) > 1 and ref_offset(ref) >= acknowledged}


def postings_of(table: BandTable, refs: set[int]) -> list[tuple[int, int]]:
    """The (bucket, ref) of some versions that a walk along all chains meets, ascending."""
    arrays, met = table.snapshot(), []
    for number in range(int(arrays["segments"][0])):
        owners = arrays[f"{number}.refs"].tolist()
        if f"{number}.keys" in arrays:
            keys, docs = arrays[f"{number}.keys"].tolist(), arrays[f"{number}.docs"].tolist()
            met += [(bucket, owners[doc]) for bucket, doc in zip(keys, docs, strict=True) if doc != DEAD]
            continue
        log = arrays[f"{number}.log"].tolist()
        for head in arrays[f"{number}.head"].tolist():
            row = head
            while row:
                bucket, link = log[row]
                met.append((bucket, owners[link & 0xFFFFFFFF]))
                row = link >> 32
    return sorted(posting for posting in met if posting[1] in refs)


def order_in_buckets(table: BandTable, refs: set[int]) -> dict[int, list[int]]:
    """The refs of some versions along each bucket, newest first."""
    buckets = sorted({bucket for bucket, _ in postings_of(table, refs)})
    along = {
        bucket: [
            int(segment.refs[ordinal])
            for segment in reversed(table._segments)
            for ordinal in segment.run(bucket, segment.first_row(bucket))
        ]
        for bucket in buckets
    }
    return {bucket: [ref for ref in found if ref in refs] for bucket, found in along.items()}
