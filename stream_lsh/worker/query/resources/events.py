"""Server-sent events: `GET /v1/pipelines/{pipeline}/events`.

A stream begins now, or after the position in `Last-Event-ID`, which another worker may have sent.  In that case, it
begins with the records of the topics from there on.
"""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any

from aiohttp import web
from faust.types import TP

from stream_lsh.errors import StreamLSHError
from stream_lsh.worker.clients.topic_reader import bounds, partitions_of, records
from stream_lsh.worker.query.http.server import Answer, Handler, Request
from stream_lsh.worker.query.resources.event_stream import (
    COMMENT,
    events,
    place_event,
    read_place,
    topics_of,
    types_of,
)
from stream_lsh.worker.query.resources.public_results import Listener, PublicResults
from stream_lsh.worker.query.resources.resource import Context, Resource

COMMENT_SECONDS = 15.0
_log = logging.getLogger(__name__)
_HEADERS = {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def _cut(http: Any) -> None:
    """Close the connection of a request; a write that waits for its reader raises ConnectionError."""
    if http.transport is not None:  # otherwise the listener has left
        http.transport.abort()


class Events(Resource):
    """Streams of the changes of results.

    Args:
        context: the process.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._results = PublicResults(context.config.kafka)

    def handlers(self) -> Mapping[str, Handler]:
        """The only one."""
        return {"events": self.events}

    async def end_streams(self) -> None:
        """End all streams: the listeners continue at other workers."""
        await self._results.stop()

    async def events(self, request: Request) -> Answer:
        """The stream; it ends with the connection or the worker, and for a listener that reads too slowly."""
        state = self.context.pipeline(request)
        types = types_of(state, request.found.query["types"])
        topics = {kind: topic for kind, topic in topics_of(state).items() if kind in types}
        listener = Listener(topics, state.partitions, partial(_cut, request.http))
        after = request.headers.get("Last-Event-ID", "")
        place = read_place(after, types, state.partitions) if after else None
        async with self._results.listening(listener, self._partitions()):
            response = web.StreamResponse(headers=_HEADERS)
            try:
                await response.prepare(request.http)
                if place is not None:
                    now = {kind: [*offsets] for kind, offsets in listener.place.items()}
                    async for lines in self._earlier(topics, place, now):
                        await response.write(lines)
                    await response.write(place_event(now))
                else:
                    await response.write(place_event(listener.place))
                while not listener.ended:
                    await response.write(await listener.taken(COMMENT_SECONDS) or COMMENT)
            except ConnectionError:  # the listener has left
                pass
            except StreamLSHError as error:  # the listener continues behind the last place
                _log.warning("the query API ends a stream of events: %s", error)
        return Answer(response)

    def _partitions(self) -> list[TP]:
        """Those of all events of all pipelines."""
        return [
            tp
            for state in self.context.pipelines.values()
            for topic in topics_of(state).values()
            for tp in partitions_of(topic, state.partitions)
        ]

    async def _earlier(
        self, topics: Mapping[str, str], place: Mapping[str, Sequence[int]], now: Mapping[str, Sequence[int]]
    ) -> AsyncIterator[bytes]:
        """The events between two places, as far as the topics still have them."""
        kafka = self.context.config.kafka
        types = {topic: kind for kind, topic in topics.items()}
        partitions = [tp for kind, topic in topics.items() for tp in partitions_of(topic, len(now[kind]))]
        first, _ = await bounds(kafka, partitions)
        ends = {tp: now[types[tp.topic]][tp.partition] for tp in first}
        begins = {tp: min(max(place[types[tp.topic]][tp.partition], first[tp]), end) for tp, end in ends.items()}
        async for chunk in records(kafka, begins, ends):
            yield events(types[chunk[0].topic], chunk)
