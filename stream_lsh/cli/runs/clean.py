"""The input without its copies, and the cluster of each of its rows: the outputs of `dedup --keep` and `--assign`.

The input is read twice.  The first pass compares documents and records the id of each row; the second writes rows.  So
the texts need not be in memory, and rows keep the columns that are not compared.
"""

import math
from argparse import Namespace
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from stream_lsh.cli.output.atomic_files import Output, Outputs
from stream_lsh.cli.output.formats import table_format
from stream_lsh.cli.output.tables import TableOutput, plain_value, table_output
from stream_lsh.cli.runs.survey import columns_of, schema_of
from stream_lsh.errors import ConfigError
from stream_lsh.files.chunks import Part
from stream_lsh.files.column_names import AS_NAMED
from stream_lsh.files.discover import Input
from stream_lsh.files.whole_rows import Place, RowBatch, RowSource, changed
from stream_lsh.ledger.clusters.kept import COLUMN, kept_rows, ranks
from stream_lsh.model import Cluster
from stream_lsh.wire.field_names import FieldNames

CLUSTER = "cluster"
"""The column that `--assign` adds."""
_DELETED = -1


class CleanRun:
    """Records the rows of the input while they are compared, and writes those that are kept.

    Args:
        options: of the command.
        inputs: its files.
        outputs: the files that the options request are added to them.

    Raises:
        ConfigError: an output whose ending names no format, or an input that cannot be read twice.
    """

    def __init__(self, options: Namespace, inputs: Sequence[Input], outputs: Outputs) -> None:
        self._rule: str = options.keep or ""
        self._ids: list[str] = []
        self._lengths = array("q")
        self._rejected: set[Place] = set()
        self._outputs: list[tuple[Output, str, bool]] = []
        self._kept = 0
        names = FieldNames(**{column.removesuffix("_column"): getattr(options, column) for column in AS_NAMED})
        self._source = RowSource(inputs, names, options.max_bytes, options.html != "off")
        for path, option, assigned in ((options.kept, "--output", False), (options.assign, "--assign", True)):
            if path is not None:
                self._outputs.append((outputs.add(path), table_format(path, option), assigned))

    def noted(self, parts: Iterable[Part]) -> Iterator[Part]:
        """The same parts; their rows are recorded."""
        for part in parts:
            self._ids += [document.id for document in part.documents]
            self._lengths.extend(
                _DELETED if document.text is None else len(document.text) for document in part.documents
            )
            self._rejected.update((refused.path, refused.at) for refused in part.refused)
            yield part

    def write(self, clusters: Iterable[Cluster]) -> None:
        """Write the outputs; the caller finishes them.

        Raises:
            ConfigError: `--keep column:NAME` with a column that does not exist, or whose values are not numbers; a
                column that the format of an output cannot store.
            MalformedMessage: the input has changed since it was read.
        """
        clusters = list(clusters)
        cluster_of = {member: cluster.id for cluster in clusters for member in cluster.members}
        assigned = assigned_clusters(self._ids, cluster_of, {cluster.id for cluster in clusters})
        kept = kept_rows(self._ids, self._lengths, cluster_of, self._ranks()) if self._rule else None
        self._kept = 0 if kept is None else int(kept.sum())
        tables = [
            (self._table(output, format, [CLUSTER] if assign else []), assign)
            for output, format, assign in self._outputs
        ]
        for start, batch in self._batches():
            end = start + len(batch)
            for table, assign in tables:
                if assign:
                    table.write(batch, None, {CLUSTER: assigned[start:end]})
                elif kept is not None:
                    table.write(batch, kept[start:end].tolist())
        for table, _ in tables:
            table.end()

    def summary(self) -> list[str]:
        """The line of the summary."""
        return [f"{self._kept:,} of {len(self._ids):,} rows kept"] if self._rule else []

    def _table(self, output: Output, format: str, added: Sequence[str]) -> TableOutput:
        return table_output(
            output,
            format,
            added,
            lambda: columns_of(self._source, self._rejected),
            lambda: schema_of(self._source, self._rejected),
        )

    def _batches(self) -> Iterator[tuple[int, RowBatch]]:
        """The rows, each batch with the number of rows before it."""
        start = 0
        for batch in self._source.batches(self._rejected):
            if start + len(batch) > len(self._ids):
                raise changed()
            if len(batch):
                yield start, batch
            start += len(batch)
        if start != len(self._ids):
            raise changed()

    def _ranks(self) -> NDArray[np.float64]:
        """A number for each row; the row with the greatest one in its cluster is kept."""
        if self._rule.startswith(COLUMN):
            return self._scores(self._rule.removeprefix(COLUMN))
        return ranks(self._rule, self._lengths)

    def _scores(self, column: str) -> NDArray[np.float64]:
        scores, found = np.full(len(self._ids), -math.inf), False
        for start, batch in self._batches():
            for index, row in enumerate(batch.as_rows(), start):
                found |= column in row
                scores[index] = self._score(row.get(column), column, index)
        if not found and len(self._ids):
            names = ", ".join(map(repr, list(columns_of(self._source, self._rejected))[:20]))
            raise ConfigError(f"--keep: got the column {column!r}, expected one of {names}")
        return scores

    def _score(self, value: object, column: str, index: int) -> float:
        value = plain_value(value)
        if value is None or value == "":
            return -math.inf
        try:
            number = float(value)  # type: ignore[arg-type]  # whatever the column holds
        except (TypeError, ValueError):
            shown, id = ascii(value)[:80], ascii(self._ids[index])[:80]
            raise ConfigError(f"--keep: got {shown} in the column {column!r} of {id}, expected a number") from None
        return -math.inf if math.isnan(number) else number


def assigned_clusters(ids: Sequence[str], cluster_of: Mapping[str, str], taken: set[str]) -> list[str]:
    """The cluster of each row; a document that matches none has its own id.

    Args:
        ids: of the rows.
        cluster_of: the cluster of each document that has matches.
        taken: the ids of all clusters.  A cluster can have the id of a document that has left it.

    Example:
        >>> assigned_clusters(["a", "b", "c"], {"b": "a", "c": "a"}, {"a"})
        ['a~', 'a', 'a']
    """
    assigned = []
    for id in ids:
        cluster = cluster_of.get(id)
        if cluster is None:
            cluster = id
            while cluster in taken:
                cluster += "~"
        assigned.append(cluster)
    return assigned
