"""Files of sets or vectors: JSON lines, or tables with a column of the compared field.

.jsonl  .ndjson  .json       an object per line, as in messages; of .json also an array of objects
.csv  .tsv  .tab             a header, then one per row; items separated by |, numbers of a vector by blanks, or a
                             JSON list
"""

import time
from abc import ABC, abstractmethod
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from stream_lsh.errors import ConfigError
from stream_lsh.files.chunks import Part
from stream_lsh.files.column_names import AS_NAMED, WITHOUT_TIME_OPTION, check_meanings
from stream_lsh.files.discover import TABLES, Input, find_inputs
from stream_lsh.files.json_blocks import MAX_AHEAD_MS, blocks, missing_field, refused_of
from stream_lsh.kinds.kind import FeedPart, KeyValue, KindDefaults
from stream_lsh.kinds.single_field import Form, parse_valued, parse_valued_lines, valued_message
from stream_lsh.model import Document
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.message import ParseRules


class _Cells(NamedTuple):
    """The form of values in the cells of a table."""

    of: Form

    @property
    def field(self) -> str:
        return self.of.field

    def text(self, value: Any, name: str) -> str:
        return self.of.text(self.of.of_cell(value) if isinstance(value, str) else value, name)

    def value(self, text: str) -> Any:
        return self.of.value(text)

    def of_cell(self, cell: str) -> Any:
        return self.of.of_cell(cell)


def of_values(options: Namespace, form: Form) -> None:
    """Set the default names of the columns; the column of the text has the compared field.

    Raises:
        ConfigError: options that apply to documents or records only.
    """
    problems = [
        f"--{name}-column: applies to documents only"
        for name in ("title", "source", "url")
        if getattr(options, f"{name}_column") is not None
    ]
    if options.format not in (None, *TABLES):
        problems.append(f"--format: got {options.format}, expected one of {', '.join(TABLES)}: files with {form.field}")
    if options.encoding != "utf-8":
        problems.append("--encoding: applies to records only; other kinds are read as UTF-8")
    if problems:
        raise ConfigError(problems)
    for column, name in AS_NAMED.items():
        if getattr(options, column) is None:
            setattr(options, column, form.field if name == "text" else name)


def read_lines(file: Input, options: Namespace, form: Form, column: str | None, option: str) -> Iterator[Part]:
    """The sets or vectors of JSON lines, for a command with its own option for the compared field.

    Args:
        file: the file.
        options: of the command, with `id_column`, `time_unit` and `max_bytes`.
        form: of the compared field.
        column: the name of the field; None: its name in messages.
        option: the option that sets the name.
    """
    check_meanings({"--id-column": options.id_column, option: column or form.field}, WITHOUT_TIME_OPTION)
    named = Namespace(
        id_column=options.id_column,
        text_column=column or form.field,
        time_column="time",
        time_unit=options.time_unit,
        max_bytes=options.max_bytes,
    )
    return read_values([file], named, form, option=option)


def read_values(
    inputs: Sequence[Input],
    options: Namespace,
    form: Form,
    fallback_time_ms: int = 0,
    *,
    option: str = "--text-column",
) -> Iterator[Part]:
    """The sets or vectors of all inputs, in order, as documents.

    Args:
        inputs: the files to read.
        options: of the command, after `of_values`.
        form: of the compared field.
        fallback_time_ms: event time of an item without one.
        option: the option that names the compared field.

    Raises:
        ConfigError, InputError, OSError: an input cannot be read at all.
    """
    columns = {"id": options.id_column, "time": options.time_column}
    check_meanings({"--id-column": columns["id"], option: options.text_column, "--time-column": columns["time"]})
    in_blocks = FieldNames(**columns, text=options.text_column)
    in_lines = FieldNames(**columns, **{form.field: options.text_column})
    fields = {"id": (options.id_column, "--id-column"), form.field: (options.text_column, option)}
    latest_ms, before = int(time.time() * 1000) + MAX_AHEAD_MS, 0
    for file in inputs:
        read_as = form if file.holds_json else _Cells(form)
        for block in blocks([file], in_blocks, options.max_bytes, text_option=option):
            rules = ParseRules(
                max_bytes=1 << 62 if block.checked else options.max_bytes,
                max_ahead_ms=latest_ms - fallback_time_ms,
                time_unit=options.time_unit,
                names=in_lines,
                keyed=False,
            )
            documents, errors = parse_valued_lines(block.lines, read_as, rules, fallback_time_ms)
            named = [(index, missing_field(error, block.lines[index], fields)) for index, error in errors]
            yield Part(documents, refused_of(block, named), before + block.position)
        before += file.size


def feed_values(
    inputs: Sequence[Input], options: Namespace, form: Form, names: FieldNames, now_ms: int
) -> Iterator[FeedPart]:
    """The sets or vectors of all inputs as messages; arguments as for `Kind.read_files`."""
    for part in read_values(inputs, options, form, fallback_time_ms=now_ms):
        messages = (valued_message(document, form, names) for document in part.documents)
        yield FeedPart(messages, part.refused, part.position)


class SingleFieldKind(KindDefaults, ABC):
    """The base class of kinds with one compared field: messages and files, converted by `form`."""

    __slots__ = ()

    @property
    @abstractmethod
    def form(self) -> Form:
        """The form of the compared field."""

    def parse(
        self, value: bytes | None, key: bytes | None, rules: ParseRules, timestamp_ms: int | None, now_ms: int | None
    ) -> Document:
        """The document in a message."""
        return parse_valued(value, key, self.form, rules, fallback_time_ms=timestamp_ms, now_ms=now_ms)

    def message(self, document: Document, names: FieldNames) -> KeyValue:
        """The message for a document."""
        return valued_message(document, self.form, names)

    def find_files(self, options: Namespace) -> list[Input]:
        """Find JSON lines, and tables with a column of the compared field."""
        of_values(options, self.form)
        return find_inputs(options.file, options.format, TABLES, delimiter=options.delimiter)

    def read_files(
        self, inputs: Sequence[Input], options: Namespace, names: FieldNames, now_ms: int
    ) -> Iterator[FeedPart]:
        """The documents of the files as messages."""
        return feed_values(inputs, options, self.form, names, now_ms)
