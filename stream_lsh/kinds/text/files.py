"""Reads inputs as documents: parsed lines and files, and the rejected items among them."""

import time
from argparse import Namespace
from collections.abc import Iterator, Sequence

import msgspec

from stream_lsh.errors import InputError, MalformedMessage
from stream_lsh.files.chunks import Part
from stream_lsh.files.column_names import AS_NAMED
from stream_lsh.files.discover import Input
from stream_lsh.files.json_blocks import MAX_AHEAD_MS, blocks, refused_of
from stream_lsh.kinds.text.messages import parse_lines
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.message import ParseRules

_SHOWN = 20
"""The number of fields that an error message lists."""


def read(inputs: Sequence[Input], options: Namespace, fallback_time_ms: int = 0) -> Iterator[Part]:
    """The documents of all inputs, in order.

    Args:
        inputs: the files to read.
        options: of the command.
        fallback_time_ms: event time of a document without one.

    Raises:
        ConfigError, InputError, OSError: an input cannot be read at all.
    """
    names = FieldNames(**{column.removesuffix("_column"): getattr(options, column) for column in AS_NAMED})
    now_ms = int(time.time() * 1000)
    html = options.html != "off"
    for block in blocks(inputs, names, options.max_bytes, stories=options.stories, html=html):
        time_ms = block.time_ms or fallback_time_ms
        rules = ParseRules(
            max_bytes=1 << 62 if block.checked else options.max_bytes,
            # A time is in the future from an hour after now, whatever the default time of a document is.
            max_ahead_ms=now_ms + MAX_AHEAD_MS - time_ms,
            time_unit=options.time_unit,
            names=names,
            keyed=False,
        )
        documents, errors = parse_lines(block.lines, rules, time_ms, stories=options.stories, html=options.html)
        named = [(index, _named(error, block.lines[index], names.text)) for index, error in errors]
        yield Part(documents, refused_of(block, named), block.position)


def _named(error: InputError, line: bytes, column: str) -> InputError:
    """The error for a line without the field of the text: its fields, and the option that names one."""
    if error.reason != "text":
        return error
    try:
        fields = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return error
    if not isinstance(fields, dict) or column in fields:
        return error
    present = ", ".join(map(repr, list(fields)[:_SHOWN]))
    return MalformedMessage("text", f"got no field {column!r}, there are {present}: name it with --text-column")
