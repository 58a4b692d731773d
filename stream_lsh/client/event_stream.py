"""Server-sent events, from lines to values."""

from typing import Any

import msgspec

from stream_lsh.errors import InvariantError


class Event(msgspec.Struct, frozen=True):
    """A change of a result.

    Attributes:
        type: the public topic, such as `matches`.
        key: of the message: two ids as JSON for a pair, otherwise an id.
        value: the new value; None if the previous one is withdrawn.
        headers: of the message, such as the reason of a withdrawal.
        id: the place in the stream from which `events(after=...)` continues; it may repeat some events.
    """

    type: str
    key: str | None
    value: Any
    headers: dict[str, str]
    id: str = ""


class _Data(msgspec.Struct, frozen=True):
    key: str | None
    value: Any
    headers: dict[str, str]


class EventReader:
    """Assembles the lines of a stream into events.

    Args:
        last_id: the place where the stream begins.

    Example:
        >>> reader = EventReader()
        >>> lines = [b"id: matches:4", b"event: matches", b'data: {"key":"a","value":null,"headers":{}}', b""]
        >>> [event for line in lines if (event := reader.line(line))]
        [Event(type='matches', key='a', value=None, headers={}, id='matches:4')]
    """

    def __init__(self, last_id: str = "") -> None:
        self.last_id, self.begun = last_id, False
        self._id, self._type, self._data = last_id, "", list[bytes]()

    def restart(self) -> None:
        """Begin a new connection after the last id."""
        self.begun, self._id, self._type, self._data = True, self.last_id, "", []

    def line(self, line: bytes) -> Event | None:
        """The event that ends with a line, passed without its line break; None for comments and until an event ends.

        Raises:
            InvariantError: the data have another form.
        """
        if not line:
            return self._event()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"id":
            self._id = value.decode("utf-8", "replace")
        elif name == b"event":
            self._type = value.decode("utf-8", "replace")
        elif name == b"data":
            self._data.append(value)
        return None

    def _event(self) -> Event | None:
        self.last_id = self._id  # only now: the end of a connection may cut the line of an id
        kind, data = self._type, b"\n".join(self._data)
        self._type, self._data = "", []
        if not data:
            return None
        try:
            found = msgspec.json.decode(data, type=_Data)
        except msgspec.MsgspecError as error:
            raise InvariantError(f"got a malformed event ({error}), expected key, value and headers") from None
        return Event(kind, found.key, found.value, found.headers, self.last_id)
