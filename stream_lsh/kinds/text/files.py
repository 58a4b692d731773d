"""Reads inputs as documents: parsed lines and files, and the rejected items among them."""

import time
from argparse import Namespace
from collections.abc import Iterator, Sequence

from stream_lsh.files.chunks import Part
from stream_lsh.files.column_names import field_names
from stream_lsh.files.discover import Input
from stream_lsh.files.json_blocks import MAX_AHEAD_MS, blocks, missing_field, refused_of
from stream_lsh.kinds.text.messages import parse_lines, plain_documents
from stream_lsh.wire.message import ParseRules


def read(inputs: Sequence[Input], options: Namespace, fallback_time_ms: int = 0) -> Iterator[Part]:
    """The documents of all inputs, in order.

    Args:
        inputs: the files to read.
        options: of the command.
        fallback_time_ms: event time of a document without one.

    Raises:
        ConfigError, InputError, OSError: an input cannot be read at all.
    """
    names = field_names(options)
    fields = {"id": (names.id, "--id-column"), "text": (names.text, "--text-column")}
    now_ms = int(time.time() * 1000)
    html = options.html != "off"
    texts = not (options.stories or html)
    for block in blocks(inputs, names, options.max_bytes, stories=options.stories, html=html, texts=texts):
        time_ms = block.time_ms or fallback_time_ms
        rules = ParseRules(
            max_bytes=1 << 62 if block.checked else options.max_bytes,
            # A time is in the future from an hour after now, whatever the default time of a document is.
            max_ahead_ms=now_ms + MAX_AHEAD_MS - time_ms,
            time_unit=options.time_unit,
            names=names,
            keyed=False,
        )
        if block.texts is None:
            documents, errors = parse_lines(block.lines, rules, time_ms, stories=options.stories, html=options.html)
        else:
            documents, errors = plain_documents(block.texts, time_ms)
        named = [(index, missing_field(error, block.lines[index], fields)) for index, error in errors]
        yield Part(documents, refused_of(block, named), block.position)
