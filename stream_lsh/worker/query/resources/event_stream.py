r"""The events of a pipeline as text: records of public topics, and the places in their streams.

    id: clusters:7,9;matches:12,7      the next offset of each partition of each topic, after the events so far
    event: matches
    data: {"key":"[\"a\",\"b\"]","value":{...},"headers":{"reason":"deleted"}}

A place follows each batch of events, so a listener that continues from the last place repeats at most one batch.
The types are the names of the topics in `stream-lsh tail`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from stream_lsh.worker.query.http.problems import Problem
from stream_lsh.worker.state.pipeline_state import PipelineState

COMMENT = b": no events\n\n"
_DEAD_LETTERS = "dead-letters"
_LARGEST_LETTER = 4_096
_MOST_DIGITS = 15

Place = Mapping[str, Sequence[int]]
"""The next offset of each partition, by type."""


def topics_of(state: PipelineState) -> dict[str, str]:
    """The topics of the events of a pipeline, by type."""
    return {name.replace("_", "-"): topic for name, topic in sorted(state.config.public_topics.items())}


def types_of(state: PipelineState, text: str | None) -> list[str]:
    """The types in a parameter, in order; all types if there is none.

    Raises:
        Problem: malformed; another type.
    """
    known = topics_of(state)
    wanted = sorted(set(text.split(","))) if text else [*known]
    if other := [one for one in wanted if one not in known]:
        raise Problem("malformed", f"types: got {other[0]!a:.60}, expected some of {', '.join(known)}")
    return wanted


def place_text(place: Place) -> str:
    """A place as the id of an event.

    Example:
        >>> place_text({"clusters": [7, 9], "matches": [12, 7]})
        'clusters:7,9;matches:12,7'
    """
    return ";".join(f"{name}:{','.join(map(str, place[name]))}" for name in sorted(place))


def read_place(text: str, types: Sequence[str], partitions: int) -> dict[str, list[int]]:
    """The place in an id.

    Raises:
        Problem: malformed; the id is of other types, or of another number of partitions.

    Example:
        >>> read_place("matches:12,7", ["matches"], 2)
        {'matches': [12, 7]}
    """
    found: dict[str, list[int]] = {}
    for part in text.split(";"):
        name, _, numbers = part.partition(":")
        offsets = numbers.split(",")
        if not all(one.isascii() and one.isdecimal() and len(one) <= _MOST_DIGITS for one in offsets):
            break
        found[name] = [int(one) for one in offsets]
    if sorted(found) != sorted(types) or any(len(offsets) != partitions for offsets in found.values()):
        expected = place_text(dict.fromkeys(types, [0] * partitions))
        raise Problem("malformed", f"Last-Event-ID: got {text!a:.60}, expected the id of an event, such as {expected}")
    return found


def place_event(place: Place) -> bytes:
    """The lines of a place, which is no event."""
    return f"id: {place_text(place)}\n\n".encode()


def event(kind: str, record: Any) -> bytes:
    """The lines of a record of a topic; of a dead letter the first 4 KB, as text."""
    key = None if record.key is None else record.key.decode("utf-8", "replace")
    headers = {name: value.decode("utf-8", "replace") for name, value in record.headers if value is not None}
    value: Any = record.value
    if value is not None:
        value = value[:_LARGEST_LETTER].decode("utf-8", "replace") if kind == _DEAD_LETTERS else msgspec.Raw(value)
    data = msgspec.json.encode({"key": key, "value": value, "headers": headers})
    return b"".join((b"event: ", kind.encode(), b"\ndata: ", data, b"\n\n"))


def events(kind: str, records: Iterable[Any]) -> bytes:
    """The lines of several records of a topic."""
    return b"".join(event(kind, record) for record in records)
