"""The run of `allpairs`: passes documents to the engine and writes its pairs."""

from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from stream_lsh.allpairs.pairs import AllPairs
from stream_lsh.cli.input.batches import CountsRejects, batches
from stream_lsh.cli.output.atomic_files import report_lines
from stream_lsh.cli.output.outputs import Outputs
from stream_lsh.cli.output.progress import Progress
from stream_lsh.cli.runs.dedup import cluster_line, measure_for
from stream_lsh.files.discover import Input
from stream_lsh.kinds.text.files import read
from stream_lsh.ledger.changes import MatchChange
from stream_lsh.ledger.clusters.guards.links import root
from stream_lsh.model import Cluster, Match
from stream_lsh.settings.units import counted
from stream_lsh.wire.public import match_messages

PIPELINE = "allpairs"
"""The value of `pipeline` in a match line."""

_WRITTEN = 1000
"""Pairs that are written together."""


class AllPairsRun(CountsRejects):
    """One run.

    Args:
        options: those of the command.
        inputs: the files.
        outputs: the files of pairs, clusters and rejects.
    """

    def __init__(self, options: Namespace, inputs: Sequence[Input], outputs: Outputs) -> None:
        self._outputs = outputs
        self._measure = measure_for(options)
        self._pairs = AllPairs(
            options.threshold,
            options.shingles,
            normalise=options.normalise,
            measure=self._measure,
            min_characters=options.min_characters,
            memory=options.memory,
            threads=options.jobs,
        )
        self._progress = Progress(sum(file.size for file in inputs), shown=not options.quiet)
        self._reasons: Counter[str] = Counter()
        parts = read(inputs, options)
        self._batches = batches(parts, self._progress, self._reasons, quiet=options.quiet, rejects=outputs.rejects)
        self._groups = Groups()
        self._found = 0
        self.unheard = False
        """Whether the reader of the matches closed the pipe before the end."""

    @property
    def documents(self) -> int:
        """Documents that were read."""
        return len(self._pairs)

    def close(self) -> None:
        """Close the progress bar and the engine."""
        self._progress.clear()
        self._pairs.close()

    def run(self) -> None:
        """Read, compare and write; the files get their names when all of them are complete."""
        for documents in self._batches:
            self._pairs.add(documents)
        self._progress.say("comparing")
        matches, outputs = self._pairs.matches(), self._outputs
        while some := [*islice(matches, _WRITTEN)]:
            self._found += len(some)
            for match in some:
                self._groups.add(match)
            if outputs.matches is not None:
                outputs.matches.write(self._lines(some))
                if outputs.matches.closed_by_reader and outputs.clusters is None:
                    self.unheard = True
                    break
        if outputs.clusters is not None:
            outputs.clusters.write(map(cluster_line, self._groups.clusters()))
        self._progress.clear()
        outputs.finish()

    def _lines(self, matches: Sequence[Match]) -> Iterator[bytes]:
        for match in matches:
            times = match.left_time_ms, match.right_time_ms
            change = MatchChange(
                match.left, match.right, match.similarity, match.shared, match.union, *times, None, match.left_shingles
            )
            for _, value, _ in match_messages(PIPELINE, [change], max(times), self._measure.name):
                if value is not None:
                    yield value

    def report(self, seconds: float) -> None:
        """The summary, on standard error."""
        lines = [
            f"{counted(len(self._pairs), 'document')}, {counted(self._pairs.candidates, 'candidate')}, "
            f"{counted(self._found, 'pair')}, {counted(self._groups.count, 'cluster')}, {seconds:.1f} s"
        ]
        lines += self.rejected
        report_lines(lines)


class Groups:
    """The connected components of the pairs.

    Example:
        >>> groups = Groups()
        >>> groups.add(Match("b", "c", 1.0, 3, 3, 5, 9))
        >>> groups.add(Match("a", "b", 1.0, 3, 3, 7, 5))
        >>> [*groups.clusters()], groups.count
        ([Cluster(id='b', members=('c', 'a', 'b'))], 1)
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._times: list[int] = []
        self._above: list[int] = []
        self.count = 0

    def add(self, match: Match) -> None:
        """Join the groups of two documents."""
        left = root(self._above, self._number(match.left, match.left_time_ms))
        right = root(self._above, self._number(match.right, match.right_time_ms))
        if left != right:
            self._above[max(left, right)] = min(left, right)
            self.count -= 1

    def _number(self, id: str, time_ms: int) -> int:
        number = self._numbers.setdefault(id, len(self._above))
        if number == len(self._above):
            self._above.append(number)
            self._times.append(time_ms)
            self.count += 1
        return number

    def clusters(self) -> Iterator[Cluster]:
        """The groups, ascending by id, which is that of the oldest member; members newest first."""
        members: dict[int, list[tuple[int, str]]] = {}
        for id, number in self._numbers.items():
            members.setdefault(root(self._above, number), []).append((self._times[number], id))
        made = (tuple(id for _, id in sorted(group, reverse=True)) for group in members.values())
        yield from sorted((Cluster(group[-1], group) for group in made), key=lambda cluster: cluster.id)
