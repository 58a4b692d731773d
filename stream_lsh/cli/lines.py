"""Lines and rows of files, one after the other, whatever the size of the file."""

import csv
from collections.abc import Iterator
from typing import Any

from stream_lsh.cli.inflate import file_chunks
from stream_lsh.errors import InputError, UnusableDocument


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
