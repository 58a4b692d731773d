"""Columns and types of the inputs of a command: a table with a header or a schema needs them before its first row."""

from collections.abc import Collection, Sequence
from typing import Any

from stream_lsh.cli.output.tables import arrow_library, plain_value
from stream_lsh.errors import ConfigError
from stream_lsh.files.columnar import file_schema
from stream_lsh.files.whole_rows import Place, RowSource


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
