"""The oldest live refs of a table of documents: a limit on the number of documents drops these first."""

import heapq

from stream_lsh.pipeline.documents.sharded_dict import ShardedDict

_SLACK = 16_384


class OldestRefs:
    """The live refs of a table in ascending order; built at the first use, then kept up to date.

    Refs that are no longer live stay until they outnumber the others.
    """

    def __init__(self) -> None:
        self._heap: list[int] | None = None

    def add(self, ref: int) -> None:
        """Add the ref of a live version."""
        if self._heap is not None:
            heapq.heappush(self._heap, ref)

    def tidy(self, live: int) -> None:
        """Rebuild the refs from scratch at the next use if most are not live; `live` is the number of live ones."""
        if self._heap is not None and len(self._heap) > 2 * live + _SLACK:
            self._heap = None

    def after(self, count: int, live: ShardedDict[int]) -> int:
        """The lowest live ref after the first `count` ones.

        Args:
            count: less than the number of live refs.
            live: all live refs.

        Cost: O(log n) for each of the refs passed over; one pass over all of them the first time.
        """
        if self._heap is None:
            self._heap = sorted(live)  # an ascending list is a heap
        oldest: list[int] = []
        while len(oldest) <= count:
            ref = heapq.heappop(self._heap)
            if ref in live and oldest[-1:] != [ref]:
                oldest.append(ref)
        for ref in oldest:
            heapq.heappush(self._heap, ref)
        return oldest[count]
