"""A topic that ends before an offset that was read has lost messages, and reuses their offsets for other messages.

That happens when a topic is deleted and recreated, and when an unclean leader election truncates it.  The state
identifies versions, edges and decisions by their offsets, and would skip new messages at offsets that it has seen.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from faust.types import TP

from stream_lsh.errors import StateError
from stream_lsh.model import ref_offset, ref_partition
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.settle import Settler
from stream_lsh.wire.manifest import LOST
from stream_lsh.worker.engine.topics.required import raise_all
from stream_lsh.worker.state.changelogged import Changelogged
from stream_lsh.worker.state.pipeline_state import PipelineState

_HOW = (
    "it was deleted and recreated, or truncated by an unclean leader election, and the lost messages are missing in the"
)


def seen_offsets(state: PipelineState, committed: Mapping[TP, int | None]) -> dict[TP, int]:
    """The highest known offset that was read or written of each partition; -1 for none.

    Args:
        state: of a pipeline.
        committed: the committed offset of each partition that is assigned here.

    Cost: 2 ns for each version in the documents tables.
    """
    config = state.config
    topics = {
        "documents": config.documents_topic,
        "edges": config.internal_topic("edges"),
        "decisions": config.decisions_topic,
    }
    tables = {partition: documents.table for partition, documents in state.documents.owned().items()}
    offsets = known_offsets(tables, (ledger.settler for ledger in state.ledger.owned().values()))
    logs: dict[str, Changelogged[Any]] = {
        "documents": state.documents,
        "buckets": state.buckets,
        "ledger": state.ledger,
    }
    read = {*topics.values(), *config.sources, *config.step_topics}
    return highest(
        {tp: position - 1 for tp, position in state.traffic.positions.items()},
        {tp: offset - 1 for tp, offset in committed.items() if offset is not None and tp.topic in read},
        {TP(topics[name], partition): offset for (name, partition), offset in offsets.items()},
        {
            TP(config.changelog_topic(name), partition): offset
            for name, log in logs.items()
            for partition in log.partitions()
            if (offset := log.offset(partition)) is not None
        },
    )


def known_offsets(documents: Mapping[int, DocumentTable], settlers: Iterable[Settler]) -> dict[tuple[str, int], int]:
    """The highest offset that tables and ledgers know, by topic (`documents`, `edges` or `decisions`) and partition."""
    offsets = {("documents", partition): table.newest_offset() for partition, table in documents.items()}
    for settler in settlers:
        offsets["edges", 0] = settler.applied_offset
        newest_ref = settler.ledger.decisions.newest_ref
        if newest_ref >= 0:
            offsets["decisions", ref_partition(newest_ref)] = ref_offset(newest_ref)
    return offsets


def highest(*seen: Mapping[TP, int]) -> dict[TP, int]:
    """The highest offset of each partition in any of these mappings."""
    joined: dict[TP, int] = {}
    for offsets in seen:
        for tp, offset in offsets.items():
            joined[tp] = max(joined.get(tp, -1), offset)
    return joined


def lost_ends(seen: Mapping[TP, int], ends: Mapping[TP, int | None]) -> list[StateError]:
    """A problem for each partition that ends at or before an offset that was read.

    Example:
        >>> [problem] = lost_ends({TP("app-news-edges", 0): 7, TP("docs", 0): 7}, {TP("app-news-edges", 0): 3})
        >>> print(str(problem).partition(": it was")[0])
        app-news-edges, partition 0: ends at offset 3, expected an end after offset 7, which was read
    """
    return [
        StateError(
            f"{tp.topic}, partition {tp.partition}: ends at offset {end}, expected an end after offset {offset}, "
            f"which was read: {_HOW} results; see {LOST}"
        )
        for tp, offset in sorted(seen.items())
        if (end := ends.get(tp)) is not None and end <= offset
    ]


def lost_records(changelog: str, applied_offset: int, committed: int | None) -> list[StateError]:
    """A problem if a ledger lacks acknowledged messages of `edges`: its changelog had a record of each.

    Args:
        changelog: of the ledger.
        applied_offset: the last message of `edges` in the ledger; -1 for none.
        committed: the committed offset of `edges`; None for none.

    Example:
        >>> lost_records("app-news-ledger-changelog", 41, 42)
        []
        >>> len(lost_records("app-news-ledger-changelog", -1, 42))
        1
    """
    if committed is None or committed <= applied_offset + 1:
        return []
    return [
        StateError(
            f"{changelog}: its last record is of offset {applied_offset} of `edges`, expected one of offset "
            f"{committed - 1}, which is acknowledged: {_HOW} ledger; see {LOST}"
        )
    ]


async def expect_ends(consumer: Any, seen: Mapping[TP, int]) -> None:
    """Check that every partition ends behind the offsets that were read of it.

    Raises:
        StateError: a partition ends earlier -> docs/operations/errors.md.
        KafkaError: the broker does not report the ends.
    """
    raise_all(lost_ends(seen, await consumer.highwaters(*seen) if seen else {}))


def expect_records(state: PipelineState, committed: Mapping[TP, int | None]) -> None:
    """Check that a ledger that this worker owns contains all acknowledged messages.

    Raises:
        StateError: it lacks some -> docs/operations/errors.md.
    """
    config = state.config
    for partition, ledger in state.ledger.owned().items():
        edges = TP(config.internal_topic("edges"), partition)
        changelog = config.changelog_topic("ledger")
        raise_all(lost_records(changelog, ledger.settler.applied_offset, committed.get(edges)))
