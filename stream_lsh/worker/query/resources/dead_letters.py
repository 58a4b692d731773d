"""Pages of dead letters, newest first: `GET /v1/pipelines/{pipeline}/dead-letters`.

A page is read from the topic, backwards from its end; its cost is that of reading the messages.
"""

import base64
from collections.abc import Mapping, Sequence
from heapq import merge
from typing import Any

import msgspec
from faust.types import TP

from stream_lsh.errors import StreamLSHError
from stream_lsh.worker.clients.topic_reader import Offsets, bounds, partitions_of, records
from stream_lsh.worker.query.http.problems import Problem
from stream_lsh.worker.query.http.server import Answer, Handler, Request
from stream_lsh.worker.query.resources.resource import Resource

MOST_SHOWN = 4_096
"""The bytes of a value, or of a key, in an answer."""


class DeadLetters(Resource):
    """Lists the messages that could not be used, with the reasons."""

    def handlers(self) -> Mapping[str, Handler]:
        """The only one."""
        return {"dead_letters": self.dead_letters}

    async def dead_letters(self, request: Request) -> Answer:
        """A page of dead letters; it may have fewer than `limit` even if `next` leads to more."""
        state, query, kafka = self.context.pipeline(request), request.found.query, self.context.config.kafka
        partitions = partitions_of(state.config.dead_letters_topic, state.partitions)
        span = -(-2 * query["limit"] // len(partitions))
        try:
            begins, ends = await bounds(kafka, partitions)
            places = _places(query["after"], ends)
            first = {tp: max(begins[tp], place - span) for tp, place in places.items()}
            read: dict[TP, list[dict[str, Any]]] = {tp: [] for tp in partitions}
            async for chunk in records(kafka, first, places):
                read[TP(chunk[0].topic, chunk[0].partition)] += map(_described, chunk)
        except StreamLSHError as error:
            raise Problem("not-now", f"the dead letters cannot be read: {error}") from error
        shown = []
        for tp, row in _newest_first(read)[: query["limit"]]:
            shown.append(row)
            places[tp] = row["place"]
            if row["place"] == first[tp] > begins[tp]:
                break  # unread rows of this partition may be newer than the next row of another partition
        more = any(places[tp] > begins[tp] for tp in partitions)
        reason = query["reason"]
        return Answer(
            {
                "dead_letters": [row for row in shown if reason in ("", row["reason"])],
                "next": _token([places[tp] for tp in partitions]) if more else None,
                "total": sum(ends[tp] - begins[tp] for tp in partitions),
            }
        )


def _newest_first(read: Mapping[TP, Sequence[dict[str, Any]]]) -> list[tuple[TP, dict[str, Any]]]:
    """The rows by time; within a partition, by place regardless of time."""
    rows = ([(tp, row) for row in reversed(found)] for tp, found in read.items())
    return list(merge(*rows, key=lambda one: one[1]["time"], reverse=True))


def _described(record: Any) -> dict[str, Any]:
    """A dead letter: its reason, the place of the message in the source, and the beginning of its bytes."""
    headers = {name: value.decode("utf-8", "replace") for name, value in record.headers}
    key, value = record.key, record.value or b""
    return {
        "place": record.offset,
        "time": record.timestamp,
        "reason": headers.get("reason", ""),
        "error": headers.get("error", ""),
        "topic": headers.get("topic", ""),
        "partition": _number(headers.get("partition", "")),
        "offset": _number(headers.get("offset", "")),
        "key": headers.get("key") if key is None else key[:MOST_SHOWN].decode("utf-8", "replace"),
        "bytes": len(value),
        "text": value[:MOST_SHOWN].decode("utf-8", "replace"),
        "base64": base64.b64encode(value[:MOST_SHOWN]).decode(),
    }


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() else None


def _places(token: str, ends: Offsets) -> dict[TP, int]:
    """The offset of each partition before which a page ends; raises Problem for another text than a token."""
    if not token:
        return dict(ends)
    try:
        offsets = msgspec.json.decode(base64.urlsafe_b64decode(token.encode()), type=list[int])
    except (ValueError, msgspec.MsgspecError):
        offsets = []
    if len(offsets) != len(ends) or any(offset < 0 for offset in offsets):
        raise Problem("malformed", f"after: got {token!a:.60}, expected `next` of the previous page")
    return {tp: min(offset, ends[tp]) for tp, offset in zip(sorted(ends), offsets, strict=True)}


def _token(offsets: list[int]) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(offsets)).decode()
