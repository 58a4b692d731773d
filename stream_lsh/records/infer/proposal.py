"""Proposes a profile for unknown records, with the reason for each choice."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

import numpy as np

from stream_lsh.arrays import F64, I64
from stream_lsh.errors import InputError
from stream_lsh.records.infer.answers import answers, may_answer, numbers_records
from stream_lsh.records.infer.blocking import Blocks, blocks_of
from stream_lsh.records.infer.columns import Seen, placeholders_of, seen_of
from stream_lsh.records.infer.comparing import Joint, comparison_of, field_of, joined, joint_name, place_of
from stream_lsh.records.infer.neighbours import Vectors, neighbours_of, texts_of
from stream_lsh.records.infer.related import composed, groups_of, repeated_texts, repeated_values
from stream_lsh.records.infer.sources import Sources, sources_of
from stream_lsh.records.model import Record
from stream_lsh.records.profile import ID_COLUMNS, SOURCE_COLUMNS, Profile, column_of, folded

SAMPLE = 20_000
"""The most records that are looked at."""
_LEAST_FILLED = 0.02
_ONE_SOURCE = 0.05
"""A column is in one source only if it has values in this share of the records of any other source, or less."""
_FORMATS = 2.0
"""Values of a column that are this many times as long in another source are not compared with them."""


@dataclass(frozen=True, slots=True)
class Inferred:
    """A proposed profile.

    Attributes:
        profile: the profile.
        why: the reason for the type of each field, by its name.
        left_out: columns that are not fields, each with the reason.
        notes: the other choices with their reasons, a line each.
        blocks: the blocking, with its predicted recall and work.
    """

    profile: Profile
    why: Mapping[str, str]
    left_out: Mapping[str, str]
    notes: Sequence[str] = ()
    blocks: Blocks = field(default_factory=lambda: Blocks((), ()))


def infer(records: Sequence[Record], name: str = "inferred") -> Profile:
    """The profile of `inferred`.

    Example:
        >>> people = [Record(str(n), {"Surname": s, "dob": d}) for n, (s, d) in enumerate(
        ...     [("Smith", "1980-01-02"), ("Jones", "1990-03-04"), ("Brown", "1970-05-06")])]
        >>> profile = infer(people)
        >>> [(field.name, field.type) for field in profile.fields], profile.rules
        ([('surname', 'name'), ('dob', 'date')], ('surname', 'dob', 'surname:soundex + dob'))
    """
    return inferred(records, name).profile


def inferred(records: Sequence[Record], name: str = "inferred", *, total: int = 0) -> Inferred:
    """A profile proposed from some records; train it on them before use.

    Args:
        records: all of them, or a sample.
        name: of the profile.
        total: the number of all records, if these are a sample.

    Raises:
        InputError: no records, or no column has values to compare.

    Cost:
        some seconds for 20,000 records.
    """
    sample = sample_of(records, SAMPLE)
    numbers = {source: number for number, source in enumerate(dict.fromkeys(record.source for record in sample))}
    sources = np.array([numbers[record.source] for record in sample], np.int64)
    columns, left_out = _columns(sample)
    if not sample:
        raise InputError("fields", "got 0 records that can be used, expected many")
    if not columns:
        raise InputError("fields", f"got {len(records)} records without two values to compare in any column")
    content = [one for one in columns if not may_answer(one)] or columns
    alike = [one for one in content if not _other_format(one, sources)] or content
    values = [one.values for one in alike]
    vectors = Vectors(texts_of(values))
    neighbours = neighbours_of(values, sources, vectors)
    for one in [one for one in columns if one not in content]:
        if reason := answers(one, neighbours.near(), vectors, neighbours.least):
            left_out[one.column] = reason
            columns.remove(one)
    found = sources_of(neighbours, vectors, sources)
    choice = _Choice(columns, sources, found, {*map(folded, left_out)})
    near = neighbours.across() if found.clean else neighbours.near()
    count = max(total, len(records))
    partners = neighbours.partners * count / len(sample)
    blocks = blocks_of(choice.blocked, near, sources, count, across=found.clean, partners=partners)
    profile = Profile(
        name=name,
        fields=(*map(field_of, columns), *(joint.field for joint in choice.joints)),
        comparisons=(*(joint.comparison for joint in choice.joints), *map(comparison_of, choice.singles)),
        rules=blocks.rules,
        lsh=blocks.lsh,
        link="link" if found.clean else "both",
        one_to_one=found.clean,
        missing=tuple(sorted({text for one in columns for text in one.placeholders})),
    )
    why = {one.name: f"{one.kind.why}; {one.filled:.0%} filled, {one.distinct:,} different values" for one in columns}
    for uncompared, reason in choice.uncompared.items():
        why[uncompared] += f"; not compared: {reason}"
    why |= {joint.field.name: joint.why for joint in choice.joints}
    return Inferred(profile, why, left_out, [*_notes(columns, found, len(numbers), choice)], blocks)


def sample_of(records: Sequence[Record], most: int) -> list[Record]:
    """The first records of each source: a large source does not hide the columns of another one."""
    if len(records) <= most:
        return [*records]
    by_source: dict[str, list[Record]] = {}
    for record in records:
        by_source.setdefault(record.source, []).append(record)
    shares = _shares([len(own) for own in by_source.values()], most)
    chosen = [
        own[:most] if share >= len(own) else own[:share] for own, share in zip(by_source.values(), shares, strict=True)
    ]
    return [record for own in chosen for record in own]


def _shares(sizes: Sequence[int], most: int) -> list[int]:
    """The number of records of each source, as equal as their sizes allow."""
    shares, room = [0] * len(sizes), most
    for left, at in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[at] = min(sizes[at], room // (len(sizes) - left))
        room -= shares[at]
    return shares


def _columns(sample: Sequence[Record]) -> tuple[list[Seen], dict[str, str]]:
    """The columns that may be fields, and those that are none, with the reason."""
    raw, left_out = _read(sample)
    folds = {*map(folded, raw)}
    for names, what in ((ID_COLUMNS, "id"), (SOURCE_COLUMNS, "source")):
        if (special := column_of(names, [*raw])) is not None:
            del raw[special]
            left_out[special] = f"its name is that of the {what} of a record"
    missing = placeholders_of([*raw.values()])
    columns = list[Seen]()
    for name, values in raw.items():
        taken = folds - {folded(name)} | {folded(other.name) for other in columns}
        one = seen_of(name, values, taken, missing)
        if one.filled < _LEAST_FILLED or one.distinct < 2:
            left_out[name] = "nearly no values" if one.filled < _LEAST_FILLED else "one value only"
        elif numbers_records(one):
            left_out[name] = "it numbers the records"
        else:
            columns.append(one)
    return columns, left_out


def _read(sample: Sequence[Record]) -> tuple[dict[str, list[object]], dict[str, str]]:
    """The values of each column as a `Reader` finds them, and the columns that it does not read, with the reason.

    Columns whose names differ only in case and separators are one: of several in one record, the first one counts.
    """
    names = dict.fromkeys(column for record in sample for column in record.fields)
    folds, firsts = {name: folded(name) for name in names}, dict[str, str]()
    for name, fold in folds.items():
        firsts.setdefault(fold, name)
    rows, left_out = list[dict[str, object]](), {repr(name): "it has no name" for name in names if not name.strip()}
    for record in sample:
        row: dict[str, object] = {}
        for name, value in record.fields.items():
            if folds[name] in row:
                read = next(other for other in record.fields if folds[other] == folds[name])
                left_out[name] = f"{read} is read: case and separators do not distinguish columns"
            else:
                row[folds[name]] = value
        rows.append(row)
    return {name: [row.get(fold) for row in rows] for fold, name in firsts.items() if name.strip()}, left_out


def _filled_by_source(one: Seen, sources: I64) -> F64:
    """The share of the records of each source with a value."""
    filled = np.array([bool(value) for value in one.values], np.float64)
    shares: F64 = np.bincount(sources, filled) / np.bincount(sources)
    return shares


def _other_format(one: Seen, sources: I64) -> bool:
    """Whether the values of a column are absent from a source, or far longer in one than in another."""
    filled = _filled_by_source(one, sources)
    if filled.size == 1:
        return False
    lengths = np.bincount(sources, [len(value) for value in one.values]) / np.bincount(sources)
    means = lengths / np.maximum(filled, 1e-9)
    return bool(filled.min() <= _ONE_SOURCE * filled.max() or means.max() > _FORMATS * means.min())


class _Choice:
    """The columns that are compared, alone or as one.

    Attributes:
        uncompared: the fields without a comparison of their own, with the reason.
        joints: columns that are compared as one.
        singles: columns that are compared alone.
        blocked: columns for blocking.
    """

    def __init__(self, columns: Sequence[Seen], sources: I64, found: Sources, left_out: Set[str]) -> None:
        self._taken = left_out | {folded(name) for one in columns for name in (one.column, one.name)}
        self.uncompared: dict[str, str] = {}
        self.joints: list[Joint] = []
        single = {one.name: one for one in columns}
        lonely = [one for one in columns if found.clean and _in_one_source(one, sources)]
        self._place(columns)
        wholes = composed([one for one in columns if one.kind.type in ("text", "name")])
        self.uncompared |= {whole: f"its words are those of {', '.join(parts)}" for whole, parts in wholes.items()}
        texts = [one for one in columns if one.kind.type in ("text", "name", "company") and one.kind.form != "person"]
        self._join(texts, repeated_texts(texts), "their words repeat each other")
        for one in lonely:
            if one.name not in self.uncompared:
                self.uncompared[one.name] = "it has values in one source only"
        rest = [one for one in columns if one.name not in self.uncompared]
        self._join(rest, repeated_values(rest), "records that are no match agree in them together")
        self.singles = [one for name, one in single.items() if name not in self.uncompared]
        grouped = {name for joint in self.joints for name in joint.field.of} | wholes.keys()
        self.blocked = [one for one in columns if one not in lonely and (one in self.singles or one.name in grouped)]

    def _place(self, columns: Sequence[Seen]) -> None:
        """Latitude and longitude as one place, if there is one of each."""
        axes = [[one for one in columns if one.kind.form == form] for form in ("latitude", "longitude")]
        if all(len(axis) == 1 for axis in axes):
            ((latitude,), (longitude,)) = axes
            joint = place_of(latitude, longitude, joint_name(["location"], self._taken))
            self._add(joint)

    def _join(self, some: Sequence[Seen], pairs: Mapping[tuple[str, str], float], why: str) -> None:
        by_name = {one.name: one for one in some}
        for group in groups_of([*by_name], pairs):
            name = joint_name(group, self._taken)
            self._add(joined([by_name[each] for each in group], name, f"compared as one: {why}"))

    def _add(self, joint: Joint) -> None:
        self.joints.append(joint)
        self.uncompared |= dict.fromkeys(joint.field.of, f"it is part of {joint.field.name}")


def _in_one_source(one: Seen, sources: I64) -> bool:
    filled = np.sort(_filled_by_source(one, sources))
    return filled.size > 1 and bool(filled[-2] <= _ONE_SOURCE * filled[-1])


def _notes(columns: Sequence[Seen], found: Sources, sources: int, choice: _Choice) -> Iterator[str]:
    """The choices that concern no single field."""
    if sources > 1:
        yield f"{'linked one to one' if found.clean else 'not linked one to one'}: {found.why}"
    for joint in choice.joints:
        yield f"{', '.join(joint.field.of)}: {joint.why}"
    joint_parts = {name for joint in choice.joints for name in joint.field.of}
    for name, why in choice.uncompared.items():
        if name not in joint_parts:
            yield f"{name}: not compared, {why}"
    for one in columns:
        if one.placeholders:
            shown = ", ".join(f"{text!r} {count:,} times" for text, count in one.placeholders.items())
            yield f"{one.name}: missing values are written as {shown}"
