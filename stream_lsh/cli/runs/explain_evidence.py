"""Evidence for `explain` from files: runs `dedup` again and collects its state of two documents."""

from argparse import Namespace
from collections import Counter
from collections.abc import Collection, Sequence

from stream_lsh.cli.input.batches import SHOWN, batches
from stream_lsh.cli.output.atomic_files import report_lines
from stream_lsh.cli.output.progress import Progress
from stream_lsh.cli.output.results import Answers
from stream_lsh.errors import ConfigError
from stream_lsh.files.discover import Input
from stream_lsh.kinds.explain import Evidence
from stream_lsh.kinds.text.files import read
from stream_lsh.ledger.graph.paths import Link
from stream_lsh.model import Document
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.local import LocalPipeline
from stream_lsh.pipeline.scheme import Scheme
from stream_lsh.spelling import suggestion

_MOST_PROPOSED = 10_000
"""The most ids that are searched for a similar one: some 10 us each."""


def evidence_in_files(options: Namespace, inputs: Sequence[Input], scheme: Scheme, limits: Limits) -> Evidence:
    """The evidence of files about the two documents of the options.

    Raises:
        ConfigError: an id that no document has.
    """
    ids = (options.one, options.other)
    pipeline, answers = LocalPipeline(scheme, options.threshold, limits), Answers()
    documents: dict[str, Document] = {}
    digests: dict[str, tuple[int, int]] = {}
    # Rejects are reported, since one of them may be a requested document.
    progress, reasons = Progress(sum(file.size for file in inputs), shown=True), Counter[str]()
    for batch in batches(read(inputs, options), progress, reasons):
        signatures = scheme.sign([document.text or "" for document in batch])
        answers.settled(pipeline.process(batch, signatures))
        for document, digest in zip(batch, signatures.digests.tolist(), strict=True):
            digests[document.id] = (digest, document.time_ms)
            if document.id in ids:
                documents[document.id] = document
    progress.clear()
    if reasons.total() > SHOWN:
        report_lines([f"{reasons.total():,} rejected"])
    require(ids, documents, digests)
    clusters = {id: cluster.id for cluster in answers.clusters() for id in cluster.members}
    return Evidence(
        documents=documents,
        clusters=clusters,
        pairs=[Link(match.left, match.right, match.similarity or 0.0) for match in answers.matches()],
        digests={id: digests[id] for id in clusters},
        expired={id for id in ids if documents[id].text is not None and pipeline.documents.version(id) is None},
    )


def require(
    ids: Sequence[str], known: Collection[str], all_ids: Collection[str], aside: str = "", *, what: str = "document"
) -> None:
    """Reject unknown ids, and suggest the nearest known one."""
    problems = []
    for id in ids:
        if id not in known:
            hint = suggestion(id, all_ids) if len(all_ids) <= _MOST_PROPOSED else ""
            problems.append(f"got the id {id!r}, which no {what} has{hint}{aside}")
    if problems:
        raise ConfigError(problems)
