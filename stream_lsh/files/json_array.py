"""A JSON array as the bytes of its elements, one after the other, within a fixed bound of memory."""

import codecs
import re

import msgspec

from stream_lsh.errors import InputError, MalformedMessage
from stream_lsh.files.lines import too_large

_BLANK = b" \t\r\n"
_STRING = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
"""The rest of a string, up to its quote, to a backslash at the end of the data, or to the end."""
_IN_ARRAY, _IN_ELEMENT = re.compile(rb'["\[\]{},]'), re.compile(rb'["\[\]{}]')
_OPEN = b"[{"

Elements = tuple[list[bytes], list[tuple[int, InputError]]]
"""Elements in order, and those of them that are rejected, by index; such an element is empty."""


def begins_array(begin: bytes) -> bool:
    """Whether the first character of a file that is not blank is `[`.

    Example:
        >>> begins_array(b" [1]"), begins_array(b'{"a": [1]}'), begins_array(b" ")
        (True, False, False)
    """
    return begin.removeprefix(codecs.BOM_UTF8).lstrip(_BLANK).startswith(b"[")


class ArraySplitter:
    """Cuts a stream of bytes into the elements of an array; of an element that is too long only the length is kept.

    An element is returned in one line, as in a file of JSON lines.

    Args:
        path: of the file, for messages.
        max_bytes: of an element.

    Example:
        >>> splitter = ArraySplitter("x.json", 100)
        >>> splitter.split(b'[{"a": "[1"}, {"b":')
        ([b'{"a": "[1"}'], [])
        >>> splitter.split(b' [2,3]} ]'), splitter.end()
        (([b'{"b": [2,3]}'], []), ([], []))
    """

    def __init__(self, path: str, max_bytes: int) -> None:
        self._path, self._max_bytes = path, max_bytes
        self._depth = self._size = self._read = self._elements = 0
        self._in_string = self._escaped = self._ended = False
        self._pieces: list[bytes] = []

    def split(self, data: bytes) -> Elements:
        """The elements that end in `data`.

        Raises:
            MalformedMessage: data behind the end of the array.
        """
        elements: list[bytes] = []
        errors: list[tuple[int, InputError]] = []
        start = position = 0
        if self._depth == 0 and not self._ended:
            start = position = self._begin(data)
        while position < len(data) and not self._ended:
            if self._in_string:
                position = self._skip_string(data, position)
                continue
            found = (_IN_ARRAY if self._depth == 1 else _IN_ELEMENT).search(data, position)
            if found is None:
                break
            position, mark = found.end(), found[0]
            if mark == b'"':
                self._in_string = True
            elif mark in _OPEN:
                self._depth += 1
            elif self._depth > 1:
                self._depth -= 1
            elif mark == b"}":
                continue
            else:
                self._ended = mark == b"]"
                self._take(data[start : position - 1], elements, errors)
                start = position
        if self._ended:
            self._check_end(data[start:])
        else:
            self._keep(data[start:])
        self._read += len(data)
        return elements, errors

    def end(self) -> Elements:
        """The stream has ended; no element follows.

        Raises:
            MalformedMessage: within the array.
        """
        if not self._ended:
            raise MalformedMessage(
                "json", f"{self._path}: the JSON array ends too early, after {self._read} bytes: get the file again"
            )
        return [], []

    def _begin(self, data: bytes) -> int:
        """The position behind the bracket that opens the array; the end of `data` if it is blank."""
        at = data.find(b"[")
        self._depth = int(at >= 0)
        return at + 1 if at >= 0 else len(data)

    def _skip_string(self, data: bytes, position: int) -> int:
        """The position behind the string, or the end of `data`."""
        if self._escaped:
            position, self._escaped = position + 1, False
        found = _STRING.match(data, position)
        position = len(data) if found is None else found.end()
        if position < len(data):
            self._escaped = data[position : position + 1] == b"\\"
            self._in_string = self._escaped
            position += 1
        return position

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._max_bytes:
            self._pieces.append(piece)
        else:
            self._pieces.clear()

    def _take(self, piece: bytes, elements: list[bytes], errors: list[tuple[int, InputError]]) -> None:
        """The element that ends with a piece."""
        self._keep(piece)
        element, size = b"".join(self._pieces).strip(_BLANK), self._size
        self._pieces, self._size = [], 0
        if size > self._max_bytes:
            errors.append((len(elements), too_large(size, self._max_bytes)))
        elif not element:
            if self._ended and not self._elements:
                return
            errors.append((len(elements), MalformedMessage("json", "got no value between two commas of the array")))
        self._elements += 1
        elements.append(_in_one_line(element))

    def _check_end(self, rest: bytes) -> None:
        if rest.strip(_BLANK):
            raise MalformedMessage(
                "json",
                f"{self._path}: got data behind the end of the JSON array, expected one array: read JSON lines with "
                "--format jsonl",
            )


def _in_one_line(element: bytes) -> bytes:
    if b"\n" not in element and b"\r" not in element:
        return element
    try:
        return msgspec.json.format(element, indent=-1)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return element.translate(bytes.maketrans(b"\r\n", b"  "))
