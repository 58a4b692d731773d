"""The report of `tune`: the choice, its reason, its cost and the alternatives; as text and as JSON."""

import json
import textwrap
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stream_lsh.arrays import U32
from stream_lsh.cli.output.terminal import Screen
from stream_lsh.cli.reports.scurve import drawn, has_braille
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.lsh.sample import sampled_candidates
from stream_lsh.lsh.solver import SLACK, Banding, alternatives, bands_needed
from stream_lsh.lsh.spread import Agreements
from stream_lsh.measure.containment import Containment
from stream_lsh.text.scripts import script_lines, suitable_shingles

_NEAR = 3
"""Rows of the table above the choice and below it."""
_POSTING_BYTES = 20
"""A posting in the index, with its share of the lookup structure."""
_WIDEST = 100
_MANY = 20.0
"""False candidates for each document from which on the report suggests how to reduce them."""


class Corpus(NamedTuple):
    """Statistics of the documents.

    Attributes:
        seen: similarities of the pairs of the sample.
        signatures: of the sample.
        documents: their number, now or expected.
        whole: whether the sample contains all documents.
        scripts: the share of each script among the letters of the sample.
    """

    seen: Agreements
    signatures: U32
    documents: int
    whole: bool
    scripts: Mapping[str, float]


class Tuned(NamedTuple):
    """A choice.

    Attributes:
        options: those of the command.
        chosen: bands and rows.
        others: the alternatives, and the bandings that just miss the recall; by rows.
        scheme: of a pipeline with these settings.
        corpus: None without documents.
    """

    options: Namespace
    chosen: Banding
    others: Sequence[Banding]
    scheme: TextScheme
    corpus: Corpus | None

    @property
    def signature_bytes(self) -> int:
        """Bytes of a signature."""
        return 4 * self.scheme.slots

    @property
    def index_bytes(self) -> int:
        """Bytes of the postings of a document: one for each band and one for its digest."""
        return _POSTING_BYTES * (self.chosen.bands + 1)

    def candidates(self, banding: Banding) -> tuple[float, float] | None:
        """The mean number of false candidates and of matches of a document; None without documents."""
        return None if self.corpus is None else banding.candidates_per_document(self.corpus.documents)

    def with_these_functions(self) -> float | None:
        """The mean number of candidates of a document with the default seed; None without documents."""
        if self.corpus is None:
            return None
        sampled = len(self.corpus.signatures)
        pairs = float(sampled_candidates(self.corpus.signatures, self.chosen.bands, self.chosen.rows).sum())
        return pairs / sampled * (self.corpus.documents - 1) / (sampled - 1)

    @property
    def shingles(self) -> str:
        """The proposed shingles: the given ones, or some that suit the scripts of the documents better."""
        given: str = self.options.shingles
        better = None if self.corpus is None else suitable_shingles(given, self.corpus.scripts)
        return given if better is None else better[0]

    def toml(self) -> dict[str, str | int | float | list[str]]:
        """The keys of `[[pipeline]]` that lead to this choice."""
        options, settings = self.options, dict[str, str | int | float | list[str]]()
        settings |= {"shingles": self.shingles, "threshold": options.threshold}
        if options.normalise != ("nfc",):
            settings["normalise"] = list(options.normalise)
        if options.measure != "jaccard":
            settings |= self.scheme.measure.settings
        # A recall that the banding does not reach would be rejected in a configuration.
        reached = int(self.chosen.probability_at_threshold * 1000) / 1000
        recall = options.recall if options.weights is None else max(0.001, min(0.999, reached))
        return settings | {
            "recall": recall, "slots": self.scheme.slots, "bands": self.chosen.bands, "rows": self.chosen.rows,
        }  # fmt: skip


def as_json(tuned: Tuned) -> str:
    """One line."""
    options, corpus = tuned.options, tuned.corpus
    measure = tuned.scheme.measure
    value = {
        "threshold": options.threshold,
        "measure": measure.name,
        "size_ratio": measure.size_ratio if isinstance(measure, Containment) else None,
        "jaccard": tuned.chosen.threshold,
        "recall": options.recall,
        "weights": options.weights,
        "slots": tuned.scheme.slots,
        "chosen": _json_banding(tuned, tuned.chosen),
        "alternatives": [_json_banding(tuned, candidate) for candidate in tuned.others],
        "corpus": None
        if corpus is None
        else {
            "documents": corpus.documents,
            "sampled": corpus.seen.documents,
            "scripts": dict(corpus.scripts),
            "matches_per_document": _matches(tuned),
            "candidates_per_document_of_seed_1": tuned.with_these_functions(),
        },
        "memory": {"signature_bytes": tuned.signature_bytes, "index_bytes": tuned.index_bytes},
        "pipeline": tuned.toml(),
    }
    return json.dumps(value, separators=(",", ":"))


def _json_banding(tuned: Tuned, banding: Banding) -> dict[str, Any]:
    counts = tuned.candidates(banding)
    return {
        "bands": banding.bands,
        "rows": banding.rows,
        "slots_used": banding.slots_used,
        "recall": banding.probability_at_threshold,
        "mean_recall": banding.mean_recall if tuned.corpus is not None else None,
        "feasible": _feasible(tuned, banding),
        "half_point": banding.half_point,
        "false_negative_area": banding.false_negative_area,
        "false_positive_area": banding.false_positive_area,
        "false_candidates": None if counts is None else counts[0],
        "true_candidates": None if counts is None else counts[1],
    }


def as_text(tuned: Tuned, screen: Screen) -> Iterator[str]:
    """The report as text."""
    width = min(screen.width, _WIDEST)
    parts = (
        _choice(tuned),
        drawn(tuned.chosen, width, braille=has_braille()),
        _table(tuned, screen),
        _costs(tuned),
        _advice(tuned),
    )
    for part in parts[:1]:
        yield from _wrapped(part, width)
    for part in parts[1:3]:
        yield ""
        yield from part
    for part in parts[3:]:
        yield ""
        yield from _wrapped(part, width)
    yield ""
    yield "For a pipeline:"
    yield from (f"  {key} = {json.dumps(value)}" for key, value in tuned.toml().items())


def _wrapped(paragraphs: Iterator[str], width: int) -> Iterator[str]:
    for paragraph in paragraphs:
        yield from textwrap.wrap(paragraph, width, break_on_hyphens=False)


def _choice(tuned: Tuned) -> Iterator[str]:
    chosen, options = tuned.chosen, tuned.options
    yield (
        f"{chosen.bands} bands of {chosen.rows} rows: {chosen.slots_used} of {tuned.scheme.slots} slots; a pair of "
        f"similarity {chosen.threshold:.4g} is found with probability {chosen.probability_at_threshold:.4f}, one of "
        f"{chosen.half_point:.2f} with probability 0.5."
    )
    if tuned.scheme.measure.name != "jaccard":
        yield (
            f"Bands depend on the Jaccard similarity: at this size ratio, a {tuned.scheme.measure.name} of "
            f"{options.threshold:.4g} is a Jaccard similarity of {chosen.threshold:.4g} or more."
        )
    if tuned.corpus is not None and chosen.mean_recall is not None:
        yield f"The expected recall of the matches in the documents is {chosen.mean_recall:.4f}."
    if options.weights is not None:
        missed, useless = options.weights
        yield (
            f"Reason: it has the smallest sum of {missed:g} times the area of missed pairs and {useless:g} times the "
            "area of false candidates.  No recall is guaranteed."
        )
        return
    yield f"Reason: it has the fewest false candidates of all bandings with a recall of {options.recall:g}."
    needed = bands_needed(chosen.threshold, chosen.rows + 1, options.recall) * (chosen.rows + 1)
    if needed > tuned.scheme.slots:
        yield f"Another row would need {needed:,} slots."


def _table(tuned: Tuned, screen: Screen) -> Iterator[str]:
    """The choice between its neighbours."""
    head = ["", "bands", "rows", "slots", "recall", "half at", "missed", "false"]
    if tuned.corpus is not None:
        head += ["false candidates", "matches"]
    near = {candidate.rows: candidate for candidate in tuned.others if abs(candidate.rows - tuned.chosen.rows) <= _NEAR}
    near[tuned.chosen.rows] = tuned.chosen
    rows = [head, *(_row(tuned, near[rows]) for rows in sorted(near))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for number, row in enumerate(rows):
        line = "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        one = near[int(row[2])] if number else tuned.chosen
        dim = number == 0 or not (_feasible(tuned, one) or one is tuned.chosen)
        yield screen.coloured(line, "dim" if dim else "new" if one is tuned.chosen else "")
    yield "missed, false: areas of missed pairs, above the curve, and of false candidates, below it."
    if tuned.corpus is not None:
        yield "false candidates, matches: mean numbers per document."
    if any(not _feasible(tuned, banding) for banding in near.values()):
        yield f"-: does not reach the recall of {tuned.options.recall:g}."


def _row(tuned: Tuned, banding: Banding) -> list[str]:
    mark = ">" if banding is tuned.chosen else "" if _feasible(tuned, banding) else "-"
    cells = [
        mark,
        str(banding.bands),
        str(banding.rows),
        str(banding.slots_used),
        f"{banding.probability_at_threshold:.4f}",
    ]
    cells += [f"{banding.half_point:.2f}", f"{banding.false_negative_area:.4f}", f"{banding.false_positive_area:.3f}"]
    return cells + [_count(count) for count in tuned.candidates(banding) or ()]


def _feasible(tuned: Tuned, banding: Banding) -> bool:
    asked: float = tuned.options.recall
    return banding.probability_at_threshold >= asked - SLACK - 1e-12


def _matches(tuned: Tuned) -> float:
    assert tuned.corpus is not None  # noqa: S101 - the caller has documents
    return tuned.chosen.matches * (tuned.corpus.documents - 1) / 2


def _costs(tuned: Tuned) -> Iterator[str]:
    corpus, chosen = tuned.corpus, tuned.chosen
    if corpus is not None:
        false, true = chosen.candidates_per_document(corpus.documents)
        whose = "all" if corpus.whole and corpus.seen.documents == corpus.documents else "a sample"
        some = "Some " if not corpus.whole and tuned.options.documents is None else ""
        yield (
            f"{some}{corpus.documents:,} documents, of which {corpus.seen.documents:,} were examined ({whose}): each "
            f"has {_count(false + true)} candidates, {_count(true)} of them matches, without caps."
        )
        yield (
            "This is the mean over all choices of hash functions; with those of `seed = 1` it is "
            f"{_count(tuned.with_these_functions())}."
        )
        lines = script_lines(tuned.options.shingles, corpus.scripts)
        yield from (f"{line[0].upper()}{line[1:]}." for line in lines[:1])
        if tuned.shingles != tuned.options.shingles:
            yield f"{lines[1]}.  The counts are those of {tuned.options.shingles}: run the command with the others."
    each = tuned.signature_bytes + tuned.index_bytes
    yield (
        f"Memory: about {each:,} bytes per document besides its text, {each / 1000:.2g} GB per million: "
        f"{tuned.signature_bytes:,} of signature, {chosen.bands + 1} postings of {_POSTING_BYTES}."
    )


def _advice(tuned: Tuned) -> Iterator[str]:
    counts, options, corpus = tuned.candidates(tuned.chosen), tuned.options, tuned.corpus
    if corpus is None or counts is None:
        yield "`stream-lsh tune FILE...` estimates the candidates of your documents."
        return
    if counts[0] < _MANY:
        yield "There are few false candidates: other settings would save little."
        return
    yield "If these are too many candidates:"
    least = tuned.chosen.threshold
    for name, threshold, recall in (
        ("a threshold higher by 0.1", min(least + 0.1, 0.99), options.recall),
        ("a recall of 0.95", least, 0.95),
    ):
        if recall <= options.recall and threshold >= least:
            bandings = alternatives(threshold, recall, tuned.scheme.slots, histogram=corpus.seen)
            best = min(
                (banding.candidates_per_document(corpus.documents)[0] for banding in bandings), default=counts[0]
            )
            if best < counts[0]:
                yield f"- {name} leaves {_count(best)} of {_count(counts[0])} false candidates;"
    yield (
        "- longer shingles (`word:4`), or `stopword:en` for pages with the same menus, make unrelated texts less "
        "similar;"
    )
    yield "- `max_candidates` keeps those with the most common bands; the omitted ones are counted."


def _count(count: float | None) -> str:
    """A mean as text."""
    if count is None:
        return ""
    return f"{count:,.0f}" if count >= 100 else f"{count:.1f}" if count >= 1 else f"{count:.2g}"
