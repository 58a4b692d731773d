"""The input without its copies, and the cluster of each of its rows: the outputs of `dedup --keep` and `--assign`."""

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence

from stream_lsh.cli.output.atomic_files import Output
from stream_lsh.cli.output.formats import table_format
from stream_lsh.cli.output.outputs import Outputs
from stream_lsh.cli.runs.input_rows import DELETED, InputRows
from stream_lsh.files.chunks import Part
from stream_lsh.files.column_names import field_names
from stream_lsh.files.discover import Input
from stream_lsh.files.whole_rows import RowSource
from stream_lsh.ledger.clusters.kept import kept_rows
from stream_lsh.model import Cluster

CLUSTER = "cluster"
"""The column that `--assign` adds."""


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
        self._outputs: list[tuple[Output, str, bool]] = []
        self._kept = 0
        self._rows = InputRows(RowSource(inputs, field_names(options), options.max_bytes, options.html != "off"))
        for path, option, assigned in ((options.kept, "--output", False), (options.assign, "--assign", True)):
            if path is not None:
                self._outputs.append((outputs.add(path), table_format(path, option), assigned))

    def noted(self, parts: Iterable[Part]) -> Iterator[Part]:
        """The same parts; their rows are recorded."""
        for part in parts:
            texts = (document.text for document in part.documents)
            lengths = (DELETED if text is None else len(text) for text in texts)
            self._rows.note([document.id for document in part.documents], lengths, part.refused)
            yield part

    def write(self, clusters: Iterable[Cluster]) -> None:
        """Write the outputs; the caller finishes them.

        Raises:
            ConfigError: `--keep column:NAME` with a column that does not exist, or whose values are not numbers; a
                column that the format of an output cannot store.
            MalformedMessage: the input has changed since it was read.
        """
        clusters, rows = list(clusters), self._rows
        cluster_of = {member: cluster.id for cluster in clusters for member in cluster.members}
        assigned = []
        if any(assign for _, _, assign in self._outputs):
            assigned = assigned_clusters(rows.ids, cluster_of, {cluster.id for cluster in clusters})
        kept = kept_rows(rows.ids, rows.lengths, cluster_of, rows.ranks(self._rule)) if self._rule else None
        self._kept = 0 if kept is None else int(kept.sum())
        tables = [
            (rows.table(output, format, [CLUSTER] if assign else []), assign)
            for output, format, assign in self._outputs
        ]
        for start, batch in rows.batches():
            end = start + len(batch)
            for table, assign in tables:
                if assign:
                    table.write(batch, None, {CLUSTER: assigned[start:end]})
                elif kept is not None:
                    table.write(batch, kept[start:end])
        for table, _ in tables:
            table.end()

    def summary(self) -> list[str]:
        """The line of the summary."""
        return [f"{self._kept:,} of {len(self._rows.ids):,} rows kept"] if self._rule else []


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
