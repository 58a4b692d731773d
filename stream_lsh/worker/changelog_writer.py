"""What goes to the changelogs: the records of batches, and behind these the slices of a pass.

`pipeline/changelog/rewrite.py` and `pipeline/changelog/ledger_rewrite.py` decide what is written when; the agents write
a changelog batch after batch.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from stream_lsh.pipeline.batches import BandsFrame
from stream_lsh.pipeline.changelog.head import extent_of_buckets, extent_of_documents
from stream_lsh.pipeline.changelog.records import DocumentsRecord, LedgerRecord
from stream_lsh.wire.frames import encode, encode_buckets
from stream_lsh.wire.ledger_parts import encode_ledger
from stream_lsh.wire.split import cut_documents, cut_postings
from stream_lsh.worker.changelogged_state import Taken
from stream_lsh.worker.engine import EngineApp
from stream_lsh.worker.engine_tables import StateTable
from stream_lsh.worker.state import Buckets, Documents, Ledger, PipelineState

Deliveries = list[Awaitable[Any]]


class Changelogs:
    """The changelogs of one pipeline.

    Args:
        app: the engine.
        state: of the pipeline.
        tables: that log it.
    """

    def __init__(self, app: EngineApp, state: PipelineState, tables: dict[str, StateTable]) -> None:
        self._app = app
        self._state = state
        self._tables = tables

    async def documents(self, partition: int, record: DocumentsRecord) -> Deliveries:
        """A record of sign, in as many records as it needs."""
        taken, state = self._state.taken_documents, self._state.documents[partition]
        return [await self._document(partition, part, taken(state, part)) for part in cut_documents(record)]

    async def copied_documents(self, partition: int, documents: Documents, record: DocumentsRecord) -> Deliveries:
        """The slices that are due behind a record which sign has written, and that is delivered."""
        passes, states = documents.passes, self._state.documents
        deliveries = Deliveries()
        if states.held().get(partition) is not documents:
            return deliveries  # the partition was taken away meanwhile, and the pass ends with the state
        log, written = states.head(partition), extent_of_documents(record).entries
        for copied in passes.slices(documents.table, log, written, record.retired_buckets.shape[1]):
            parts = cut_documents(copied)
            passes.sent(len(parts))
            for part in parts:
                # What is on disk has these versions already.
                taken = self._state.taken_documents(documents, part, np.zeros(len(part), np.bool_))
                deliveries.append(await self._document(partition, part, taken))
                _when_stored(deliveries[-1], lambda offset: self._document_copied(partition, documents, offset))
        self._trim_documents(partition, documents)
        return deliveries

    def _document_copied(self, partition: int, documents: Documents, offset: int) -> None:
        documents.passes.delivered(offset)
        self._trim_documents(partition, documents)

    def _trim_documents(self, partition: int, documents: Documents) -> None:
        """Give up what lies before a pass, if one is over."""
        began = documents.passes.take_over()
        if began is not None:
            self._state.documents.rewritten(partition, began)

    async def buckets(self, partition: int, frame: BandsFrame) -> Awaitable[Any]:
        """A record of index."""
        value = encode_buckets(frame, self._state.fingerprint)
        return await self._tables["buckets"].append(self._app, partition, value, Taken(extent_of_buckets(frame)))

    async def copied_buckets(self, partition: int, buckets: Buckets, postings: int) -> Deliveries:
        """What is due of a pass behind the records that index has sent of a batch with so many postings."""
        passes, states, deliveries = buckets.passes, self._state.buckets, Deliveries()
        if states.held().get(partition) is not buckets:
            return deliveries
        for copied in passes.records(buckets.table, states.head(partition).entries, postings):
            parts = [copied]
            if copied.postings is not None:
                parts = [replace(copied, postings=part) for part in cut_postings(copied.postings)]
            passes.sent(len(parts))
            for part in parts:
                deliveries.append(await self.buckets(partition, part))
                _when_stored(deliveries[-1], passes.delivered)
        return deliveries

    async def ledger(self, ledger: Ledger, records: Iterable[LedgerRecord]) -> int:
        """Records of settle, once they are delivered; returns their bytes."""
        parts = [part for record in records for part in encode_ledger(record, self._state.fingerprint)]
        await asyncio.gather(*[await self._tables["ledger"].append(self._app, 0, part) for part in parts])
        size = sum(map(len, parts))
        ledger.passes.wrote(size)
        return size

    async def copied_ledger(self, ledger: Ledger, written: int) -> Deliveries:
        """What is due of a pass behind the records of a batch with so many bytes, which are delivered."""
        passes, states, deliveries = ledger.passes, self._state.ledger, Deliveries()
        began = passes.take_over()
        if began is not None and states.held().get(0) is ledger:
            states.rewritten(0, began)
        for copied in passes.slices(ledger.settler, written):
            if states.held().get(0) is not ledger:
                break  # it was taken away meanwhile, and the pass ends with the state
            parts = encode_ledger(copied, self._state.fingerprint)
            passes.sent(len(parts), sum(map(len, parts)))
            for part in parts:
                deliveries.append(await self._tables["ledger"].append(self._app, 0, part))
                _when_stored(deliveries[-1], passes.delivered)
            await asyncio.sleep(0)  # a slice takes some ms: others have their turn between two
        return deliveries

    async def _document(self, partition: int, record: DocumentsRecord, taken: Taken) -> Awaitable[Any]:
        value = encode(record, self._state.fingerprint)
        return await self._tables["documents"].append(self._app, partition, value, taken)


def _when_stored(delivery: Awaitable[Any], do: Callable[[int], None]) -> None:
    """Do something, given its offset, once a record is in its log; nothing if it never is, which ends the worker."""

    def ended(future: Any) -> None:
        if not future.cancelled() and future.exception() is None:
            do(future.result().offset)

    cast(Any, delivery).add_done_callback(ended)
