"""The run of `sets`: reads sets, and writes pairs, clusters or answers."""

from argparse import Namespace
from collections.abc import Iterator, Sequence

from stream_lsh.cli.output.outputs import Outputs
from stream_lsh.cli.runs.single_field import SingleFieldRun
from stream_lsh.files.chunks import Part, Refused
from stream_lsh.files.discover import Input
from stream_lsh.kinds.set.files import read_sets
from stream_lsh.kinds.set.in_memory import SimilarSets
from stream_lsh.kinds.set.messages import ItemsForm
from stream_lsh.ledger.changes import MatchChange
from stream_lsh.model import Document
from stream_lsh.settings.problems import problems_as_options
from stream_lsh.wire.public import as_json, match_messages

PIPELINE = "sets"
"""The value of `pipeline` in a line."""
_OPTIONS = {
    "threshold": "--threshold",
    "recall": "--recall",
    "measure": "--measure",
    "size_ratio": "--size-ratio",
    "bag": "--counts",
    "grid.squares": "--squares",
}


class SetsRun(SingleFieldRun):
    """One run over sets.

    Raises:
        ConfigError: invalid settings.
    """

    def __init__(self, options: Namespace, outputs: Outputs) -> None:
        super().__init__(options, outputs, "sets")
        with problems_as_options(_OPTIONS):
            self.memory = self._sets = SimilarSets(
                options.threshold,
                options.recall,
                None,
                options.max_candidates,
                bag=options.counts,
                measure=options.measure,
                size_ratio=options.size_ratio,
                squares=options.squares,
            )
            self._form = ItemsForm(options.counts, options.squares)

    def parts(self, inputs: Sequence[Input]) -> Iterator[Part]:
        """The sets of files."""
        return read_sets(inputs, self.options, self._form)

    def add(self, documents: Sequence[Document]) -> None:
        """Add sets."""
        self._sets.add_many(
            [(document.id, self._form.value(document.text or ""), document.time_ms) for document in documents]
        )

    def arranged(self, read: Iterator[list[Document]]) -> Iterator[list[Document]]:
        """The sets, or with --swap for each item the set of sets that contain it."""
        return self._swapped(read) if self.options.swap else read

    def _swapped(self, read: Iterator[list[Document]]) -> Iterator[list[Document]]:
        sets: dict[str, str] = {}
        for documents in read:
            for document in documents:
                sets.pop(document.id, None)
                if document.text is not None:
                    sets[document.id] = document.text
        holders: dict[str, list[str | int]] = {}
        for id, text in sets.items():
            for item in self._form.value(text):
                holders.setdefault(str(item), []).append(id)
        if holders.pop("", None):
            problem = "got an empty item, expected one that can be an id"
            self.reject([Refused("--swap", '""', "id", problem)])
        yield [Document(item, self._form.text(ids, "items")) for item, ids in holders.items()]

    def pair_lines(self) -> Iterator[bytes]:
        """All pairs, in the form that `dedup` writes and pipelines of sets publish."""
        for match in self._sets.matches():
            times = (match.left_time_ms, match.right_time_ms)
            counts = (match.similarity, match.shared, match.union)
            change = MatchChange(match.left, match.right, *counts, *times, None, match.left_shingles)
            # A pair is known once its later set is.
            (_, value, _), *_ = match_messages(PIPELINE, [change], max(times), self.options.measure)
            if value is not None:
                yield value

    def answers(self, document: Document) -> list[bytes]:
        """The sets that match a set, the most similar first."""
        lines = []
        for match in self._sets.query(self._form.value(document.text or "")):
            value = {"pipeline": PIPELINE, "query": document.id, "id": match.id, "similarity": match.similarity}
            counts = {"measure": self.options.measure, "shared": match.shared, "union": match.union}
            lines.append(as_json(value | counts))
        return lines
