"""The run of `dedup --query`: the files are added to a new or a saved collection, then each query is looked up."""

from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from stream_lsh.cli.input.batches import CountsRejects, batches, reject
from stream_lsh.cli.output.caps import caps_lines
from stream_lsh.cli.output.outputs import Outputs
from stream_lsh.cli.output.progress import Progress
from stream_lsh.cli.runs.dedup import PIPELINE, near_of
from stream_lsh.errors import ConfigError
from stream_lsh.files.chunks import Refused
from stream_lsh.files.discover import Input
from stream_lsh.kinds.in_memory import similar_of
from stream_lsh.kinds.shingled.methods import LSH
from stream_lsh.kinds.text.files import read
from stream_lsh.kinds.text.in_memory import NearDuplicates
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS
from stream_lsh.measure.catalog import JACCARD
from stream_lsh.model import Document
from stream_lsh.settings.units import counted
from stream_lsh.wire.public import as_json


def opened(options: Namespace) -> NearDuplicates:
    """The saved collection of `--index`; the options get its settings.

    Raises:
        ConfigError: the file cannot be opened, or an option that was set differs from its setting.
        StateError: the file is damaged, or another version has written it.
    """
    path = options.index
    try:
        near = NearDuplicates.load(path)
    except OSError as error:
        raise ConfigError(f"--index: {path}: cannot be read: {error.strerror}") from None
    saved = _options_of(near.settings)
    problems = [
        f"--{name.replace('_', '-')}: got {_shown(getattr(options, name))}, expected {_shown(value)} as in {path}: "
        "leave it out, or save the documents again"
        for name, value in saved.items()
        if name in options.named and getattr(options, name) != value
    ]
    if problems:
        raise ConfigError(problems)
    vars(options).update(saved)
    return near


def _options_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a collection, by the names of the options."""
    guards = settings["guards"]
    return {
        "threshold": settings["threshold"],
        "shingles": settings["shingles"],
        "recall": settings["recall"],
        "retention": settings["retention_ms"],
        "normalise": tuple(settings["normalise"]),
        "max_candidates": settings.get("max_candidates"),
        "measure": settings.get("measure", JACCARD.name),
        "size_ratio": settings.get("size_ratio"),
        "method": settings.get("method", LSH),
        "min_characters": settings.get("min_characters", 0),
        **{name: guards.get(name, default) for name, default in asdict(NO_GUARDS).items()},
    }


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else "no limit" if value is None else str(value)


class DedupQueryRun(CountsRejects):
    """One run.

    Args:
        options: those of the command.
        outputs: the answers as `matches`, and the rejects.

    Attributes:
        asked: the number of accepted queries.

    Raises:
        ConfigError: settings that contradict each other.
    """

    def __init__(self, options: Namespace, outputs: Outputs) -> None:
        self._options, self._outputs = options, outputs
        self._near = near_of(options) if options.index is None else opened(options)
        self._measure = options.measure
        self._pipeline = self._near.pipeline
        self._progress = Progress(0, shown=False)
        self._reasons: Counter[str] = Counter()
        self.asked = self._answered = self._matches = 0

    @property
    def size(self) -> int:
        """Indexed documents."""
        return len(self._pipeline.documents)

    def close(self) -> None:
        """Remove the progress bar."""
        self._progress.clear()

    def _batches(self, inputs: Sequence[Input]) -> Iterator[list[Document]]:
        quiet, rejects = self._options.quiet, self._outputs.rejects
        self._progress = Progress(sum(one.size for one in inputs), shown=not quiet)
        yield from batches(read(inputs, self._options), self._progress, self._reasons, quiet=quiet, rejects=rejects)
        self._progress.clear()

    def read(self, inputs: Sequence[Input]) -> None:
        """Add the documents of these files, and save all if an option requests it."""
        for documents in self._batches(inputs):
            self._pipeline.process(documents)
        if self._options.save is not None:
            self._near.save(self._options.save)

    def answer(self, queries: Sequence[Input]) -> None:
        """Write the matches of each query, in the order of the queries."""
        out = self._outputs.matches
        for documents in self._batches(queries):
            for query in documents:
                if query.text is None:
                    self._reject(query)
                    continue
                lines = self._lines(query, query.text)
                self.asked += 1
                self._answered += bool(lines)
                self._matches += len(lines)
                if out is not None:
                    out.write(lines)
            if out is not None and out.closed_by_reader:
                return

    def _reject(self, query: Document) -> None:
        refused = [Refused("--query", query.id, "deleted", "got a delete, expected a document with a text")]
        reject(refused, self._progress, self._reasons, quiet=self._options.quiet, rejects=self._outputs.rejects)

    def _lines(self, query: Document, text: str) -> list[bytes]:
        """The documents that match a query, the most similar first."""
        time_ms = query.time_ms or None  # a query without a time ignores the retention
        return [
            as_json(
                {
                    "pipeline": PIPELINE,
                    "query": query.id,
                    "id": one.id,
                    "similarity": one.similarity,
                    "measure": self._measure,
                    "shared": one.shared,
                    "union": one.union,
                }
            )
            for one in similar_of(self._pipeline.similar(text, time_ms))
        ]

    def summary(self, seconds: float) -> list[str]:
        """The counts, in lines."""
        counts = self._pipeline.counts
        lines = [
            f"{counted(self.size, 'document')}, {counted(self.asked, 'query', 'queries')}, "
            f"{self._answered:,} of them with a match, {counted(self._matches, 'match', 'matches')}, {seconds:.1f} s"
        ]
        lines += caps_lines(counts)
        return lines + self.rejected
