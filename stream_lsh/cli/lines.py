"""Lines and rows of files, one after the other, whatever the size of the file."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stream_lsh.cli.inflate import file_chunks
from stream_lsh.errors import ConfigError, InputError, MalformedMessage, UnusableDocument


class Splitter:
    """Cuts a stream of bytes into lines; of a line that is too long only the length is kept.

    Args:
        max_bytes: of a line.
        option: the one that raises this, for messages.
    """

    def __init__(self, max_bytes: int, option: str = "--max-document-bytes") -> None:
        self._max_bytes = max_bytes
        self._option = option
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
            errors = [(0, too_large(self._size, self._max_bytes, self._option))]
        ended = b"".join(self._begun)
        rest = lines.pop()
        self._begun, self._size = [rest], len(rest)
        return [ended, *lines], errors


def too_large(size: int, max_bytes: int, option: str = "--max-document-bytes") -> UnusableDocument:
    """The error for a document over the limit."""
    return UnusableDocument("size", f"got {size} bytes, expected at most {max_bytes}: raise {option} to take it")


def text_lines(path: str, position: list[int], encoding: str = "utf-8") -> Iterator[str]:
    """Lines with their ends; bytes that are not of the encoding stay visible as lone surrogates.

    Args:
        path: of the file.
        position: its one number is kept at the bytes of the file that were read.
        encoding: one in which the bytes of ASCII stand for themselves.
    """
    rest, first = b"", True
    for data, position[0] in file_chunks(path):
        rest += data
        *lines, rest = rest.split(b"\n")
        for line in lines:
            text = line.decode(encoding, "surrogateescape") + "\n"
            yield text.removeprefix("\ufeff") if first else text
            first = False
    if rest:
        yield rest.decode(encoding, "surrogateescape").removeprefix("\ufeff" if first else "")


def undecoded(value: str) -> bool:
    """Whether a text has bytes that `text_lines` could not read."""
    return not value.isascii() and any("\udc80" <= character <= "\udcff" for character in value)


def table(lines: Iterator[str], format: str, *, skip_space: bool = False) -> Any:
    """A reader of the rows of a table, `csv` or `tsv`; sizes are checked by whoever reads them."""
    csv.field_size_limit((1 << 31) - 1)
    return csv.reader(lines, dialect="excel-tab" if format == "tsv" else "excel", skipinitialspace=skip_space)


def rows_of(rows: Any) -> Iterator[tuple[list[str] | csv.Error, int]]:
    """The rows with the number of the line on which each ends; for one that cannot be read, why."""
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield error, rows.line_num
        else:
            yield row, rows.line_num


def check_columns(path: str, header: Sequence[str], wanted: Mapping[str, str]) -> None:
    """See to it that a table has some columns.

    Args:
        path: of the table, for messages.
        header: its first row.
        wanted: the columns, and the option that names each.

    Raises:
        ConfigError: those that it has not.
    """
    missing = [name for name in wanted if name not in header]
    if missing:
        there = ", ".join(map(repr, header[:20]))
        raise ConfigError(
            [f"{path}: got no column {name!r}, there are {there}: name it with {wanted[name]}" for name in missing]
        )


def cells(row: list[str] | csv.Error, width: int, at: Sequence[int], max_bytes: int) -> list[str]:
    """What a row has in some columns.

    Args:
        row: one of `rows_of`.
        width: of the header.
        at: where the columns stand.
        max_bytes: of all of them.

    Raises:
        MalformedMessage, UnusableDocument: csv, size, utf8.
    """
    if isinstance(row, csv.Error):
        raise MalformedMessage("csv", f"got a row that cannot be read ({row})")
    if len(row) != width:
        raise MalformedMessage(
            "csv", f"got a row of {len(row)} fields, expected {width} as in the header: is a quote missing?"
        )
    found = [row[place] for place in at]
    size = sum(len(cell.encode("utf-8", "surrogateescape")) for cell in found)
    if size > max_bytes:
        raise too_large(size, max_bytes)
    if any(map(undecoded, found)):
        raise MalformedMessage("utf8", "got bytes that are not UTF-8: convert the file, as with iconv")
    return found
