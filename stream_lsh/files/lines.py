"""Lines and rows of files, one after the other, within a fixed bound of memory for any file."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat

from stream_lsh.errors import ConfigError, InputError, MalformedMessage, UnusableDocument
from stream_lsh.files.inflate import text_chunks

_ROW_CHARACTERS = 4 << 20
"""Of a row of a table that is read at all, columns included that are not used."""
_LONE_RETURN = (
    "got a carriage return that no line feed follows, expected lines that end with LF or CRLF: is the file binary? If "
    "its lines end with CR, convert it, as with `tr '\\r' '\\n'`"
)
_LONGEST_CHARACTER = 4
"""Bytes, in any encoding."""


class ByteLimit(int):
    """A greatest number of bytes that knows what raises it, for messages.

    Example:
        >>> limit = ByteLimit(10, "`max_document_bytes`")
        >>> limit, limit.raised_by, raised_by(10)
        (10, '`max_document_bytes`', '--max-bytes')
    """

    raised_by: str

    def __new__(cls, size: int, raised_by: str) -> "ByteLimit":
        """The limit.

        Args:
            size: in bytes.
            raised_by: the option or setting that raises it.
        """
        limit = super().__new__(cls, size)
        limit.raised_by = raised_by
        return limit


def raised_by(max_bytes: int) -> str:
    """The option or setting that raises a limit: --max-bytes unless the limit names another one."""
    return max_bytes.raised_by if isinstance(max_bytes, ByteLimit) else "--max-bytes"


class Splitter:
    """Cuts a stream of bytes into lines; of a line that is too long only the length is kept.

    Args:
        max_bytes: of a line.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._begun: list[bytes] = []
        self._size = 0

    def split(self, data: bytes) -> tuple[list[bytes], list[tuple[int, InputError]]]:
        """The lines that end in `data`, and those among them that are too long, which are blank then."""
        first, *lines = data.split(b"\n")
        self._size += len(first)
        if self._size <= self._max_bytes:
            self._begun.append(first)
        else:
            self._begun.clear()
        if not lines:
            return [], []
        errors: list[tuple[int, InputError]] = []
        if self._size > self._max_bytes:
            errors = [(0, too_large(self._size, self._max_bytes))]
        ended = b"".join(self._begun)
        rest = lines.pop()
        self._begun, self._size = [rest], len(rest)
        return [ended, *lines], errors

    def end(self) -> tuple[list[bytes], list[tuple[int, InputError]]]:
        """The last line, if nothing ends it; otherwise none."""
        lines, errors = self.split(b"\n")
        return lines if lines != [b""] or errors else [], errors


def too_large(size: int, max_bytes: int) -> UnusableDocument:
    """The error for a document over the limit."""
    return UnusableDocument(
        "size", f"got {size} bytes, expected at most {max_bytes}: raise {raised_by(max_bytes)} to take it"
    )


def text_lines(path: str, position: list[int], encoding: str, max_bytes: int) -> Iterator[str]:
    """Lines with their ends; bytes that are not of the encoding stay visible as lone surrogates.

    Args:
        path: of the file.
        position: its one number is kept at the bytes of the file that were read.
        encoding: one in which the bytes of ASCII stand for themselves.
        max_bytes: a longer line comes in pieces, of which only the last one has the end of the line.

    Raises:
        ConfigError: the file begins with the byte order mark of UTF-16 or UTF-32.
    """
    begun, size, first = list[bytes](), 0, True
    for data, position[0] in text_chunks(path):
        *ended, rest = data.split(b"\n")
        for line in ended:
            text = (b"".join([*begun, line]) if begun else line).decode(encoding, "surrogateescape") + "\n"
            yield text.removeprefix("\ufeff") if first else text
            begun, size, first = [], 0, False
        if rest:
            begun.append(rest)
            size += len(rest)
        if size > max_bytes:
            yield b"".join(begun).decode(encoding, "surrogateescape").removeprefix("\ufeff" if first else "")
            begun, size, first = [], 0, False
    if begun:
        yield b"".join(begun).decode(encoding, "surrogateescape").removeprefix("\ufeff" if first else "")


def undecoded(value: str) -> bool:
    """Whether a text has bytes that `text_lines` could not read."""
    return not value.isascii() and any("\udc80" <= character <= "\udcff" for character in value)


class _RowTooLarge(Exception):
    """A row has more characters than rows may have."""


class _RowLines:
    """The lines of a table as a csv reader takes them, and how far its present row reaches.

    Args:
        lines: of the table; one that comes in pieces is longer than a row may be.
        max_characters: of a row.

    Attributes:
        number: of the line that was taken last.
        unclosed: whether the lines ended within a row, in a quoted field.
    """

    def __init__(self, lines: Iterator[str], max_characters: int) -> None:
        self.number = 0
        self.unclosed = False
        self._lines, self._max_characters = lines, max_characters
        self._size = self._quotes = 0
        self._ended = True

    def __iter__(self) -> "_RowLines":
        return self

    def __next__(self) -> str:
        try:
            line = self._next()
        except StopIteration:
            self.unclosed = self._size > 0
            raise
        if self._size > self._max_characters:
            raise _RowTooLarge
        return line

    def _next(self) -> str:
        line = next(self._lines)
        self.number += self._ended
        self._ended = line.endswith("\n")
        self._size += len(line)
        self._quotes += line.count('"')
        return line

    def begin(self) -> None:
        """The next line begins a row."""
        self._size = self._quotes = 0

    def skip(self) -> int:
        """Skip the rest of a row that is too large, up to the line that closes its quotes; returns its length."""
        while self._quotes % 2 or not self._ended:
            try:
                self._next()
            except StopIteration:
                break
        return self._size


def table_rows(
    path: str,
    format: str,
    position: list[int],
    *,
    encoding: str = "utf-8",
    max_bytes: int = 0,
    skip_space: bool = False,
    delimiter: str = "",
) -> Iterator[tuple[list[str] | InputError, int]]:
    """The rows of a table with the number of the line on which each ends; for one that cannot be read, why.

    Args:
        path: of the table.
        format: `csv` or `tsv`.
        position: as for `text_lines`.
        encoding: as for `text_lines`.
        max_bytes: of the columns that are used, which is not checked here; a row may have twice as many characters, and
            4 million in any case.
        skip_space: blanks behind a delimiter do not count.
        delimiter: of the columns; "" follows from the format and the header.
    """
    most = max(_ROW_CHARACTERS, 2 * max_bytes)
    csv.field_size_limit((1 << 31) - 1)
    text = text_lines(path, position, encoding, _LONGEST_CHARACTER * most)
    if not delimiter:
        blank, header = _header_line(text)
        text = chain(repeat("\n", blank), [header] if header else (), text)
        delimiter = "\t" if format == "tsv" else _delimiter_of(header)
    lines = _RowLines(text, most)
    rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=skip_space)
    while True:
        lines.begin()
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error:  # quotes and characters of any kind pass, as do fields of any length
            yield MalformedMessage("csv", _LONE_RETURN), lines.number
        except _RowTooLarge:
            yield _row_too_large(lines.skip(), most, raised_by(max_bytes)), lines.number
        else:
            if lines.unclosed:
                yield MalformedMessage("csv", "got a quote that nothing closes before the file ends"), lines.number
            else:
                yield row, lines.number


def _header_line(lines: Iterator[str]) -> tuple[int, str]:
    """The number of blank lines before the first other one, and that one; empty if all are blank."""
    blank = 0
    for line in lines:
        if line.strip():
            return blank, line
        blank += 1
    return blank, ""


def _delimiter_of(header: str) -> str:
    """The delimiter of a CSV header: the comma, or, without any comma, the most frequent other one."""
    unquoted = re.sub(r'"[^"]*"', "", header)
    return "," if "," in unquoted else max(",;\t|", key=unquoted.count)


def _row_too_large(size: int, most: int, what: str) -> UnusableDocument:
    return UnusableDocument(
        "size",
        f"got a row of {size} characters, expected at most {most}: close its quote, or raise {what} to take it",
    )


def header_of(path: str, rows: Iterator[tuple[list[str] | InputError, int]]) -> list[str]:
    """The first row of a table that is not blank; empty if there is none.

    Raises:
        ConfigError: it cannot be read.
    """
    row = next((row for row, _ in rows if row != []), [])
    if isinstance(row, InputError):
        raise ConfigError(f"{path}: the header cannot be read: {row}")
    if any("\0" in name for name in row):
        raise ConfigError(f"{path}: the header cannot be read: got zero bytes, expected a table: is the file binary?")
    return row


def check_columns(path: str, header: Sequence[str], wanted: Mapping[str, str]) -> None:
    """Check that a table has some columns.

    Args:
        path: of the table, for messages.
        header: its first row.
        wanted: the columns, and the option that names each.

    Raises:
        ConfigError: names all columns that are missing.
    """
    present = ", ".join(map(repr, header[:20]))
    problems = [
        f"{path}: got no column {name!r}, found {present}: set {wanted[name]}" for name in wanted if name not in header
    ]
    if problems:
        raise ConfigError(problems)
    check_distinct(path, header, wanted)


def check_distinct(path: str, header: Sequence[str], used: Iterable[str]) -> None:
    """Raise ConfigError for those of the columns in use that a table has more than once."""
    problems = [
        f"{path}: got the column {name!r} {header.count(name)} times, expected once: rename all but one"
        for name in dict.fromkeys(used)
        if header.count(name) > 1
    ]
    if problems:
        raise ConfigError(problems)


def cells(row: list[str] | InputError, width: int, at: Sequence[int], max_bytes: int) -> list[str]:
    """The values of a row in some columns.

    Args:
        row: one of `table_rows`.
        width: of the header.
        at: the indices of the columns.
        max_bytes: of all of them.

    Raises:
        MalformedMessage, UnusableDocument: csv, size, utf8.
    """
    if isinstance(row, InputError):
        raise row
    if len(row) != width:
        raise MalformedMessage(
            "csv", f"got a row of {len(row)} fields, expected {width} as in the header: is a quote missing?"
        )
    values = [row[place] for place in at]
    size = sum(len(cell.encode("utf-8", "surrogateescape")) for cell in values)
    if size > max_bytes:
        raise too_large(size, max_bytes)
    if any(map(undecoded, values)):
        raise MalformedMessage("utf8", "got bytes that are not UTF-8: convert the file, as with iconv")
    return values
