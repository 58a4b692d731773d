"""Input files as blocks of JSON lines, which one parser reads, whatever their format.

    .jsonl  .ndjson               a JSON object per line
    .json                         a JSON array of objects, or an object per line
    .csv  .tsv  .tab              a header, then a document per row
    .parquet  .pq                 a document per row; needs the extra `parquet`
    .arrow  .feather  .ipc        the same
    .txt  .md  .html and such     a document, its id the path; with the format `lines` a document per line
    a folder                      a document per file, its id the relative path

Any of them but Parquet and Arrow may end in `.gz` or `.zst`.  A row and a file of a folder are converted to a line
first: that costs a microsecond or two, and ids, times and sizes are checked in one place only.
"""

import codecs
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import msgspec

from stream_lsh.errors import InputError, MalformedMessage, UnusableDocument
from stream_lsh.files.chunks import Refused
from stream_lsh.files.columnar import record_batches, row_values
from stream_lsh.files.discover import FOLDER, LINES, TEXT, Input, files_of
from stream_lsh.files.inflate import STDIN, file_chunks
from stream_lsh.files.lines import check_columns, check_distinct, too_large
from stream_lsh.files.rows import cell_reader, line_chunks, row_chunks
from stream_lsh.text.page import page_source
from stream_lsh.wire.field_names import FieldNames

TEXTS = (TEXT, LINES, FOLDER)
"""Formats without columns."""
MAX_AHEAD_MS = 3_600_000
"""A document whose time is further ahead of the clock has a wrong time."""
_ID_AND_TEXT = 2
"""Columns of a file whose other columns are not read."""
_LARGEST = 6
"""Bytes of a line for a character, if it is escaped."""
_BRACES = 16
"""Bytes of a line beside the names and the values."""
_SHOWN = 20
"""The number of fields that an error message lists."""


@dataclass(slots=True)
class Block:
    """Consecutive documents of an input, not yet parsed.

    Attributes:
        lines: a JSON object each, or empty if there is an error.
        places: the origin of each line, for a message: `FILE:LINE`.
        errors: lines that are rejected before parsing, by index.
        position: bytes of all inputs read so far.
        checked: whether the sizes of the documents were compared with the limit.
        time_ms: the modification time of the file, for stories.
        texts: in place of the lines, which are empty: the ids and the texts of columnar files without other columns.
    """

    lines: list[bytes]
    places: "Places"
    position: int
    errors: list[tuple[int, InputError]] = field(default_factory=list)
    checked: bool = True
    time_ms: int | None = None
    texts: list[tuple[str, str]] | None = None


class Places(NamedTuple):
    """The origins of the lines of a block: line numbers of a file, or names of files in a folder."""

    path: str
    at: Sequence[int] | Sequence[str]


def blocks(
    inputs: Sequence[Input],
    names: FieldNames,
    max_bytes: int,
    *,
    stories: bool = False,
    html: bool = False,
    texts: bool = False,
    text_option: str = "--text-column",
) -> Iterator[Block]:
    """The documents of all inputs, in order; `texts` allows blocks with `texts` in place of lines.

    `text_option` is the option that names the column of the text, or of what is compared in its place.
    For stories a file of a folder has the time of its last change, and its outlet is the folder within the folder.
    """
    before = 0
    for file in inputs:
        if file.format in TEXTS:
            several = several_of(file, inputs)
            result = text_blocks(file, names, max_bytes, several=several, stories=stories, html=html)
        elif file.holds_json:
            result = _line_blocks(file, max_bytes)
        else:
            columns_of = partial(_columns_of, file.path, names, text_option, stories)
            if file.columnar:
                result = _columnar_blocks(file, names, max_bytes, columns_of, texts=texts)
            else:
                result = _table_blocks(file, names, max_bytes, columns_of)
        for block in result:
            block.position += before
            yield block
        before += file.size


def several_of(file: Input, inputs: Sequence[Input]) -> bool:
    """Whether there are several inputs of the format of a file."""
    return sum(other.format == file.format for other in inputs) > 1


def text_blocks(
    file: Input, names: FieldNames, max_bytes: int, *, several: bool = False, stories: bool = False, html: bool = False
) -> Iterator[Block]:
    """The document in a file, the documents in its lines, or the documents in the files of a folder.

    Args:
        file: of one of the formats TEXTS.
        names: of the fields of id, text and source.
        max_bytes: of a document.
        several: whether there are several inputs of this format.
        stories: whether times and outlets are read.
        html: whether files may be pages.
    """
    if file.format == LINES:
        return _plain_line_blocks(file, names, max_bytes, several=several)
    if file.format == TEXT:
        return _text_blocks([(file.path, file.path)], "", "", names, max_bytes, stories=stories, html=html)
    # Two folders may hold files with the same relative path, which are different documents.
    start = file.path if several else ""
    return _text_blocks(files_of(file.path), file.path, start, names, max_bytes, stories=stories, html=html)


def _line_blocks(file: Input, max_bytes: int) -> Iterator[Block]:
    for first, lines, errors, position in line_chunks(file, max_bytes):
        if lines:
            yield Block(lines, Places(file.path, range(first, first + len(lines))), position, errors, False)


def _plain_line_blocks(file: Input, names: FieldNames, max_bytes: int, *, several: bool) -> Iterator[Block]:
    """The lines of a text as documents; their ids are their numbers, behind the path if there are several files."""
    for first, lines, errors, position in line_chunks(file, max_bytes):
        block = Block([], Places(file.path, range(first, first + len(lines))), position, errors)
        for index, line in enumerate(lines):
            text = line.removeprefix(codecs.BOM_UTF8) if first + index == 1 else line
            id = f"{file.path}:{first + index}" if several else str(first + index)
            try:
                value = {names.id: id, names.text: as_text(text.removesuffix(b"\r"))}
                block.lines.append(_json_line(value) if text.strip() else b"")
            except InputError as error:
                block.errors.append((index, error))
                block.lines.append(b"")
        yield block


def _table_blocks(
    file: Input, names: FieldNames, max_bytes: int, columns_of: Callable[[list[str]], list[str]]
) -> Iterator[Block]:
    columns: list[str] = []

    def places_of(header: list[str]) -> list[int]:
        columns.extend(columns_of(header))
        return [header.index(name) for name in columns]

    def line_of(*cells: str) -> bytes:
        value: dict[str, str | None] = dict(zip(columns, cells, strict=True))
        if names.time in columns[2:]:
            value[names.time] = str(value[names.time]).strip() or None
        return _json_line(value)

    for chunk in row_chunks(file, cell_reader(places_of, max_bytes, line_of), max_bytes):
        block = Block([], Places(file.path, [line for line, _ in chunk.rows]), chunk.position)
        for index, (_, cells) in enumerate(chunk.rows):
            if isinstance(cells, InputError):
                block.errors.append((index, cells))
            block.lines.append(b"" if isinstance(cells, InputError) else cells)
        yield block


def _columns_of(path: str, names: FieldNames, text_option: str, stories: bool, header: Sequence[str]) -> list[str]:
    """The columns of a table that are read: id, text and those that options rename; of the others those that exist."""
    required = {names.id: "--id-column", names.text: text_option}
    meanings = ("time", "title", "source", "url") if stories else ("time",)
    others = {meaning: getattr(names, meaning) for meaning in meanings}
    for meaning, name in others.items():
        if name != meaning:
            required.setdefault(name, f"--{meaning}-column")
    check_columns(path, header, required)
    wanted = (names.id, names.text, *others.values())
    check_distinct(path, header, wanted)
    return [name for name in dict.fromkeys(wanted) if name in header]


def _columnar_blocks(
    file: Input, names: FieldNames, max_bytes: int, columns_of: Callable[[list[str]], list[str]], *, texts: bool
) -> Iterator[Block]:
    for batch, first, position in record_batches(file, columns_of):
        block = Block([], Places(file.path, range(first, first + batch.num_rows)), position)
        rows = row_values(batch)
        block.texts = _plain_texts(rows, names, max_bytes) if texts and batch.num_columns == _ID_AND_TEXT else None
        if block.texts is not None:
            block.lines = [b""] * len(rows)
            yield block
            continue
        for index, row in enumerate(rows):
            line = b""
            try:
                line = _json_line({name: as_text(value) for name, value in row.items()})
                if len(line) > max_bytes:
                    raise too_large(len(line), max_bytes)
            except InputError as error:
                block.errors.append((index, error))
                line = b""
            block.lines.append(line)
        yield block


def _plain_texts(
    rows: Sequence[Mapping[str, object]], names: FieldNames, max_bytes: int
) -> list[tuple[str, str]] | None:
    """The ids and texts of rows; None if a value is not a text, or may be too large."""
    most = (max_bytes - _BRACES) // _LARGEST - len(names.id) - len(names.text)
    texts: list[tuple[str, str]] = []
    for row in rows:
        id, text = row[names.id], row[names.text]
        if type(id) is not str or type(text) is not str or len(text) + len(id) > most:
            return None
        texts.append((id, text))
    return texts


def as_text(value: object) -> object:
    """A value of a column; binary columns of texts are common in Parquet.

    Raises:
        MalformedMessage: the bytes are not UTF-8.
    """
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise MalformedMessage("utf8", f"got bytes that are not UTF-8 ({error.reason} at byte {error.start})") from None


def _json_line(value: Mapping[str, object]) -> bytes:
    try:
        return msgspec.json.encode(value, enc_hook=lambda time: time.isoformat())  # with nanoseconds
    except UnicodeEncodeError:  # a file name that is not UTF-8: escaped, so that it can be reported
        return json.dumps(value).encode()


def _text_blocks(
    files: Iterable[tuple[str, str]],
    folder: str,
    start: str,
    names: FieldNames,
    max_bytes: int,
    *,
    stories: bool,
    html: bool,
) -> Iterator[Block]:
    """A document for each file: of a folder, or, with "" as the folder, one that was named."""
    position = 0
    for path, relative in files:
        block = Block([b""], Places(folder, [relative]), position)
        try:
            value: dict[str, str | None] = {names.id: os.path.join(start, relative)}
            if stories:
                block.time_ms = None if path == STDIN else os.stat(path).st_mtime_ns // 1_000_000
                value[names.source] = os.path.dirname(relative).partition(os.sep)[0] if folder else ""
            block.lines[0] = _json_line(value | {names.text: _file_text(path, max_bytes, html=html)})
        except InputError as error:
            block.errors.append((0, error))
        except OSError as error:
            block.errors.append((0, MalformedMessage("file", f"it cannot be read: {error.strerror}")))
        position += 0 if path == STDIN else os.path.getsize(path)
        block.position = position
        yield block


def _file_text(path: str, max_bytes: int, *, html: bool) -> str:
    data, size = [], 0
    for piece, _ in file_chunks(path):
        size += len(piece)
        if size > max_bytes:
            raise too_large(size if path == STDIN else max(size, os.path.getsize(path)), max_bytes)
        data.append(piece)
    try:
        return b"".join(data).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if html:
            return page_source(b"".join(data))
        raise MalformedMessage(
            "utf8",
            f"got bytes that are not UTF-8 ({error.reason} at byte {error.start}): convert the file, as with iconv",
        ) from None


def refused_of(block: Block, errors: Iterable[tuple[int, InputError]]) -> list[Refused]:
    """The rejected lines of a block, in order, with their places."""
    refused = []
    for index, error in sorted([*block.errors, *errors], key=lambda entry: entry[0]):
        refusal = Refused.of(block.places.path, block.places.at[index], error)
        if error.reason == "time" and isinstance(error, UnusableDocument):
            refusal = refusal._replace(message="got a time in the future: a wrong clock, or another --time-unit?")
        refused.append(refusal)
    return refused


def missing_field(error: InputError, line: bytes, fields: Mapping[str, tuple[str, str]]) -> InputError:
    """The error for a line without a required field: the fields it has, and the option that names another.

    Args:
        error: of the line; errors of other kinds are returned as they are.
        line: the JSON object.
        fields: the name of the required field and its option, by the reason of the error.
    """
    if error.reason not in fields:
        return error
    field_name, option = fields[error.reason]
    try:
        value = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return error
    if not isinstance(value, dict) or field_name in value:
        return error
    present = ", ".join(map(repr, list(value)[:_SHOWN]))
    return MalformedMessage(error.reason, f"got no field {field_name!r}, found {present or 'none'}: set {option}")
