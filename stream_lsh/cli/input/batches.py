"""Batches of documents, from the parts of the inputs; rejected documents are reported."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator

from stream_lsh.cli.output.atomic_files import Output, report_lines
from stream_lsh.cli.output.outputs import Outputs
from stream_lsh.cli.output.progress import Progress
from stream_lsh.files.chunks import Part, Refused
from stream_lsh.model import Document
from stream_lsh.pipeline.local import BATCH

SHOWN = 5
"""Rejected documents that are reported one by one; the others are counted."""


def batches(
    parts: Iterable[Part],
    progress: Progress,
    reasons: Counter[str],
    *,
    quiet: bool = False,
    rejects: Output | None = None,
) -> Iterator[list[Document]]:
    """The documents of all parts, BATCH at a time, however they were read.

    Args:
        parts: the documents, in order.
        progress: shows how much has been read; the caller clears it.
        reasons: counts rejected documents, by reason.
        quiet: write nothing to standard error.
        rejects: gets a line for each rejected document.
    """
    counted = 0
    ready: list[Document] = []
    for part in parts:
        reject(part.refused, progress, reasons, quiet=quiet, rejects=rejects)
        counted += len(part.documents)
        ready += part.documents
        full = len(ready) - len(ready) % BATCH
        for start in range(0, full, BATCH):
            yield ready[start : start + BATCH]
        del ready[:full]
        progress.update(part.position, counted)
    if ready:
        yield ready


def reject(
    refused: Iterable[Refused],
    progress: Progress,
    reasons: Counter[str],
    *,
    quiet: bool = False,
    rejects: Output | None = None,
) -> None:
    """Count rejected documents, report the first few, write a line for each; arguments are those of `batches`."""
    for refusal in refused:
        reasons[refusal.reason] += 1
        if reasons.total() <= SHOWN and not quiet:
            progress.clear()
            report_lines([f"{refusal.place}: rejected ({refusal.reason}): {refusal.message}"])
        if rejects is not None:
            rejects.write([_reject_line(refusal)])


def summary(reasons: Counter[str], hint: str = "") -> list[str]:
    """The line that counts the rejected documents, followed by a hint; no line without rejects."""
    if not reasons:
        return []
    shown = ", ".join(f"{reason} {count:,}" for reason, count in sorted(reasons.items()))
    return [f"{reasons.total():,} rejected: {shown}{hint}"]


def list_rejects(rejects: Output | None) -> str:
    """The hint of a command that has the option --rejects, where it was not given."""
    return "" if rejects else "; --rejects lists them"


class CountsRejects:
    """The rejects of a run over files, by reason; the base of such runs."""

    _reasons: Counter[str]
    _outputs: Outputs

    @property
    def refused(self) -> int:
        """The number of rejects."""
        return self._reasons.total()

    @property
    def rejected(self) -> list[str]:
        """The line of the summary that counts the rejects."""
        return summary(self._reasons, list_rejects(self._outputs.rejects))


def _reject_line(refused: Refused) -> bytes:
    where: dict[str, str | int] = {"file": refused.path, "line": refused.at}
    if isinstance(refused.at, str):
        where = {"file": refused.place}
    return json.dumps(where | {"reason": refused.reason, "message": refused.message}).encode()
