"""`stream-lsh explain --url`: a pair as explained by a running worker."""

from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing

import msgspec

from stream_lsh.cli.options.query_api import client_of
from stream_lsh.cli.output.terminal import Screen, plain
from stream_lsh.cli.reports.explanation import as_text
from stream_lsh.client.answers import Comparison as ComparisonAnswer
from stream_lsh.client.answers import ExplainedDocument, PairExplanation
from stream_lsh.kinds.comparison import Comparison
from stream_lsh.kinds.explain import Explanation, Reason, Side
from stream_lsh.ledger.graph.paths import Link
from stream_lsh.model import Document
from stream_lsh.text.passages.shared import Passage


def run_url(options: Namespace) -> int:
    """The command; returns its exit code."""
    with client_of(options) as client, closing(Screen(options.output)) as screen:
        answer = client.pair(options.one, options.other)
        if options.json:
            screen.line(msgspec.json.encode(answer).decode())
        else:
            for line in _lines(answer, options, screen):
                screen.line(line)
        screen.finish()
    return 0


def _lines(answer: PairExplanation, options: Namespace, screen: Screen) -> Iterator[str]:
    if answer.reason is None:
        return map(plain, _of_records(answer))
    left, right = answer.documents
    compared = None if answer.comparison is None else _comparison(answer.comparison)
    path = None if answer.path is None else [Link(one.left, one.right, one.similarity) for one in answer.path]
    sides = _side(left), _side(right)
    explanation = Explanation(sides, answer.threshold, Reason(answer.reason), compared, path, answer.lag)
    return as_text(explanation, screen, full=options.full)


def _of_records(answer: PairExplanation) -> Iterator[str]:
    yield "in the same entity" if answer.together else "not in the same entity"
    pair = answer.pair
    if pair is not None and pair.score is not None:
        weights = ", ".join(f"{name} {bits:+.2f}" for name, bits in (pair.weights or {}).items())
        review = ", for review" if pair.review else ""
        yield f"probability {pair.similarity:.4f}{review}; score {pair.score:+.2f}: {weights}"
    for link in answer.path or ():
        yield f"{link.similarity:.4f}  {link.left}  {link.right}"


def _side(document: ExplainedDocument) -> Side:
    known = None
    if document.time is not None:
        known = Document(document.id, document.text, document.time)
    passages = [Passage(one.start, one.end, one.shared) for one in document.passages]
    return Side(document.id, known, document.shingles, document.cluster, passages)


def _comparison(found: ComparisonAnswer) -> Comparison:
    return Comparison(
        found.similarity,
        found.shared,
        found.union,
        near_in_size=True,
        matching=found.matching_slots,
        slots=found.slots,
        met=found.bands_met,
        bands=found.bands,
        probability=found.probability,
        identical=found.identical,
        distance=found.distance,
        greatest=found.greatest_distance or 0.0,
    )
