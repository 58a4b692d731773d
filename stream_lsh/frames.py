"""Near-duplicates and entities in tables in memory: frames of pandas, polars or Arrow, and lists of dicts."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from stream_lsh.errors import ConfigError, InputError
from stream_lsh.kinds.record.in_frames import check_names, golden_columns, records_of
from stream_lsh.kinds.record.profiles import find_profile
from stream_lsh.kinds.record.rows import RecordNames
from stream_lsh.kinds.text.in_memory import NearDuplicates
from stream_lsh.ledger.clusters.kept import COLUMN, RULES, is_rule, kept_rows, ranks
from stream_lsh.model import Document
from stream_lsh.records.model import Record
from stream_lsh.records.profile import Profile
from stream_lsh.records.reading import Reader
from stream_lsh.records.survivorship import GoldenRecords, Member
from stream_lsh.tables import Table, table_of, texts_of

T = TypeVar("T")
_ROW = "\0row"
"""The id of a row, under a name that no column has."""
_SHOWN = 20


def deduplicate(
    data: T, *, text: str = "text", keep: str | None = "first", cluster: str | None = None, **settings: Any
) -> T:
    """A table without its near-duplicate rows.

    Args:
        data: a frame of pandas, polars or pyarrow, a `datasets.Dataset` (extra `frames`), or an iterable of dicts.
        text: the column that is compared.
        keep: from each cluster, keep the `first`, `last`, `longest` or `shortest` row, or the one with the greatest
            number in a column (`column:NAME`), the first among equals; None keeps all rows.
        cluster: the name of a column to add, with the number of the first row of each row's cluster, counted from 0.
        settings: arguments of `NearDuplicates`, such as `threshold`.

    Returns:
        a table of the same type, or a list for an iterable; `data` is unchanged.  Rows keep their order, their index
        and all their columns.

    Guarantees:
        a row without a text matches nothing and is kept.

    Raises:
        ConfigError: a column does not exist, exists twice, or has values of the wrong type; the settings are invalid;
            the type of the table is not supported; the library for frames is missing.

    Example:
        >>> rows = [{"text": "to be or not to be", "n": 1}, {"text": "To be, or not to be", "n": 2}, {"text": None}]
        >>> deduplicate(rows, keep="column:n")
        [{'text': 'To be, or not to be', 'n': 2}, {'text': None}]
        >>> [row["cluster"] for row in deduplicate(rows, keep=None, cluster="cluster")]
        [0, 0, 2]
    """
    if keep is not None and not is_rule(keep):
        raise ConfigError(f"keep: got {keep!r}, expected {', '.join(RULES)}, column:NAME or None")
    table = table_of(data)
    if cluster is not None:
        _check_new(table, "cluster", cluster)
    texts = texts_of(table, "text", text)
    ids = _row_ids(len(texts))
    near = NearDuplicates(**settings)
    near.add_many(Document(id, one) for id, one in zip(ids, texts, strict=True) if one is not None)
    cluster_of = {member: min(found.members) for found in near.clusters() for member in found.members}
    kept = None
    if keep is not None:
        lengths = [len(one or "") for one in texts]
        rank = ranks(keep, lengths) if keep in RULES else _numbers(table, keep.removeprefix(COLUMN))
        kept = kept_rows(ids, lengths, cluster_of, rank)
    numbers = [int(cluster_of.get(id, id)) for id in ids]
    return cast("T", table.result(kept, {} if cluster is None else {cluster: numbers}))


def link(
    data: T,
    profile: Profile | str | PathLike[str],
    *,
    entity: str = "entity",
    golden: bool = False,
    source: str | None = None,
    time: str | None = None,
    threshold: float | None = None,
    **settings: Any,
) -> T:
    """A table of records with their entities, or one golden record per entity.

    Args:
        data: a frame of pandas, polars or pyarrow, a `datasets.Dataset` (extra `frames`), or an iterable of dicts.
        profile: of the records, or its name, as for `RecordLinker`.  One without weights learns them from these rows,
            where they allow it.
        entity: the name of the column to add, with the number of the first row of each row's entity, counted from 0.
        golden: return one row per entity: `entity`, `size`, and the fields of the profile as texts.
        source: the column of the sources; None: the first of the profile's `source_columns` that the table has.
        time: the column of the event times; None: the column `time`, if there is one.
        threshold: least probability of a match; None: that of the profile.
        settings: arguments of `RecordLinker`: `max_candidates`, `guards`.

    Returns:
        a table of the same type, or a list for an iterable; `data` is unchanged.  Rows keep their order, their index
        and all their columns; golden records are in the order of the first rows of their entities.

    Guarantees:
        missing values are no evidence; a row that matches no other is an entity of its own.  The entities are those of
        `stream-lsh link`.
    Cost:
        one to two milliseconds per row, with learning.

    Raises:
        ConfigError: a column does not exist or exists already, no such profile, invalid settings, the type of the table
            is not supported, or a library is missing.
        MalformedMessage, UnusableDocument: a row has an unusable value.

    Example:
        >>> rows = [
        ...     {"name": "Jane Doe", "dob": "1980-02-03", "city": "Leeds"},
        ...     {"name": "Ann Smith", "dob": "1990-05-02", "city": None},
        ...     {"name": "Doe, Jane", "dob": "3 Feb 1980", "city": "Leeds"},
        ... ]
        >>> [row["entity"] for row in link(rows, "people")]
        [0, 1, 0]
        >>> [(row["entity"], row["size"], row["full_name"]) for row in link(rows, "people", golden=True)]
        [(0, 2, 'Doe, Jane'), (1, 1, 'Ann Smith')]
    """
    from stream_lsh.kinds.record.in_memory import RecordLinker, learned_from  # noqa: PLC0415 - the extra `records`

    if threshold is not None and not 0 < threshold < 1:
        raise ConfigError(f"threshold: got {threshold:g}, expected a number above 0 and below 1")
    table = table_of(data)
    check_names(table)
    if not golden:
        _check_new(table, "entity", entity)
    base = find_profile(profile)
    if threshold is not None:
        base = replace(base, match=threshold, review=min(base.review, threshold))
    names = replace(RecordNames.of(base, None, source, time, timed=True), id=(_ROW,))
    count = len(table.column("", table.names[0])) if table.names else 0
    rows = records_of(table, names, _row_ids(count))
    records = sorted(rows, key=lambda record: (record.time_ms, record.id))
    _check_comparable(base, rows, table)
    trained = base
    if not base.learned and len(records) > 1:
        with suppress(InputError):  # the rows do not allow training: the score is a weighted mean
            trained = learned_from(base, records)
    linker = RecordLinker(trained if threshold is None else replace(trained, match=base.match), **settings)
    linker.count_first(records)
    linker.add_many(records)
    row_of = {record.id: row for row, record in enumerate(rows)}
    entities = [*linker.entities()]
    first_of = {member: min(map(row_of.__getitem__, one.members)) for one in entities for member in one.members}
    firsts = [first_of.get(record.id, row) for row, record in enumerate(rows)]
    if not golden:
        return cast("T", table.result(None, {entity: firsts}))
    return cast("T", table.new(_golden_columns(rows, firsts, base, entity)))


def _check_comparable(profile: Profile, rows: Sequence[Record], table: Table) -> None:
    """Raise ConfigError with the likely cause if no two rows can be compared."""
    read = Reader(profile).values
    if rows and not any(any(read(record)) for record in rows):
        shown = ", ".join(map(repr, table.names[:_SHOWN]))
        raise ConfigError(
            f"data: got the columns {shown}, none of them with a value for a field of the profile {profile.name!r}: "
            "expected the names in its `columns`"
        )
    if len(rows) > 1 and profile.link == "link" and len({record.source for record in rows}) < 2:
        raise ConfigError(
            f"source: got rows of one source, expected two or more: the profile {profile.name!r} compares records of "
            "different sources; name the column of the source"
        )


def _golden_columns(rows: Sequence[Record], firsts: Sequence[int], profile: Profile, entity: str) -> dict[str, Any]:
    """The columns of the golden records of all entities, those of one row among them."""
    reader, survivors = Reader(profile), GoldenRecords(profile)
    members: dict[int, list[Member]] = {}
    for record, first in zip(rows, firsts, strict=True):
        member = Member(record.id, record.source, record.time_ms, reader.raw_values(record))
        members.setdefault(first, []).append(member)
    golden = [survivors.of(members[first]) for first in sorted(members)]
    sizes = [len(members[first]) for first in sorted(members)]
    return {entity: sorted(members), "size": sizes} | golden_columns(golden, profile)


def _row_ids(count: int) -> list[str]:
    """The ids of rows, in their order."""
    return [f"{row:012d}" for row in range(count)]


def _check_new(table: Table, argument: str, name: str) -> None:
    if name in table.names:
        raise ConfigError(f"{argument}: the table already has a column {name!r}, expected a new name")


def _numbers(table: Table, name: str) -> NDArray[np.float64]:
    numbers = np.full(len(values := table.column("keep", name)), -math.inf)
    for row, value in enumerate(values):
        if value is None:
            continue
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ConfigError(f"keep: got {value!r:.60} in row {row} of {name!r}, expected a number") from None
        numbers[row] = -math.inf if math.isnan(number) else number
    return numbers
