"""The requests of the query API, one function for each."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from stream_lsh.client.answers import ServiceDescription, Similar
from stream_lsh.client.exchange import Call, path_of
from stream_lsh.errors import ConfigError

Vector = Sequence[float] | str
"""A vector as in the source: numbers, or a text for bits and for packed numbers."""
_PIPELINES = "pipelines"


def service() -> Call[ServiceDescription]:
    """The worker, and whether its application is complete."""
    return Call("GET", path_of(), ServiceDescription)


def similar(
    pipeline: str,
    text: str | None = None,
    *,
    record: Mapping[str, Any] | None = None,
    source: str = "",
    items: Sequence[str | int] | None = None,
    vector: Vector | None = None,
    time: str | float | None = None,
    limit: int = 20,
    threshold: float | None = None,
    partial: bool = False,
    stale: bool = False,
) -> Call[Similar]:
    """The stored documents that are similar to one that is not stored.

    Args:
        pipeline: its name.
        text: for a pipeline of texts.
        record: the fields of a record.
        source: the origin of that record.
        items: of a set.
        vector: as in the source.
        time: event time as in the source; without one all stored documents are compared.
        limit: the most matches, 1 to 1,000.
        threshold: the least similarity or probability; at least, and by default, that of the pipeline.
        partial: partitions may be missing from the answer.
        stale: standbys, which may be behind, answer for owners that do not.

    Raises:
        ConfigError: none, or several, of text, record, items and vector.
    """
    whole_record = None if record is None else {"fields": record, **({"source": source} if source else {})}
    values = {"text": text, "record": whole_record, "items": items, "vector": vector}
    given = {name: value for name, value in values.items() if value is not None}
    if len(given) != 1:
        raise ConfigError(
            f"similar: got {' and '.join(given) or 'no value'}, expected one of text, record, items and vector"
        )
    options = {"time": time, "threshold": threshold}
    body = given | {"limit": limit} | {name: value for name, value in options.items() if value is not None}
    body |= {name: "allow" for name, allowed in (("partial", partial), ("stale", stale)) if allowed}
    return Call("POST", path_of(_PIPELINES, pipeline, "similar"), Similar, _json(body))


def events(pipeline: str, types: Sequence[str] = (), after: str = "") -> Call[None]:
    """The stream of the changes of results.

    Args:
        pipeline: its name.
        types: of the events, such as `matches`; all by default.
        after: the id of the event behind which the stream begins; now by default.
    """
    headers = {"Accept": "text/event-stream", **({"Last-Event-ID": after} if after else {})}
    path = path_of(_PIPELINES, pipeline, "events", types=",".join(types) or None)
    return Call("GET", path, type(None), headers=headers)


def _json(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except (TypeError, ValueError, UnicodeEncodeError) as error:
        raise ConfigError(f"got a value that JSON cannot have ({error}), expected texts and numbers") from None
