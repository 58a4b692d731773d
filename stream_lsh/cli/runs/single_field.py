"""The common run of `sets` and `neighbours`: reads values, and writes pairs and clusters, or answers to queries.

One object of the library stores all values, batch after batch.  Queries are not stored.
"""

from abc import ABC, abstractmethod
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from stream_lsh.cli.input.batches import CountsRejects, batches, reject
from stream_lsh.cli.output.caps import caps_lines
from stream_lsh.cli.output.outputs import Outputs
from stream_lsh.cli.output.progress import Progress
from stream_lsh.files.chunks import Part, Refused
from stream_lsh.files.discover import Input
from stream_lsh.kinds.in_memory import InMemory
from stream_lsh.model import Document
from stream_lsh.settings.units import counted
from stream_lsh.wire.public import as_json


class SingleFieldRun(CountsRejects, ABC):
    """One run.

    Args:
        options: those of the command.
        outputs: the files of the results.
        what: the name of the values, in the plural.

    Attributes:
        memory: stores the values; None before the first one.
        asked: the number of accepted queries.
    """

    memory: InMemory | None = None
    asked = 0

    def __init__(self, options: Namespace, outputs: Outputs, what: str) -> None:
        self.options = options
        self._outputs = outputs
        self._what = what
        self._progress = Progress(0, shown=False)
        self._reasons: Counter[str] = Counter()
        self._seen: set[str] = set()
        self._again = 0
        self._report: list[str] = []

    # -- implemented for each kind of value

    @abstractmethod
    def parts(self, inputs: Sequence[Input]) -> Iterator[Part]:
        """The values of files, as the steps take them."""

    @abstractmethod
    def add(self, documents: Sequence[Document]) -> None:
        """Add values, none of them deleted."""

    @abstractmethod
    def pair_lines(self) -> Iterator[bytes]:
        """All pairs."""

    @abstractmethod
    def answers(self, document: Document) -> list[bytes]:
        """The matches of one value, as lines."""

    def arranged(self, read: Iterator[list[Document]]) -> Iterator[list[Document]]:
        """The values to compare, made from those that were read."""
        return read

    # -- the run

    @property
    def size(self) -> int:
        """The number of values to compare."""
        return 0 if self.memory is None else len(self.memory)

    def close(self) -> None:
        """Remove the progress bar."""
        self._progress.clear()

    def read(self, inputs: Sequence[Input]) -> None:
        """Add the values of these files."""
        for documents in self.arranged(self._noted(self._batches(inputs))):
            waiting: list[Document] = []
            for document in documents:
                if document.text is not None:
                    waiting.append(document)
                    continue
                self._add(waiting)
                waiting = []
                if self.memory is not None:
                    self.memory.remove(document.id)
            self._add(waiting)
        self._progress.clear()

    def _add(self, documents: Sequence[Document]) -> None:
        if documents:
            self.add(documents)

    def _batches(self, inputs: Sequence[Input]) -> Iterator[list[Document]]:
        quiet = self.options.quiet
        self._progress = Progress(sum(file.size for file in inputs), shown=not quiet, what=self._what)
        rejects = self._outputs.rejects
        return batches(self.parts(inputs), self._progress, self._reasons, quiet=quiet, rejects=rejects)

    def _noted(self, read: Iterable[list[Document]]) -> Iterator[list[Document]]:
        for documents in read:
            for document in documents:
                if document.text is None:
                    self._seen.discard(document.id)
                else:
                    self._again += document.id in self._seen
                    self._seen.add(document.id)
            yield documents

    def reject(self, refused: Sequence[Refused]) -> None:
        """Report and count rejected values."""
        reject(refused, self._progress, self._reasons, quiet=self.options.quiet, rejects=self._outputs.rejects)

    def write(self) -> None:
        """Write all pairs, and the clusters if requested."""
        pairs, clusters = self._outputs.matches, self._outputs.clusters
        count = [0]
        if pairs is not None:
            pairs.write(_counted(self.pair_lines(), count))
        groups = [] if self.memory is None else self.memory.clusters()
        if clusters is not None:
            clusters.write(as_json({"cluster": group.id, "members": group.members}) for group in groups)
        self._report = [counted(count[0], "pair"), counted(len(groups), "cluster")]

    def answer(self, queries: Sequence[Input]) -> None:
        """Write the matches of each value in these files, in their order."""
        out = self._outputs.matches
        answered = matches = 0
        for documents in self.arranged(self._batches(queries)):
            for document in documents:
                if document.text is None:
                    problem = "got a deletion, expected a value to search for"
                    self.reject([Refused("--query", document.id, "deleted", problem)])
                    continue
                lines = self.answers(document)
                self.asked, answered, matches = self.asked + 1, answered + bool(lines), matches + len(lines)
                if out is not None:
                    out.write(lines)
            if out is not None and out.closed_by_reader:
                break
        self._progress.clear()
        self._report = [
            counted(self.asked, "query", "queries"),
            f"{answered:,} of them with a match",
            counted(matches, "match", "matches"),
        ]

    def summary(self, seconds: float) -> list[str]:
        """The lines of the summary."""
        lines = [", ".join([counted(self.size, self._what.removesuffix("s")), *self._report, f"{seconds:.1f} s"])]
        if self._again:
            lines.append(f"{counted(self._again, 'repeated id')}: the last one of each counts")
        if self.memory is not None:
            lines += caps_lines(self.memory.counts)
        return lines + self.rejected


def _counted(lines: Iterable[bytes], count: list[int]) -> Iterator[bytes]:
    for line in lines:
        count[0] += 1
        yield line
