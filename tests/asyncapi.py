"""docs/asyncapi.yaml, to compare messages with it."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import yaml  # type: ignore[import-untyped]

DOCUMENT: dict[str, Any] = yaml.load(
    (Path(__file__).resolve().parents[1] / "docs" / "asyncapi.yaml").read_text(encoding="utf-8"),
    getattr(yaml, "CSafeLoader", yaml.SafeLoader),  # noqa: S506 - both are safe; the parser in C is ten times faster
)
Headers = Mapping[str, bytes] | Iterable[tuple[str, bytes]]


def resolved(part: Any) -> Any:
    """A part of the document with what its references point to in their place."""
    if isinstance(part, list):
        return [resolved(one) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        found: Any = DOCUMENT
        for name in part["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        return resolved(found)
    return {name: resolved(one) for name, one in part.items()}


CHANNELS: dict[str, Any] = resolved(DOCUMENT["channels"])


_VALIDATORS: dict[int, Any] = {}
"""One validator of each schema: making one takes longer than a message."""


def problems(schema: Any, value: Any) -> list[str]:
    """The violations of a schema by a value."""
    validator = _VALIDATORS.get(id(schema))
    if validator is None or validator.schema is not schema:
        validator = _VALIDATORS[id(schema)] = jsonschema.Draft7Validator(schema)
    return [error.message for error in validator.iter_errors(value)]


def key_of(message: Mapping[str, Any]) -> Any:
    """The schema of a message's key."""
    return message["bindings"]["kafka"]["key"]


class Seen:
    """Which parts of the document the messages of a run have made use of.

    Attributes:
        properties: of each schema of headers or values, by (message, `headers` or `payload`).
        values: that were seen of each property that is an enumeration.
    """

    def __init__(self) -> None:
        self.messages: set[str] = set()
        self.properties: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.values: dict[tuple[str, str, str], set[str]] = defaultdict(set)

    def take(self, channel: str, key: bytes | None, value: bytes | None, headers: Headers) -> None:
        """Compare a message with the document: it is one of its channel's messages, and has nothing else."""
        texts = {name: content.decode() for name, content in dict(headers).items()}
        tried = {name: _problems(one, key, value, texts) for name, one in CHANNELS[channel]["messages"].items()}
        fitting = [name for name, wrong in tried.items() if not wrong]
        assert len(fitting) == 1, (channel, key, value, texts, tried)
        self.messages.add(fitting[0])
        message = CHANNELS[channel]["messages"][fitting[0]]
        self._note(fitting[0], "headers", message["headers"], texts)
        if "properties" in message["payload"]:
            self._note(fitting[0], "payload", message["payload"], json.loads(value or b""))

    def _note(self, message: str, part: str, schema: Any, found: Mapping[str, Any]) -> None:
        self.properties[message, part] |= set(found)
        for name, one in schema["properties"].items():
            if "enum" in one and name in found:
                self.values[message, part, name].add(found[name])


def _problems(message: Mapping[str, Any], key: bytes | None, value: bytes | None, headers: Mapping[str, str]) -> Any:
    wrong = problems(message["headers"], headers)
    if message.get("contentType", DOCUMENT["defaultContentType"]) != "application/json":
        return wrong  # bytes of a user
    assert key is not None
    schema = key_of(message)
    wrong += problems(schema, json.loads(key) if schema["type"] == "array" else key.decode())
    return wrong + problems(message["payload"], None if value is None else json.loads(value))


def described(channels: Iterable[str]) -> Seen:
    """Everything that the document has for these channels, as a run would have to see it."""
    everything = Seen()
    for name, message in (pair for channel in channels for pair in CHANNELS[channel]["messages"].items()):
        everything.messages.add(name)
        for part, schema in _parts(message):
            everything.properties[name, part] |= set(schema["properties"])
            for key, one in schema["properties"].items():
                if "enum" in one:
                    everything.values[name, part, key] |= set(one["enum"])
    return everything


def _parts(message: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for part in ("headers", "payload"):
        if "properties" in message.get(part, {}):
            yield part, message[part]
