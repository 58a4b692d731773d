"""The run of `evaluate`: reads found and true pairs or clusters, and numbers their ids."""

from argparse import Namespace
from collections import Counter
from typing import NamedTuple

import numpy as np

from stream_lsh.cli.input.batches import list_rejects, reject, summary
from stream_lsh.cli.output.atomic_files import Output, exit_code
from stream_lsh.cli.output.progress import Progress
from stream_lsh.errors import ConfigError
from stream_lsh.files.discover import Input
from stream_lsh.kinds.record.files import read_rows
from stream_lsh.kinds.record.groups import Group, GroupMaker, Pair
from stream_lsh.kinds.record.labels import two_answers
from stream_lsh.measure.evaluation import Evaluation, Grouping, by_threshold, evaluate, of_pairs

_SHOWN = 3


class Evaluated(NamedTuple):
    """The scores of all found pairs, and by threshold; [] without similarities.

    Attributes:
        items: distinct ids in both files.
        unknown: ids of the found pairs or clusters that a truth of clusters does not have.
    """

    scores: Evaluation
    thresholds: list[tuple[float, Evaluation]]
    items: int
    unknown: int


class _File:
    """The contents of one file.

    Args:
        path: for messages.
        ids: the number of each id; new ids are added.

    Attributes:
        header: the columns of a table of two columns of ids.
    """

    def __init__(self, path: str, ids: dict[str, int]) -> None:
        self._path, self._numbers = path, ids
        self.ids: set[int] = set()
        self.header: tuple[str, str] | None = None
        self.pairs: list[tuple[int, int]] = []
        self.similarities: list[float] = []
        self.wrong: list[tuple[int, int]] = []
        self._cluster_of: dict[int, int] = {}
        self._clusters: dict[tuple[str, bool | int], int] = {}

    def add(self, row: Pair | Group, number: int) -> None:
        """Add a row, with its number in the file."""
        if isinstance(row, Pair):
            pair = self._number(row.left), self._number(row.right)
            if row.match is False:
                self.wrong.append((min(pair), max(pair)))
                return
            self.pairs.append(pair)
            if row.similarity is not None:
                self.similarities.append(row.similarity)
            return
        # The same id of two whole groups is two groups.
        cluster = self._clusters.setdefault((row.id, number if row.whole else False), len(self._clusters))
        for id in row.members:
            item = self._number(id)
            if self._cluster_of.setdefault(item, cluster) != cluster:
                raise ConfigError(f"{self._path}: got the id {id!r:.60} in two clusters, expected one for each id")

    def _number(self, id: str) -> int:
        item = self._numbers.setdefault(id, len(self._numbers))
        self.ids.add(item)
        return item

    def check_header(self) -> None:
        """Check that the names of the columns are no ids.

        Raises:
            ConfigError: both are ids of the files.
        """
        if self.header is not None and all(name in self._numbers for name in self.header):
            raise ConfigError(f"{self._path}: got ids in the first line, expected a header such as left,right")

    @property
    def clustered(self) -> bool:
        """Whether the file has clusters, not pairs."""
        return bool(self._cluster_of)

    def grouping(self) -> Grouping:
        """The pairs and clusters among all ids of both files.

        Raises:
            ConfigError: the file has pairs and clusters, or a pair with both answers.
        """
        count = len(self._numbers)
        if not self.clustered:
            left, right = zip(*self.pairs, strict=True) if self.pairs else ((), ())
            scored = len(self.similarities) == len(self.pairs)
            self._check_answers()
            made = of_pairs(count, left, right, self.similarities if scored else None)
            wrong = np.array(sorted(set(self.wrong)), np.int64).reshape(-1, 2)
            return Grouping(made.labels, made.left, made.right, made.similarity, wrong)
        if self.pairs or self.wrong:
            raise ConfigError(f"{self._path}: got pairs and clusters, expected either")
        labels = np.arange(count) + len(self._clusters)  # an id without a cluster is one of its own
        labels[[*self._cluster_of]] = [*self._cluster_of.values()]
        return Grouping(np.unique(labels, return_inverse=True)[1])

    def _check_answers(self) -> None:
        both = {(min(pair), max(pair)) for pair in self.pairs} & set(self.wrong)
        if both:
            names = {number: id for id, number in self._numbers.items()}
            one, other = (names[number] for number in min(both))
            raise two_answers(self._path, one, other)


class EvaluateRun:
    """One run.

    Args:
        options: those of the command.
        rejects: gets a line for each rejected row.

    Attributes:
        exit_code: 1 if all rows of a file were rejected, or any with --strict.
    """

    def __init__(self, options: Namespace, rejects: Output | None) -> None:
        self._options, self._rejects = options, rejects
        self._reasons: Counter[str] = Counter()
        self._ids: dict[str, int] = {}
        self._has_cluster_column = False
        self.exit_code = 0

    def run(self, matches: Input, truth: Input) -> Evaluated:
        """Read both files, and compare them.

        Raises:
            ConfigError: columns are missing, a file has nothing to compare, or no id is in both files.
        """
        found, true = self._read(matches, last=True), self._read(truth)
        named = self._options.cluster_column
        if named is not None and not self._has_cluster_column:
            raise ConfigError(f"--cluster-column: got {named!r}, expected a column of {matches.path} or {truth.path}")
        for contents in (found, true):
            contents.check_header()
        self._check(found, true, matches.path, truth.path)
        groupings = found.grouping(), true.grouping()
        unknown = len(found.ids - true.ids) if true.clustered else 0
        return Evaluated(evaluate(*groupings), by_threshold(*groupings), len(self._ids), unknown)

    def _check(self, found: _File, true: _File, matches: str, truth: str) -> None:
        if not true.ids:
            raise ConfigError(f"{truth}: got no pairs and no clusters, expected the true ones")
        if found.ids and not found.ids & true.ids:
            names = {number: id for id, number in self._ids.items()}
            some = [", ".join(repr(names[one])[:40] for one in sorted(file.ids)[:_SHOWN]) for file in (found, true)]
            raise ConfigError(
                f"{truth}: got no id of {matches}: it has {some[1]}, and the matches have {some[0]}; the id of a "
                "record with a source is SOURCE/ID"
            )

    def _read(self, file: Input, *, last: bool = False) -> _File:
        contents = _File(file.path, self._ids)
        progress = Progress(file.size, shown=not self._options.quiet, what="rows")
        maker = GroupMaker(self._options.id_column, self._options.cluster_column, last=last)
        number, refused = 0, self._reasons.total()
        for part in read_rows([file], [maker], max_bytes=self._options.max_bytes, encoding=self._options.encoding):
            reject(part.refused, progress, self._reasons, quiet=self._options.quiet, rejects=self._rejects)
            for row in part.records:
                number += 1
                contents.add(row, number)
            progress.update(part.position, number)
        contents.header = maker.header
        progress.clear()
        self._has_cluster_column |= maker.has_cluster_column
        self.exit_code |= exit_code(number, self._reasons.total() - refused, strict=self._options.strict)
        return contents

    def summary(self) -> list[str]:
        """The line of rejected rows, for the summary."""
        return summary(self._reasons, list_rejects(self._rejects))
