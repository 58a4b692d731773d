"""Frames of records: rows to records, entities and pairs to columns."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stream_lsh.errors import ConfigError, InputError, MalformedMessage
from stream_lsh.kinds.record.rows import RecordMaker, RecordNames
from stream_lsh.records.model import Entity, Record, RecordMatch
from stream_lsh.records.profile import Profile
from stream_lsh.tables import Table, plain_time, rows_of

_PAIR: dict[str, type] = {"left": str, "right": str, "probability": float, "score": float}


def records_of(table: Table, names: RecordNames, ids: Sequence[str] | None = None) -> list[Record]:
    """The records in the rows of a table; missing values are no fields.

    Args:
        table: with a record in each row.
        names: of the columns of id, source and time.
        ids: the id of each row, in place of a column; None: they are in a column.

    Raises:
        ConfigError: a column does not exist, or its name is no text.
        MalformedMessage: a row is no record; the message has its number, from 0.
    """
    check_names(table)
    maker = RecordMaker(names, "")
    if table.names:
        try:
            maker.require("the table", table.names, has_ids=ids is not None)
        except ConfigError as error:
            raise ConfigError(
                [problem.replace("set --id-column", "name it with `id`") for problem in error.problems]
            ) from None
    records = []
    for number, row in enumerate(rows_of(table)):
        if ids is not None:
            row[names.id[0]] = ids[number]
        if names.time in row:
            row[names.time] = plain_time(row[names.time])
        try:
            records.append(maker.record(row))
        except InputError as error:
            raise MalformedMessage(error.reason, f"row {number}: {error}".replace("--id-column", "`id`")) from None
    return records


def check_names(table: Table) -> None:
    """Raise ConfigError if the name of a column is no text, as in a frame of a file without a header."""
    for name in table.names:
        if not isinstance(name, str):
            raise ConfigError(f"data: got the column name {name!r}, expected texts: does the frame have a header?")


def pair_columns(pairs: Iterable[RecordMatch]) -> tuple[dict[str, list[Any]], dict[str, type]]:
    """The columns of pairs: ids, probability, score, and the match weight of each comparison that any pair has."""
    listed = list(pairs)
    columns: dict[str, list[Any]] = {name: [getattr(pair, name) for pair in listed] for name in _PAIR}
    used = dict.fromkeys(name for pair in listed for name in pair.weights)
    columns |= {f"weight_{name}": [pair.weights.get(name) for pair in listed] for name in used}
    return columns, _PAIR | {f"weight_{name}": float for name in used}


def entity_columns(entities: Iterable[Entity], profile: Profile) -> tuple[dict[str, list[Any]], dict[str, type]]:
    """The columns of entities: id, size, and the golden record as texts; a field with several values is a JSON list.

    Example:
        >>> from stream_lsh.records.profile import Field
        >>> profile = Profile(name="x", fields=(Field(name="name"), Field(name="age")), comparisons=())
        >>> entity_columns([Entity("1", ("2", "1"), {"name": "Ann", "age": 7})], profile)[0]
        {'entity': ['1'], 'size': [2], 'name': ['Ann'], 'age': ['7']}
    """
    listed = list(entities)
    columns: dict[str, list[Any]] = {
        "entity": [entity.id for entity in listed],
        "size": [len(entity.members) for entity in listed],
    }
    return (
        columns | golden_columns([entity.golden for entity in listed], profile),
        {"entity": str, "size": int, **dict.fromkeys(profile.names, str)},
    )


def golden_columns(golden: Sequence[Mapping[str, object]], profile: Profile) -> dict[str, list[Any]]:
    """A column of texts for each field of a profile, None where a record has no value."""
    return {name: [_cell(record.get(name)) for record in golden] for name in profile.names}


def _cell(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)
