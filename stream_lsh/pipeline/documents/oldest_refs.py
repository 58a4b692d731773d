"""The oldest live refs of a table of documents: what a limit on the number of documents drops first."""

import heapq

from stream_lsh.pipeline.documents.sharded_dict import ShardedDict

_SLACK = 16_384


class OldestRefs:
    """The live refs of a table in ascending order; built when they are first asked for, then kept up to date.

    Refs that are not live any more stay until there are more of them than of the others.
    """

    def __init__(self) -> None:
        self._heap: list[int] | None = None

    def add(self, ref: int) -> None:
        """A version is live."""
        if self._heap is not None:
            heapq.heappush(self._heap, ref)

    def tidy(self, live: int) -> None:
        """Begin anew where most of the refs are not live; `live` is how many are."""
        if self._heap is not None and len(self._heap) > 2 * live + _SLACK:
            self._heap = None

    def after(self, count: int, live: ShardedDict[int]) -> int:
        """The lowest live ref but so many.

        Args:
            count: fewer than are live.
            live: all refs that are.

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
