"""The step `contents`: the texts of documents, from the processes that own them."""

import json
from collections.abc import Iterable, Mapping

import msgspec

from stream_lsh.wire.public import as_json
from stream_lsh.worker.query.steps import Part

Content = tuple[str | None, int]
"""Text and event time of a version; no text if the version is deleted or has expired."""


async def contents(part: Part) -> bytes:
    """The contents of some ids in these partitions, as JSON: an object from id to text and event time."""
    ids = msgspec.json.decode(part.body, type=list[str])
    return as_json(_newest(_stored(part, id) for id in ids))


def contents_of(answers: Iterable[bytes]) -> dict[str, Content]:
    """The contents by id, from the answers of all processes."""
    return _newest(map(json.loads, answers))  # msgspec rejects the lone surrogates of a text


def _stored(part: Part, id: str) -> dict[str, Content]:
    tables = [state.table for state in part.states().values()]
    found = ((table, table.version(id)) for table in tables)
    return _newest(
        {id: (table.content(version.row)[0] if version.live else None, int(version.time_ms))}
        for table, version in found
        if version is not None
    )


def _newest(found: Iterable[Mapping[str, Content]]) -> dict[str, Content]:
    """The newest version of each id; a live one takes precedence."""
    newest = dict[str, Content]()
    for versions in found:
        for id, version in versions.items():
            if id not in newest or _rank(version) > _rank(newest[id]):
                newest[id] = version
    return newest


def _rank(version: Content) -> tuple[bool, int]:
    text, time_ms = version
    return text is not None, time_ms
