"""A topic that ends before an offset that was read has lost messages, and writes other ones under their offsets.

That happens where a topic is deleted and created anew, and where an unclean leader election truncates it.  The state
knows versions, edges and decisions by their offsets, and would pass over whatever comes at an offset that it has seen.
"""

from collections.abc import Mapping
from typing import Any

from faust.types import TP

from stream_lsh.errors import StateError
from stream_lsh.model import ref_offset, ref_partition
from stream_lsh.wire.manifest import LOST
from stream_lsh.worker.engine.topics import raise_all
from stream_lsh.worker.state import PipelineState


def seen_offsets(state: PipelineState) -> dict[TP, int]:
    """The highest offset that was read of each partition, as far as the states and agents here know; -1 for none.

    Cost: 2 ns for each version in the documents tables.
    """
    config = state.config
    seen = {tp: position - 1 for tp, position in state.traffic.positions.items()}
    for partition, documents in state.documents.held().items():
        tp = TP(config.documents_topic, partition)
        seen[tp] = max(seen.get(tp, -1), documents.table.newest_offset())
    for ledger in state.ledger.held().values():
        tp = TP(config.internal_topic("edges"), 0)
        seen[tp] = max(seen.get(tp, -1), ledger.settler.applied_offset)
        newest_ref = ledger.settler.ledger.decisions.newest_ref
        if newest_ref >= 0:
            tp = TP(config.decisions_topic, ref_partition(newest_ref))
            seen[tp] = max(seen.get(tp, -1), ref_offset(newest_ref))
    return seen


async def expect_ends(consumer: Any, seen: Mapping[TP, int]) -> None:
    """Every partition ends behind what was read of it.

    Raises:
        StateError: one does not -> docs/operations.md.
        KafkaError: the broker does not tell where they end.
    """
    ends = await consumer.highwaters(*seen) if seen else {}
    raise_all(
        [
            StateError(
                f"{tp.topic}, partition {tp.partition}: ends at offset {ends[tp]}, expected an end behind offset "
                f"{offset}, which was read: it was deleted and created anew, or truncated by an unclean leader "
                f"election, and what it lost is not in the results; see {LOST}"
            )
            for tp, offset in sorted(seen.items())
            if ends.get(tp) is not None and ends[tp] <= offset
        ]
    )
