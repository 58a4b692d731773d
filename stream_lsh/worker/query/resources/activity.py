"""`GET /v1/pipelines/{pipeline}/activity`: rates since some minutes ago, and the buckets that the caps cut most often.

rates         the owners of the documents return what they have counted in each interval
hot-buckets   the owners of the buckets return those that a probe most often did not follow to their end
examples      the owners of the documents describe one document of each such bucket
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
import numpy as np

from stream_lsh.index.walk import newest_refs
from stream_lsh.model import ref_partition
from stream_lsh.wire.public import as_json
from stream_lsh.wire.route import bucket_partitions
from stream_lsh.worker.query.distributed.peers import Asked, Gathered
from stream_lsh.worker.query.distributed.standing import table_partitions
from stream_lsh.worker.query.distributed.steps import Part, Step, Steps
from stream_lsh.worker.query.http.server import Answer, Handler, Request
from stream_lsh.worker.query.resources.resource import Context, Resource
from stream_lsh.worker.state.pipeline_state import PipelineState

INTERVAL_MS, SAMPLES = 2_000, 300
"""The time between two samples, and the intervals that are kept: ten minutes."""
MOST_HOT, MOST_POSTINGS = 5, 1_000
"""The buckets that are listed; the postings of each that are counted."""
_LOOKED_AT, _EXAMPLES = 20, 3
_EXCERPT = 160


class Totals(NamedTuple):
    """Counts of one pipeline in one process, or their rates per second."""

    documents: float
    matches: float
    dead_letters: float


class Rates:
    """The rates of one pipeline in one process: a ring of samples of its counts.

    Args:
        samples: intervals that are kept.

    Example:
        >>> rates = Rates(samples=2)
        >>> for second, documents in ((0, 0), (2, 10), (4, 10), (6, 30)):
        ...     rates.add(second, Totals(documents, 0, 0))
        >>> [rate.documents for rate in rates.per_second()]
        [0.0, 10.0]
    """

    def __init__(self, samples: int = SAMPLES) -> None:
        self._samples: deque[tuple[float, Totals]] = deque(maxlen=samples + 1)

    def add(self, now: float, totals: Totals) -> None:
        """Add the present counts; `now` is in monotonic seconds."""
        self._samples.append((now, totals))

    def per_second(self) -> list[Totals]:
        """The rates of each interval, oldest first."""
        return [
            Totals(*((new - old) / (now - before) for new, old in zip(totals, earlier, strict=True)))
            for (before, earlier), (now, totals) in pairwise(self._samples)
        ]


def summed(rates: Iterable[Sequence[Sequence[float]]]) -> list[Totals]:
    """The rates of several processes as one; the latest intervals coincide.

    Example:
        >>> summed([[(1, 0, 0), (2, 0, 0)], [(5, 1, 0)]])
        [Totals(documents=1, matches=0, dead_letters=0), Totals(documents=7, matches=1, dead_letters=0)]
    """
    found = list[Totals]()
    for one in rates:
        for place, rate in enumerate(reversed(one)):
            if place < len(found):
                found[place] = Totals(*map(sum, zip(found[place], rate, strict=True)))
            else:
                found.append(Totals(*rate))
    return found[::-1]


class Activity(Resource):
    """Describes what a pipeline does now.

    Cost: one sample of three counters every two seconds.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._rates: dict[str, Rates] = {}
        self._sampling: asyncio.Task[None] | None = None

    def handlers(self) -> Mapping[str, Handler]:
        """The only one."""
        return {"activity": self.activity}

    def steps(self) -> Steps:
        """Rates, hot buckets and their examples."""
        return {
            "rates": Step("documents", self._rates_here),
            "hot-buckets": Step("buckets", _hot_buckets),
            "examples": Step("documents", _examples),
        }

    async def start(self) -> None:
        """Sample the counts from now on."""
        self._rates = {name: Rates() for name in self.context.pipelines}
        self._sampling = asyncio.create_task(self._sample(), name="samples of counts")

    async def stop(self) -> None:
        """Sample no more."""
        if self._sampling is not None:
            self._sampling.cancel()

    async def _sample(self) -> None:
        while True:
            now = time.monotonic()
            for name, rates in self._rates.items():
                counts = self.context.pipelines[name].counts
                rates.add(now, Totals(counts.documents, counts.matches, sum(counts.dead_letters.values())))
            await asyncio.sleep(INTERVAL_MS / 1_000)

    # -- the process that is asked

    async def activity(self, request: Request) -> Answer:
        """The rates of all processes together, and the hottest buckets of all."""
        state = self.context.pipeline(request)
        counted, hot = await asyncio.gather(
            self._ask(state, "rates", "documents", request), self._ask(state, "hot-buckets", "buckets", request)
        )
        rates = [rates for _, body in counted.answers if (rates := json.loads(body)) is not None]
        buckets = sorted(
            (bucket for _, body in hot.answers for bucket in json.loads(body)), key=lambda one: -one["left_out"]
        )[:MOST_HOT]
        examples = await self._described(state, request, [ref for one in buckets for ref in one["refs"]])
        for bucket in buckets:
            found = [examples[ref] for ref in bucket.pop("refs") if ref in examples]
            bucket["example"] = found[0] if found else None
        missing = {"documents": counted.missing, "buckets": hot.missing}
        return Answer(
            {
                "rates": _columns(summed(rates)) if rates else None,
                "hot_buckets": buckets,
                "missing": {table: absent for table, absent in missing.items() if absent},
            }
        )

    async def _described(self, state: PipelineState, request: Request, refs: Sequence[int]) -> dict[int, Any]:
        """The documents of refs, as far as they are stored."""
        partitions = {*map(ref_partition, refs)}
        if not partitions:
            return {}
        body = msgspec.json.encode(refs)
        asked = Asked(state, "examples", partitions, lambda _: body, request, partial=True)
        gathered = await self.context.peers.gather(asked)
        return {ref: document for _, answer in gathered.answers for ref, document in json.loads(answer)}

    async def _ask(self, state: PipelineState, step: str, table: str, request: Request) -> Gathered:
        asked = Asked(state, step, table_partitions(state, table), lambda _: b"", request, partial=True)
        return await self.context.peers.gather(asked)

    # -- the processes that have the states

    async def _rates_here(self, part: Part) -> bytes:
        """The rates of this process; null if it only follows the states, and so counts nothing."""
        rates = self._rates.get(part.state.config.name)
        return as_json(rates.per_second() if rates is not None and part.state.documents.owned() else None)


def _columns(rates: Sequence[Totals]) -> dict[str, Any]:
    columns = {name: [round(getattr(rate, name), 2) for rate in rates] for name in Totals._fields}
    return {"interval_ms": INTERVAL_MS, **columns}


async def _hot_buckets(part: Part) -> bytes:
    """The buckets in these partitions that the cap cut most often, with the refs of their newest versions."""
    state, found = part.state, list[dict[str, Any]]()
    for bucket, left_out in state.counts.capped_by_bucket.largest(_LOOKED_AT):
        (partition,) = bucket_partitions(np.array([bucket], np.uint64), state.partitions).tolist()
        buckets = part.states().get(partition)
        refs = () if buckets is None else newest_refs(buckets.table.state[2], bucket, MOST_POSTINGS).tolist()
        if refs:
            found.append(
                {
                    "rule": state.scheme.block(bucket) or None,
                    "identical": bucket & 1 == 1,
                    "left_out": left_out,
                    "postings": len(refs),
                    "refs": refs[:_EXAMPLES],
                }
            )
        if len(found) == MOST_HOT:
            break
        await asyncio.sleep(0)
    return as_json(found)


async def _examples(part: Part) -> bytes:
    """The documents of refs in these partitions: ref and description of each that is stored."""
    refs, found = msgspec.json.decode(part.body, type=list[int]), list[tuple[int, dict[str, Any]]]()
    for partition, documents in part.states().items():
        here = [ref for ref in refs if ref_partition(ref) == partition]
        rows = documents.table.rows(np.array(here, np.uint64))
        for ref, row in zip(here, rows.tolist(), strict=True):
            if row >= 0:
                text, about = documents.table.content(row)
                (id,) = documents.table.ids(np.array([row], np.int64))
                metadata = part.state.results.metadata(about)
                found.append((ref, {"id": id, **metadata} | ({} if about.title else {"text": text[:_EXCERPT]})))
    return as_json(found)
