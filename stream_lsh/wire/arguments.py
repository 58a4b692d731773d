"""Validation of documents that a program passes to the Python API, as strict as that of messages of a source."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from stream_lsh.errors import ConfigError, MalformedMessage, UnusableDocument
from stream_lsh.model import NO_ABOUT, Document
from stream_lsh.wire.ids import MAX_ID_BYTES
from stream_lsh.wire.metadata import about_of

_FIRST_MS, _LAST_MS = -(1 << 53), 1 << 53


def row_of(one: object, what: str, most: int) -> Sequence[Any]:
    """One element of the argument of `add_many`: `what`, a tuple or list of 2 to `most` values.

    Raises:
        MalformedMessage: another type, such as a dict, or the name of a column out of a table.

    Example:
        >>> row_of(("a", "some words"), "(id, text)", 2)
        ('a', 'some words')
    """
    if isinstance(one, tuple | list) and 2 <= len(one) <= most:
        return one
    raise MalformedMessage(
        "document",
        f"got {type(one).__name__} {one!r:.60}, expected {what}: give the columns of a table as zip(ids, values)",
    )


def validate_document(document: Document, stories: bool = False, *, removable: bool = False) -> Document:
    """The document, validated, its time as an int; with `stories` its title and source are completed from the text.

    Args:
        document: as passed by the program.
        stories: whether titles and outlets are kept.
        removable: whether a document without a text is accepted, for a removal.

    Raises:
        MalformedMessage, UnusableDocument: an id, a text, a time, a title or an outlet that cannot be used.
        ConfigError: a title or an outlet without stories.
    """
    if isinstance(document.time_ms, np.integer):
        document = document._replace(time_ms=int(document.time_ms))
    id, text, time_ms, about = document
    if not isinstance(id, str):
        raise MalformedMessage("id", f"got the id {id!r:.60}, expected a string")
    if not 0 < len(id.encode("utf-8", "surrogatepass")) <= MAX_ID_BYTES:
        raise UnusableDocument("id", f"got an id of {len(id)} characters, expected 1 to {MAX_ID_BYTES} bytes of UTF-8")
    if text is None and not removable:
        raise MalformedMessage("text", f"got None as the text of {id!r:.60}, expected a string; remove(id) removes it")
    if text is not None and not isinstance(text, str):
        raise MalformedMessage("text", f"got {type(text).__name__} as the text of {id!r:.60}, expected a string")
    if not isinstance(time_ms, int) or isinstance(time_ms, bool) or not _FIRST_MS < time_ms < _LAST_MS:
        raise MalformedMessage(
            "time", f"got {time_ms!r:.60} as the time of {id!r:.60}, expected milliseconds since 1970, a whole number"
        )
    for field, value in (("title", about.title), ("source", about.source)):
        if not isinstance(value, str):
            raise MalformedMessage(field, f"got {type(value).__name__} as the {field} of {id!r:.60}, expected a string")
    if stories:
        return document._replace(about=NO_ABOUT if text is None else about_of(text, about.title, about.source))
    if about != NO_ABOUT:
        raise ConfigError(f"got a title or an outlet of {id!r:.60}, which only NearDuplicates(stories=True) keeps")
    return document
