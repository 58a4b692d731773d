"""Batches of Parquet have as many rows as fit the memory, whatever its metadata claims."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from stream_lsh.files.columnar import record_batches
from stream_lsh.files.discover import PARQUET, Input
from stream_lsh.files.rows import ROWS

pa: Any = import_module("pyarrow")
pq: Any = import_module("pyarrow.parquet")
LONG = 2 << 20


def batches(path: Path, columns: list[str] | None = None) -> list[Any]:
    file = Input(str(path), PARQUET, path.stat().st_size)
    return [batch for batch, _, _ in record_batches(file, lambda _: columns)]


def sizes(path: Path, columns: list[str] | None = None) -> set[int]:
    """The rows of all batches but the last one."""
    return {batch.num_rows for batch in batches(path, columns)[:-1]}


@pytest.mark.parametrize("type", ["string", "large_string", "binary"])
@pytest.mark.parametrize("rows_of_group", [2_000, 20_000, 40_000])
def test_texts_of_any_row_group_come_in_batches_of_many_rows(tmp_path: Path, type: str, rows_of_group: int) -> None:
    texts = [f"{number} " * 180 for number in range(40_000)]
    table = pa.table({"id": range(len(texts)), "text": pa.array(texts).cast(type)})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=rows_of_group)
    found = batches(tmp_path / "x.parquet")
    assert len(found) <= 40_000 // ROWS + 2 * 40_000 // rows_of_group
    assert pa.Table.from_batches(found).to_pylist() == table.to_pylist()


def test_numbers_and_columns_that_are_not_read_take_no_rows_from_a_batch(tmp_path: Path) -> None:
    rows = 1_000_000
    table = pa.table({"id": range(rows), "x": pa.array(["y" * LONG] * 40 + [""] * (rows - 40))})
    pq.write_table(table, tmp_path / "x.parquet")
    assert sizes(tmp_path / "x.parquet", ["id"]) == {ROWS}
    assert max(sizes(tmp_path / "x.parquet")) <= (64 << 20) // LONG


def test_a_long_value_of_a_dictionary_counts_in_every_row(tmp_path: Path) -> None:
    texts = [None, *(f"{number} " * 180 for number in range(1_000)), "x" * LONG, *["x" * LONG] * 2_000]
    fixed = [None if text is None else text[:4].encode() for text in texts]
    table = pa.table({"row": [{"text": text} for text in texts], "fixed": pa.array(fixed, pa.binary(4))})
    pq.write_table(table, tmp_path / "x.parquet", dictionary_pagesize_limit=1 << 30)
    assert sizes(tmp_path / "x.parquet", ["fixed"]) <= {ROWS}
    found = batches(tmp_path / "x.parquet")
    assert sum(batch.num_rows for batch in found) == len(texts)
    assert 40 << 20 <= max(batch.nbytes for batch in found) <= 70 << 20


@pytest.mark.parametrize("encoding", ["dictionary", "DELTA_BYTE_ARRAY"])
@pytest.mark.parametrize("nested", [False, True])
def test_a_long_value_in_every_row_makes_batches_small(tmp_path: Path, encoding: str, *, nested: bool) -> None:
    value: Any = ["x" * LONG]
    column = pa.array([value if nested else value[0]] * 300)
    has_dictionary = encoding == "dictionary"
    pq.write_table(
        pa.table({"text": column}),
        tmp_path / "x.parquet",
        use_dictionary=has_dictionary,
        dictionary_pagesize_limit=1 << 30,
        column_encoding=None if has_dictionary else {"text.list.element" if nested else "text": encoding},
    )
    found = batches(tmp_path / "x.parquet")
    assert sum(batch.num_rows for batch in found) == 300
    assert max(batch.nbytes for batch in found) <= 70 << 20
