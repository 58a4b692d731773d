"""One record of each entity, and the entity of each row of the input: the outputs of `link --keep` and `--assign`."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stream_lsh.cli.output.atomic_files import Output
from stream_lsh.cli.output.formats import table_format
from stream_lsh.cli.output.tables import TableOutput, plain_value
from stream_lsh.cli.runs.clean import assigned_clusters
from stream_lsh.cli.runs.input_rows import InputRows
from stream_lsh.files.whole_rows import Row, RowBatch, json_value
from stream_lsh.kinds.record.rows import RecordNames, special_columns
from stream_lsh.ledger.clusters.kept import kept_rows
from stream_lsh.records.model import Entity
from stream_lsh.records.profile import Field, Profile
from stream_lsh.records.reading import Reader
from stream_lsh.records.survivorship import GoldenRecords, Member

GOLDEN = "golden"
"""The rule that keeps the golden record."""
ENTITY = "entity"
"""The column that `--assign` adds."""

Placed = Mapping[str, tuple[str, int]]
"""The source and the time of each record, by id."""


class GoldenRows:
    """Golden records with all columns of the input.

    A column of a field of the profile has the rule of the field; any other column keeps the most frequent value, and
    the column of the time the most recent one.  The columns of the id and the source are those of the record that gives
    the entity its id.

    Args:
        profile: of the records.
        names: of the columns of id, source and time.
    """

    def __init__(self, profile: Profile, names: RecordNames) -> None:
        self._profile, self._names = profile, names
        self._reader = Reader(profile)
        self._rules: dict[tuple[str, ...], GoldenRecords] = {}

    def of(self, base: Row, members: Sequence[tuple[str, str, int, Row]]) -> Row:
        """The golden record of an entity.

        Args:
            base: the row with the id and the source.
            members: id, source, time and row of each record, the newest first.
        """
        columns = tuple(dict.fromkeys(name for *_, row in members for name in row))
        special = {name for name in special_columns(self._names, columns) if name}
        others = tuple(name for name in columns if name not in special)
        read = [
            Member(id, source, time_ms, {name: _value(row[name]) for name in others if name in row})
            for id, source, time_ms, row in members
        ]
        golden = self._golden(others).of(read)
        return {
            name: base.get(name) if name in special else _raw(golden.get(name, _newest(name, read))) for name in columns
        }

    def _golden(self, columns: tuple[str, ...]) -> GoldenRecords:
        if columns not in self._rules:
            fields: dict[str, Field] = {}
            for field, candidates in zip(self._profile.fields, self._reader.plan(columns).fields, strict=True):
                fields |= {name: replace(field, name=name) for name in candidates if name not in fields}
            times = {self._names.time: Field(name=self._names.time, keep="most-recent")}
            chosen = [fields.get(name) or times.get(name) or Field(name=name) for name in columns]
            self._rules[columns] = GoldenRecords(replace(self._profile, fields=tuple(chosen), comparisons=()))
        return self._rules[columns]


class _Cell(str):
    """A value that golden records do not compare, as a text."""

    raw: Any

    __slots__ = ("raw",)


def _value(value: Any) -> Any:
    """A value as golden records take it: texts, numbers and lists of these as they are."""
    value = plain_value(value)
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return value
    cell = _Cell(json.dumps(value, default=json_value, sort_keys=True))
    cell.raw = value
    return cell


def _raw(value: Any) -> Any:
    return value.raw if isinstance(value, _Cell) else value


def _newest(name: str, members: Iterable[Member]) -> Any:
    """The newest value of a column, for values without a standard form."""
    return next((value for one in members if (value := one.fields.get(name)) not in (None, "")), None)


class EntityTables:
    """Writes the rows of the input, by entity.

    Args:
        rule: the record to keep of each entity: GOLDEN, or a rule of `ledger.clusters.kept`; "" for none.
        rows: of the input.
        golden: computes golden records.
        kept, assigned: the outputs of `--output` and `--assign`.

    Raises:
        ConfigError: an output whose extension names no format.
    """

    def __init__(
        self, rule: str, rows: InputRows, golden: GoldenRows, kept: Output | None, assigned: Output | None
    ) -> None:
        self._rule, self._rows, self._golden = rule, rows, golden
        self._kept, self._assigned = kept, assigned
        self._count = 0

    def write(self, entities: Sequence[Entity], placed: Placed) -> None:
        """Write the outputs; the caller finishes them.

        Raises:
            ConfigError: a column that does not exist, or that the format of an output cannot store.
            MalformedMessage: the input has changed since it was read.
        """
        entity_of = {id: entity.id for entity in entities for id in entity.members}
        ids = self._rows.ids
        tables: list[TableOutput] = []
        if self._assigned is not None:
            assigned = assigned_clusters(ids, entity_of, {entity.id for entity in entities})
            table = self._rows.table(self._assigned, table_format(self._assigned.name, "--assign"), [ENTITY])
            for start, batch in self._rows.batches():
                table.write(batch, None, {ENTITY: assigned[start : start + len(batch)]})
            tables.append(table)
        if self._kept is not None:
            table = self._rows.table(self._kept, table_format(self._kept.name, "--output"))
            self._write_kept(table, entities, entity_of, placed)
            tables.append(table)
        for table in tables:
            table.end()

    def _write_kept(
        self, table: TableOutput, entities: Sequence[Entity], entity_of: Mapping[str, str], placed: Placed
    ) -> None:
        is_golden = self._rule == GOLDEN
        rows = self._rows
        ranks = np.zeros(len(rows.ids)) if is_golden else rows.ranks(self._rule)
        kept = kept_rows(rows.ids, rows.lengths, entity_of, ranks)
        golden = self._golden_rows(entities, entity_of, placed) if is_golden else {}
        self._count = int(kept.sum())
        for start, batch in rows.batches():
            some = kept[start : start + len(batch)]
            entities_here = [entity_of.get(id) for id in rows.ids[start : start + len(batch)]]
            if golden and any(keep and entity for keep, entity in zip(some, entities_here, strict=True)):
                chosen = zip(batch.as_rows(), some, entities_here, strict=True)
                table.write(RowBatch([golden[entity] if entity else row for row, keep, entity in chosen if keep]))
            else:
                table.write(batch, some)

    def _golden_rows(
        self, entities: Sequence[Entity], entity_of: Mapping[str, str], placed: Placed
    ) -> Mapping[str, Row]:
        """The golden record of each entity, by its id."""
        rows = self._rows
        current = {id: row for row, id in enumerate(rows.ids) if id in entity_of}
        row_of: dict[str, Row] = {}
        for start, batch in rows.batches():
            here = [index for index in range(start, start + len(batch)) if current.get(rows.ids[index]) == index]
            if here:
                values = batch.as_rows()
                row_of |= {rows.ids[index]: values[index - start] for index in here}
        golden: dict[str, Row] = {}
        for entity in entities:
            base = row_of.get(entity.id) or row_of[entity.members[0]]
            golden[entity.id] = self._golden.of(base, [(id, *placed[id], row_of[id]) for id in entity.members])
        return golden

    def summary(self) -> list[str]:
        """The line of the summary."""
        return [f"{self._count:,} of {len(self._rows.ids):,} rows kept"] if self._kept is not None else []
