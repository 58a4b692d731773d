"""The run of `plagiarism`: reads texts, writes pairs and their passages."""

import json
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence

from stream_lsh.applications.partial_copies import PartialCopies, PartialCopy
from stream_lsh.cli.input.batches import CountsRejects, batches
from stream_lsh.cli.output.outputs import Outputs
from stream_lsh.cli.output.progress import Progress
from stream_lsh.cli.output.terminal import clipped, plain
from stream_lsh.cli.reports.plagiarism_html import PairReport, page
from stream_lsh.errors import ConfigError
from stream_lsh.files.discover import Input
from stream_lsh.kinds.text.files import read
from stream_lsh.settings.units import counted
from stream_lsh.text.passages.copied import Copied

_MOST_IN_REPORT = 500
_SHOWN = 3
"""Passages of a pair in the text output."""
_WIDTH = 100
_UNITS = {"char": "characters", "code": "tokens"}
"""The units of shingles, where they are not words."""


class PlagiarismRun(CountsRejects):
    """One run.

    Args:
        options: those of the command.
        outputs: the pairs as `matches`, the page as `report`, and the rejects.

    Raises:
        ConfigError: an unknown kind of shingles.
    """

    def __init__(self, options: Namespace, outputs: Outputs) -> None:
        self._options = options
        self._outputs = outputs
        self._copies = PartialCopies(
            options.shingles,
            normalise=options.normalise,
            least_share=options.min_share,
            least_shared=options.min_shared,
            most_holders=options.common,
        )
        self._reasons: Counter[str] = Counter()
        self._pairs = 0
        self._explained = 0
        self._again = 0

    @property
    def texts(self) -> int:
        """Texts that were read."""
        return len(self._copies)

    def summary(self) -> list[str]:
        """The lines of the summary."""
        lines = [f"{counted(self.texts, 'text')}, {counted(self._pairs, 'pair')}{self._of_sources()}"]
        if self._again:
            lines.append(f"{counted(self._again, 'repeated id')}: the last text of each counts")
        return lines + self.rejected

    def _of_sources(self) -> str:
        return f", {self._explained:,} of texts that copied from one source" if self._explained else ""

    def read(self, inputs: Sequence[Input], *, source: bool) -> None:
        """Add texts.

        Raises:
            ConfigError: a source has the id of another text.
        """
        progress = Progress(sum(file.size for file in inputs), shown=not self._options.quiet)
        quiet, rejects = self._options.quiet, self._outputs.rejects
        for batch in batches(read(inputs, self._options), progress, self._reasons, quiet=quiet, rejects=rejects):
            for id, text, *_ in batch:
                if source and id in self._copies and not self._copies.is_source(id):
                    progress.clear()
                    raise ConfigError(f"got the id {id!r} for a source and for a text, expected distinct ids")
                if text is None:
                    self._copies.remove(id)
                else:
                    self._again += id in self._copies
                    self._copies.add(id, text, source=source)
        progress.clear()

    def write(self) -> None:
        """Compare the texts, and write the pairs."""
        out, report = self._outputs.matches, self._outputs.report
        progress = Progress(0, shown=not self._options.quiet)
        progress.say("comparing")
        pairs = self._copies.find()
        progress.clear()
        self._pairs = len(pairs)
        self._explained = sum(pair.source is not None for pair in pairs)
        heading: str | None = None
        in_report: list[PairReport] = []
        for pair in pairs:
            if out is not None and out.closed_by_reader and (report is None or len(in_report) == _MOST_IN_REPORT):
                break
            passages = self._copies.passages(pair, self._options.min_words)
            if len(in_report) < _MOST_IN_REPORT:
                in_report.append(
                    PairReport(pair, self._copies.text(pair.left), self._copies.text(pair.right), passages)
                )
            if out is not None:
                out.write([as_json(pair, passages)] if self._options.json else self._lines(pair, passages, heading))
                heading = pair.source
        if report is not None:
            report.write(page(in_report, len(pairs), full=self._options.full))

    def _lines(self, pair: PartialCopy, passages: Sequence[Copied], heading: str | None) -> Iterator[bytes]:
        if pair.source is not None and pair.source != heading:
            yield f"both copied from {plain(pair.source)}:".encode("utf-8", "replace")
            yield b""
        for line in as_text(pair, passages, self._copies.text(pair.left), self._options.shingles):
            yield line.encode("utf-8", "replace")


def as_json(pair: PartialCopy, passages: Sequence[Copied]) -> bytes:
    """One line of JSON."""
    value: dict[str, object] = {
        "left": pair.left,
        "right": pair.right,
        "left_share": pair.left_share,
        "right_share": pair.right_share,
        "similarity": pair.similarity,
        "shared": pair.shared,
        "left_shingles": pair.left_shingles,
        "right_shingles": pair.right_shingles,
        "passages": [passage._asdict() for passage in passages],
    }
    if pair.source is not None:
        value["source"] = pair.source
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # a file name that is not UTF-8
        return json.dumps(value, separators=(",", ":")).encode()


def as_text(pair: PartialCopy, passages: Sequence[Copied], left: str, shingles: str) -> Iterator[str]:
    """Lines of text, and an empty line after them."""
    units = _UNITS.get(shingles.removeprefix("bag:").partition(":")[0], "words")
    yield f"{pair.left_share:4.0%} of {plain(pair.left)}, {pair.right_share:.0%} of {plain(pair.right)}"
    longest = sorted(passages, key=lambda passage: -passage.units)
    for passage in sorted(longest[:_SHOWN]):
        quote = " ".join(left[passage.left_start : passage.left_end].split())
        yield clipped(f"      {passage.units:,} {units}: {plain(quote)}", _WIDTH)
    if len(passages) > _SHOWN:
        yield f"      and {len(passages) - _SHOWN:,} passages more"
    yield ""
