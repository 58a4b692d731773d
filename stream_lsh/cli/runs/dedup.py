"""The run of `dedup`: reads documents, and writes pairs, clusters or answers."""

import json
from argparse import Namespace
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from msgspec.json import encode

from stream_lsh.cli.input.batches import CountsRejects, batches
from stream_lsh.cli.options.common import TEXT_OPTIONS
from stream_lsh.cli.output.atomic_files import report_lines
from stream_lsh.cli.output.caps import caps_lines
from stream_lsh.cli.output.outputs import Outputs
from stream_lsh.cli.output.progress import Progress
from stream_lsh.cli.output.results import Answers
from stream_lsh.cli.runs.signer_pool import Signers
from stream_lsh.errors import ConfigError
from stream_lsh.files.chunks import Part
from stream_lsh.files.discover import TEXT, Input
from stream_lsh.kinds.shingled.methods import ShingleScheme, method_problems, most_candidates, text_scheme
from stream_lsh.kinds.text.in_memory import NearDuplicates
from stream_lsh.ledger.clusters.guards.choice import Guards
from stream_lsh.measure.catalog import Measure, measure_of
from stream_lsh.model import About, Cluster, Document
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.local import LocalPipeline
from stream_lsh.settings.problems import problems_as_options
from stream_lsh.settings.units import counted
from stream_lsh.text.scripts import ScriptCounts, script_lines
from stream_lsh.wire.public import match_messages

if TYPE_CHECKING:
    from stream_lsh.cli.reports.pairs_html import PairsReport

PIPELINE = "dedup"
"""The value of `pipeline` in a match line."""

_NO_OUTLET = "no document has a source, a URL or a subfolder, which name its site; see --source-column and --url-column"
_PENDING = 32
_OF_BATCH = 50
"""Every 50th document of a batch is in the sample whose scripts are reported."""


@problems_as_options(TEXT_OPTIONS)
def scheme_of(options: Namespace) -> ShingleScheme:
    """The scheme of the options; raises ConfigError if they contradict each other."""
    measure = measure_for(options)
    problems = method_problems(options.method, options.recall, options.max_candidates)
    refusals = [f"--{name.replace('_', '-')}: {problem}" for name, problem in problems]
    if refusals:
        raise ConfigError(refusals)
    return text_scheme(
        options.method,
        options.threshold,
        options.shingles,
        recall=options.recall,
        normalise=options.normalise,
        measure=measure,
        min_characters=options.min_characters,
    )


def measure_for(options: Namespace) -> Measure:
    """The measure of the options; raises ConfigError if they contradict each other."""
    try:
        return measure_of(options.measure, options.size_ratio)
    except ConfigError as error:
        raise ConfigError([f"--{problem.replace('_', '-', 1)}" for problem in error.problems]) from None


def near_of(options: Namespace) -> NearDuplicates:
    """An empty collection with the settings of the options; raises ConfigError if they contradict each other."""
    scheme_of(options), limits_of(options)  # their messages name options
    return NearDuplicates(
        options.threshold,
        options.shingles,
        options.recall,
        options.retention,
        options.max_candidates,
        normalise=options.normalise,
        guards=guards_of(options, options.threshold),
        measure=options.measure,
        size_ratio=options.size_ratio,
        method=options.method,
        min_characters=options.min_characters,
    )


def limits_of(options: Namespace) -> Limits:
    """Retention, caps and guards of the options; raises ConfigError if a guard would have no effect."""
    most = most_candidates(options.method, options.max_candidates)
    return Limits.of(most, options.retention, guards_of(options, options.threshold))


def guards_of(options: Namespace, threshold: float) -> Guards:
    """The guards of the options; raises ConfigError if one has no effect on matches from the threshold on."""
    guards = Guards(
        strong_links=options.strong_links,
        bridge_similarity=options.bridge_similarity,
        representative_similarity=options.representative_similarity,
        max_diameter=options.max_diameter,
        max_size=options.max_size,
    )
    problems = guards.problems(threshold)
    if problems:
        raise ConfigError([f"--{name.replace('_', '-')}: {problem}" for name, problem in problems])
    return guards


class _Pending(NamedTuple):
    """A batch that waits for its turn or for its signatures; the signers hold its `slot`."""

    documents: list[Document]
    slot: int | None


class DedupRun(CountsRejects):
    """One run: from documents to the results and the summary.

    Args:
        options: those of the command.
        inputs: the files.
        parts: the documents in them.
        outputs: the files of the results.
        jobs: the number of processes; the run starts the others.
    """

    def __init__(
        self, options: Namespace, inputs: Sequence[Input], parts: Iterable[Part], outputs: Outputs, jobs: int
    ) -> None:
        self._outputs = outputs
        scheme, limits = scheme_of(options), limits_of(options)
        self._scheme = scheme
        # From here on, child processes must be ended, whatever happens.
        self._signers = Signers(jobs - 1, scheme)
        self._measure = scheme.measure.name
        self._saved = near_of(options) if options.save else None
        pipeline = LocalPipeline(scheme, options.threshold, limits)
        self._pipeline = pipeline if self._saved is None else self._saved.pipeline
        self._answers = Answers()
        self._options = options
        self._is_text = [file.format for file in inputs] == [TEXT]
        self._page = None if options.page is None else outputs.add(options.page)
        self._known: dict[str, tuple[int, About]] = {}  # event time and metadata by id, for stories
        self._progress = Progress(sum(file.size for file in inputs), shown=not options.quiet)
        self._reasons: Counter[str] = Counter()
        self._scripts = ScriptCounts()
        self._batches = batches(parts, self._progress, self._reasons, quiet=options.quiet, rejects=outputs.rejects)

    @property
    def documents(self) -> int:
        """Documents that were read, deletes among them."""
        return self._pipeline.counts.documents

    def close(self) -> None:
        """End the signing processes, and remove the progress bar."""
        self._progress.clear()
        self._signers.close()

    def run(self) -> None:
        """Everything but the writing."""
        signers = self._signers
        waiting: deque[_Pending] = deque()
        for documents in self._batches:
            texts = [document.text or "" for document in documents]
            self._scripts.take(texts[::_OF_BATCH])
            while signers.full:
                self._settle(waiting.popleft(), signers)
            waiting.append(_Pending(documents, signers.offer(texts)))
            self._settle_ready(waiting, signers)
        while waiting:
            self._settle(waiting.popleft(), signers)
        self._progress.clear()

    def _settle_ready(self, waiting: deque[_Pending], signers: Signers) -> None:
        """Settle batches, oldest first, while no waiting is needed; the signers declined a batch without a slot."""
        while waiting:
            slot = waiting[0].slot
            if slot is not None and not signers.ready(slot) and len(waiting) <= _PENDING:
                return
            self._settle(waiting.popleft(), signers)

    def _settle(self, batch: _Pending, signers: Signers) -> None:
        signatures = None if batch.slot is None else signers.collect(batch.slot)
        self._answers.settled(self._pipeline.process(batch.documents, signatures))
        for document in () if self._outputs.report is None else batch.documents:
            if document.text is None:
                self._known.pop(document.id, None)
            else:
                self._known[document.id] = document.time_ms, document.about

    def clusters(self) -> Iterator[Cluster]:
        """The clusters, once everything was read."""
        return self._answers.clusters()

    def write(self, notes: Sequence[str] = ()) -> None:
        """Save the collection and write the answers; the files get their names when all of them are complete.

        Args:
            notes: further lines for the report.
        """
        outputs, measure = self._outputs, self._measure
        if self._saved is not None:
            self._saved.save(self._options.save)
        if outputs.matches is not None:
            # A pair is known once its later document is.
            messages = (
                match_messages(PIPELINE, [match], max(match.left_time_ms, match.right_time_ms), measure)[0]
                for match in self._answers.matches()
            )
            outputs.matches.write(value for _, value, _ in messages if value is not None)
        if outputs.clusters is not None:
            outputs.clusters.write(cluster_line(cluster) for cluster in self._answers.clusters())
        if outputs.report is not None:
            lines = import_module(f"stream_lsh.cli.reports.{self._options.report_module}").lines
            outputs.report.write(lines(self._answers, self._known, self._options))
        if self._page is not None:
            self._page.write(self._report(notes).page())
        outputs.finish()

    def _report(self, notes: Sequence[str]) -> "PairsReport":
        from stream_lsh.cli.reports.pairs_html import PairsReport  # noqa: PLC0415 - for reports only

        return PairsReport(
            self._answers,
            self._pipeline,
            self._scheme,
            self._known if self._options.stories else {},
            options=self._options,
            notes=[*notes, *self._ids_lines(), *self.rejected],
            rejected=self.refused,
        )

    # -- reporting

    def report(self, seconds: float) -> None:
        """The summary, on standard error."""
        counts = self._pipeline.counts
        clusters = sum(1 for _ in self._answers.clusters())
        lines = [
            f"{counted(counts.documents, 'document')}, {counted(counts.candidates, 'candidate')}, "
            f"{counted(len(self._answers), 'pair')}, {counted(clusters, 'cluster')}, {seconds:.1f} s"
        ]
        if self._is_text and counts.documents == 1:
            lines.append("a text is one document; with --format lines each of its lines is one")
        lines += script_lines(self._options.shingles, self._scripts.shares())
        lines += self._ids_lines()
        if self._known and not any(about.source for _, about in self._known.values()):
            lines.append(_NO_OUTLET)
        lines += caps_lines(counts)
        lines += self.rejected
        report_lines(lines)

    def _ids_lines(self) -> Iterator[str]:
        """Repeated ids, deletes and late documents, if there are any."""
        signed = self._pipeline.counts.signed
        if signed.updated + signed.unchanged:
            yield f"{counted(signed.updated + signed.unchanged, 'repeated id')}: the last document of each counts"
        if signed.deleted + signed.unknown_deletes:
            yield f"{signed.deleted + signed.unknown_deletes:,} deletes"
        if signed.expired:
            yield f"{signed.expired:,} documents came later than the retention allows"


def cluster_line(cluster: Cluster) -> bytes:
    """A cluster as a line of JSON."""
    value = {"cluster": cluster.id, "members": cluster.members}
    try:
        return encode(value)
    except UnicodeEncodeError:  # a file name that is not UTF-8
        return json.dumps(value, separators=(",", ":")).encode()
