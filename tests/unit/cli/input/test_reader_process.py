"""The process that reads ahead: its parts, and its failures."""

import errno
import os
import signal
from collections.abc import Iterator

import pytest

from stream_lsh.cli.input.reader_process import ReaderProcess
from stream_lsh.errors import ConfigError, MalformedMessage
from stream_lsh.files.chunks import Part, Refused, packed, unpacked
from stream_lsh.model import Document


def _part(*texts: str | None) -> Part:
    return Part([Document(f"id {number}", text, -number) for number, text in enumerate(texts)], [], 1 << 40)


def test_parts_of_all_sizes_come_in_order_and_more_of_them_than_there_is_room_for() -> None:
    sizes = [0, 1, 1 << 20, (5 << 20) + 3, *range(100), 40 << 20, 7]
    parts = ReaderProcess(lambda: (_part("x" * size) for size in sizes))
    try:
        assert [len(part.documents[0].text or "") for part in parts] == sizes
    finally:
        parts.close()


@pytest.mark.parametrize(
    "part",
    [
        Part([], [], 0),
        _part("", None, "a", None, ""),
        _part("\U0001f600 \ud800 \udcff\0", "\udc80\ud83d", "\ude00"),
        Part([Document("\udcff", "é", 1 << 60)], [Refused("a\udcff", 3, "json", "é"), Refused("b", "c", "", "")], 5),
    ],
)
def test_a_part_is_the_same_behind_the_passage(part: Part) -> None:
    assert unpacked(packed(part)) == part


@pytest.mark.parametrize(
    "error",
    [
        MalformedMessage("gzip", "the data are damaged"),
        ConfigError(["one problem", "another one"]),
        FileNotFoundError(errno.ENOENT, "there is no such file", "a.jsonl"),
    ],
)
def test_an_error_comes_as_it_was_behind_the_parts_before_it(error: Exception) -> None:
    def fail() -> Iterator[Part]:
        yield _part()
        raise error

    parts = ReaderProcess(fail)
    got: list[Part] = []
    try:
        with pytest.raises(type(error)) as raised:
            got.extend(parts)
    finally:
        parts.close()
    assert got == [_part()]
    assert str(raised.value) == str(error)
    assert vars(raised.value) == vars(error)


def test_the_death_of_the_process_is_reported() -> None:
    def die() -> Iterator[Part]:
        yield _part()
        os.kill(os.getpid(), signal.SIGKILL)

    parts = ReaderProcess(die)
    try:
        with pytest.raises(OSError, match="has died"):
            list(parts)
    finally:
        parts.close()


def test_closing_ends_a_process_that_is_still_busy() -> None:
    def forever() -> Iterator[Part]:
        while True:
            yield _part("x" * (1 << 20))

    parts = ReaderProcess(forever)
    assert next(iter(parts)) == _part("x" * (1 << 20))
    parts.close()
