"""The rows of the inputs of a command, for outputs that contain the input.

The input is read twice.  The first pass compares values and records the id of each row; the second writes rows.  So the
input need not be in memory, and rows keep the columns that are not compared.
"""

import math
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stream_lsh.cli.output.atomic_files import Output
from stream_lsh.cli.output.tables import TableOutput, arrow_library, plain_value, table_output
from stream_lsh.errors import ConfigError
from stream_lsh.files.chunks import Refused
from stream_lsh.files.columnar import file_schema
from stream_lsh.files.whole_rows import Place, RowBatch, RowSource, changed
from stream_lsh.ledger.clusters.kept import COLUMN, ranks

DELETED = -1
"""The length of a row that deletes."""


class InputRows:
    """The ids of the rows that a command has read, and the rows themselves, in a second pass.

    Args:
        source: the inputs.

    Attributes:
        ids: of the rows that were not rejected.
        lengths: of their texts, in characters, or DELETED.
    """

    def __init__(self, source: RowSource) -> None:
        self.ids: list[str] = []
        self.lengths = array("q")
        self._source = source
        self._rejected: set[Place] = set()

    def note(self, ids: Iterable[str], lengths: Iterable[int], refused: Iterable[Refused]) -> None:
        """Record rows that were read, in their order, and the rejected rows among them."""
        self.ids += ids
        self.lengths.extend(lengths)
        self._rejected.update((one.path, one.at) for one in refused)

    def batches(self) -> Iterator[tuple[int, RowBatch]]:
        """The rows, each batch with the number of rows before it.

        Raises:
            MalformedMessage: the input has changed since it was read.
        """
        start = 0
        for batch in self._source.batches(self._rejected):
            if start + len(batch) > len(self.ids):
                raise changed()
            if len(batch):
                yield start, batch
            start += len(batch)
        if start != len(self.ids):
            raise changed()

    def columns(self) -> Sequence[str]:
        """The columns of all inputs, in the order in which they first occur."""
        return columns_of(self._source, self._rejected)

    def table(self, output: Output, format: str, added: Sequence[str] = ()) -> TableOutput:
        """A table with the columns of the input, and with those that are added."""
        return table_output(output, format, added, self.columns, lambda: schema_of(self._source, self._rejected))

    def ranks(self, rule: str) -> NDArray[np.float64]:
        """A number for each row; the row with the greatest one in its cluster is kept.

        Args:
            rule: of `ledger.clusters.kept`.

        Raises:
            ConfigError: a column that does not exist, or whose values are not numbers.
        """
        return self._scores(rule.removeprefix(COLUMN)) if rule.startswith(COLUMN) else ranks(rule, self.lengths)

    def _scores(self, column: str) -> NDArray[np.float64]:
        scores, found = np.full(len(self.ids), -math.inf), False
        for start, batch in self.batches():
            for index, row in enumerate(batch.as_rows(), start):
                found |= column in row
                scores[index] = self._score(row.get(column), column, index)
        if not found and len(self.ids):
            names = ", ".join(map(repr, list(self.columns())[:20]))
            raise ConfigError(f"--keep: got the column {column!r}, expected one of {names}")
        return scores

    def _score(self, value: object, column: str, index: int) -> float:
        value = plain_value(value)
        if value is None or value == "":
            return -math.inf
        try:
            number = float(value)  # type: ignore[arg-type]  # whatever the column holds
        except (TypeError, ValueError):
            shown, id = ascii(value)[:80], ascii(self.ids[index])[:80]
            raise ConfigError(f"--keep: got {shown} in the column {column!r} of {id}, expected a number") from None
        return -math.inf if math.isnan(number) else number


def columns_of(source: RowSource, rejected: Collection[Place]) -> Sequence[str]:
    """The columns of all inputs, in the order in which they first occur."""
    if all(file.columnar for file in source.inputs):
        return list(dict.fromkeys(name for file in source.inputs for name in file_schema(file).names))
    found: dict[str, None] = {}
    for batch in source.batches(rejected):
        for names in [batch.columns.schema.names] if batch.rows is None else batch.rows:
            found.update(dict.fromkeys(names))
    return list(found)


def schema_of(source: RowSource, rejected: Collection[Place]) -> Any:
    """The `pyarrow.Schema` of all inputs: the type of a column can store all its values.

    Raises:
        ConfigError: pyarrow is missing, or a column has values of different types.
    """
    arrow = arrow_library()
    if all(file.columnar for file in source.inputs):
        schemas = [file_schema(file) for file in source.inputs]
    else:
        schemas = []
    try:
        if not schemas:
            for batch in source.batches(rejected):
                rows = [{name: plain_value(value) for name, value in row.items()} for row in batch.rows or ()]
                found = batch.columns.schema if batch.rows is None else _inferred(arrow, rows)
                schemas = [_united(arrow, [*schemas, found])]
        return _united(arrow, schemas)
    except (arrow.ArrowException, UnicodeEncodeError) as error:
        reason = str(error).partition("\n")[0]
        raise ConfigError(f"a column has values of different types ({reason}): write JSON lines") from None


def _inferred(arrow: Any, rows: Sequence[dict[str, Any]]) -> Any:
    """The schema of some rows; the library itself would only look at the columns of the first row."""
    names = dict.fromkeys(name for row in rows for name in row)
    return arrow.schema([(name, arrow.array([row.get(name) for row in rows]).type) for name in names])


def _united(arrow: Any, schemas: Sequence[Any]) -> Any:
    return arrow.unify_schemas(schemas, promote_options="permissive") if schemas else arrow.schema([])
