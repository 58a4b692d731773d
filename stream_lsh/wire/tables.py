"""Sections with columns of one length, and those of them that accompany EDGES or PAIRS; `sections` lists all."""

from collections.abc import Sequence
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_lsh.ledger.decisions import DIFFERENT, SAME, Decision
from stream_lsh.ledger.edges import written
from stream_lsh.wire.layout import U8, U32, U64, Column, Reader, Section, Writer, take

COUNTS = Struct("<II")
TEXT: np.dtype[Any] | None = None
"""The type of a column of strings."""
Columns = tuple["np.dtype[Any] | None", ...]
"""The types of the columns of a section without other fields, behind u32 n, u32 0."""
FLAG = np.dtype("?")
_SIZES: Columns = (U32,)
_DECISIONS: Columns = (U64, U8, TEXT, TEXT)
_VERDICTS = (None, SAME, DIFFERENT)


def put_columns(writer: Writer, kind: Section, types: Columns, columns: Sequence[Any]) -> None:
    """A section that consists of columns of one length.

    Raises:
        InvariantError: the columns differ in length.
    """
    n = len(columns[0])
    writer.begin(kind, COUNTS.pack(n, 0))
    for dtype, values in zip(types, columns, strict=True):
        if dtype is None:
            writer.strings(values, n)
        else:
            writer.numbers(values, dtype, n)


def get_columns(reader: Reader, types: Columns) -> list[Any]:
    """The columns of such a section: arrays, and lists of strings."""
    n, _ = reader.fields(COUNTS)
    return [
        reader.strings(n) if dtype is None else reader.flags(n) if dtype is FLAG else reader.numbers(dtype, n)
        for dtype in types
    ]


def plain(columns: Sequence[Any]) -> list[Sequence[Any]]:
    """Columns of plain values."""
    return [column.tolist() if isinstance(column, np.ndarray) else column for column in columns]


def put_sizes(writer: Writer, sizes: npt.ArrayLike) -> None:
    """Write the section SIZES."""
    put_columns(writer, Section.SIZES, _SIZES, (sizes,))


def take_sizes(sections: dict[int, Reader], n: int) -> Column | None:
    """Read the section SIZES of n edges or pairs; None without the section."""

    def get(reader: Reader) -> Column:
        sizes: Column = get_columns(reader, _SIZES)[0]
        if len(sizes) != n:
            reader.fail(f"got sizes for {len(sizes)} pairs, expected {n}")
        return sizes

    return take(sections, Section.SIZES, get)


def put_evidence(writer: Writer, evidence: Sequence[str]) -> None:
    """Write the section EVIDENCE, unless all texts are empty."""
    if written(evidence):
        writer.begin(Section.EVIDENCE, COUNTS.pack(len(evidence), 0))
        writer.texts(evidence, len(evidence))


def take_evidence(sections: dict[int, Reader], n: int, inflate_limit: int) -> Sequence[str]:
    """Read the section EVIDENCE of n edges or pairs, at most `inflate_limit` bytes; () without the section."""

    def get(reader: Reader) -> list[str]:
        count, _ = reader.fields(COUNTS)
        if count != n:
            reader.fail(f"got evidence for {count} pairs, expected {n}")
        return reader.texts(n, inflate_limit)

    return take(sections, Section.EVIDENCE, get) or ()


def put_decisions(writer: Writer, decisions: Sequence[Decision]) -> None:
    """Write the section DECISIONS, unless there are no decisions."""
    if decisions:
        left, right, verdicts, refs = zip(*decisions, strict=True)
        put_columns(writer, Section.DECISIONS, _DECISIONS, (refs, [*map(_VERDICTS.index, verdicts)], left, right))


def take_decisions(sections: dict[int, Reader]) -> tuple[Decision, ...]:
    """Read the section DECISIONS; () without the section."""
    return take(sections, Section.DECISIONS, _get_decisions) or ()


def _get_decisions(reader: Reader) -> tuple[Decision, ...]:
    refs, numbers, left, right = plain(get_columns(reader, _DECISIONS))
    if max(numbers, default=0) >= len(_VERDICTS):
        reader.fail(f"got verdict {max(numbers)}, expected 0, 1 or 2")
    return tuple(map(Decision, left, right, map(_VERDICTS.__getitem__, numbers), refs))
