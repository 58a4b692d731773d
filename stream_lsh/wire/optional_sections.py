"""Sections that stand beside EDGES or PAIRS, and DECISIONS, where there are any; `sections` lists their columns."""

from collections.abc import Sequence
from struct import Struct

import numpy.typing as npt

from stream_lsh.ledger.decisions import DIFFERENT, SAME, Decision
from stream_lsh.ledger.edges import written
from stream_lsh.wire.layout import U8, U32, U64, Column, Reader, Section, Writer, take

_COUNTS = Struct("<II")
_VERDICTS = (None, SAME, DIFFERENT)


def put_sizes(writer: Writer, sizes: npt.ArrayLike, n: int) -> None:
    """The section SIZES."""
    writer.begin(Section.SIZES)
    writer.raw(_COUNTS.pack(n, 0))
    writer.numbers(sizes, U32, n)
    writer.end()


def take_sizes(sections: dict[int, Reader], n: int) -> Column | None:
    """The section SIZES of n edges or pairs, if it is there."""

    def get(reader: Reader) -> Column:
        count, _ = reader.fields(_COUNTS)
        if count != n:
            reader.fail(f"got sizes for {count} pairs, expected {n}")
        return reader.numbers(U32, n)

    return take(sections, Section.SIZES, get)


def put_evidence(writer: Writer, evidence: Sequence[str]) -> None:
    """The section EVIDENCE, where there is any."""
    if not written(evidence):
        return
    n = len(evidence)
    writer.begin(Section.EVIDENCE)
    writer.raw(_COUNTS.pack(n, 0))
    writer.texts(evidence, n)
    writer.end()


def take_evidence(sections: dict[int, Reader], n: int, inflate_limit: int) -> Sequence[str]:
    """What the section EVIDENCE says of n edges or pairs, at most so many bytes; none at all where there is none."""

    def get(reader: Reader) -> list[str]:
        count, _ = reader.fields(_COUNTS)
        if count != n:
            reader.fail(f"got evidence for {count} pairs, expected {n}")
        return reader.texts(n, inflate_limit)

    return take(sections, Section.EVIDENCE, get) or ()


def put_decisions(writer: Writer, decisions: Sequence[Decision]) -> None:
    """The section DECISIONS, where there are any."""
    n = len(decisions)
    if not n:
        return
    left, right, verdicts, refs = zip(*decisions, strict=True)
    writer.begin(Section.DECISIONS)
    writer.raw(_COUNTS.pack(n, 0))
    writer.numbers(refs, U64, n)
    writer.numbers([*map(_VERDICTS.index, verdicts)], U8, n)
    writer.strings(left, n)
    writer.strings(right, n)
    writer.end()


def take_decisions(sections: dict[int, Reader]) -> tuple[Decision, ...]:
    """The section DECISIONS; none where there is none."""
    return take(sections, Section.DECISIONS, _get_decisions) or ()


def _get_decisions(reader: Reader) -> tuple[Decision, ...]:
    n, _ = reader.fields(_COUNTS)
    refs, numbers = reader.numbers(U64, n).tolist(), reader.numbers(U8, n).tolist()
    if n and max(numbers) >= len(_VERDICTS):
        reader.fail(f"got verdict {max(numbers)}, expected 0, 1 or 2")
    left, right = reader.strings(n), reader.strings(n)
    return tuple(map(Decision, left, right, map(_VERDICTS.__getitem__, numbers), refs))
