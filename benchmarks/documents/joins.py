"""Joins that miss nothing, against bands: `python -m benchmarks.documents.joins --data DIR [--out FILE] [--most N]`.

Runs of three words of newsgroups20 and llvm_docs_pages, thresholds from .7 to .98, one thread, the same sets for all:

length, prefix, position, suffix    the four joins over the whole collection, symbols in the order of their frequencies
SetSimilaritySearch                 `all_pairs`: prefixes with positions, in Python
exact                               the pipeline with `method = "exact"`, document after document
lsh                                 the pipeline with bands, caps lifted: the only one that may miss pairs

`compared` are candidates; of `exact` and `lsh` those that met in a bucket, most of which are ruled out by what is
stored of them.  Times of the first five are without the making of sets, of the other two with it and with clusters.
At a threshold of .9 the pairs of all but `lsh` are held against those that come with the corpora.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path

from stream_lsh.arrays import U64
from stream_lsh.kinds.shingled.methods import text_scheme
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.measure.joins.join import METHODS, join
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.local import BATCH, LocalPipeline
from tests.evaluation.corpora import Corpus, Pair, llvm_pages, newsgroups, pair_of

THRESHOLDS = (0.7, 0.8, 0.85, 0.9, 0.95, 0.98)
CHECKED = 0.9
_SHINGLES = "word:3"
_ROUNDS = 3
_ROUNDING = 0.00005  # of the similarities in the files of exact pairs
_UNCAPPED = Limits(cap_postings=0, cap_candidates=0)

Pairs = set[Pair]
Found = tuple[Pairs, int | None]


@dataclass(frozen=True, slots=True)
class Row:
    """One contender at one threshold: pairs, the share of all pairs, pairs that it compared, seconds (the median)."""

    documents: str
    threshold: float
    contender: str
    pairs: int
    recall: float
    compared: int | None
    seconds: float


def main(argv: Sequence[str]) -> int:
    """Measure and print; with --out also write the figures as JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.documents.joins", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--out", type=Path, help="file for the figures")
    parser.add_argument("--most", type=int, default=0, metavar="N", help="the first N documents only (default: all)")
    parser.add_argument("--thresholds", type=float, nargs="+", default=THRESHOLDS, metavar="T", help="these only")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help=f"runs of each contender (default {_ROUNDS})")
    options = parser.parse_args(argv)
    rows = []
    for corpus in (newsgroups(options.data), llvm_pages(options.data)):
        print(f"{'documents':<18}{'T':>5}  {'contender':<20}{'pairs':>8}{'recall':>8}{'compared':>13}{'seconds':>9}")
        for row in _measured(_first(corpus, options.most), options.thresholds, options.rounds):
            rows.append(row)
            compared = "" if row.compared is None else f"{row.compared:,}"
            print(
                f"{row.documents:<18}{row.threshold:>5}  {row.contender:<20}{row.pairs:>8,}{row.recall:>8.4f}"
                f"{compared:>13}{row.seconds:>9.2f}",
                flush=True,
            )
    if options.out:
        options.out.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    return 0


def _first(corpus: Corpus, most: int) -> Corpus:
    if not most:
        return corpus
    documents = corpus.documents[:most]
    ids = {one.id for one in documents}
    exact = {pair: similarity for pair, similarity in corpus.exact.items() if ids.issuperset(pair)}
    return corpus._replace(documents=documents, exact=exact)


def _measured(corpus: Corpus, thresholds: Sequence[float], rounds: int) -> Iterator[Row]:
    sets = TextScheme(CHECKED, _SHINGLES).shingle_sets([one.text or "" for one in corpus.documents])
    for threshold in thresholds:
        lanes = _lanes(corpus, sets, threshold)
        found, took = _run(lanes, rounds)
        wanted = found["suffix"][0]
        for name, (pairs, compared) in found.items():
            if name != "lsh" and threshold == CHECKED:
                _check(name, corpus, pairs)
            recall = len(pairs & wanted) / max(1, len(wanted))
            seconds = statistics.median(took[name])
            yield Row(corpus.name, threshold, name, len(pairs), recall, compared, seconds)


def _run(lanes: Mapping[str, Callable[[], Found]], rounds: int) -> tuple[dict[str, Found], dict[str, list[float]]]:
    found = dict[str, Found]()
    took: dict[str, list[float]] = {name: [] for name in lanes}
    for _ in range(rounds):
        for name, lane in lanes.items():
            if name == "length" and took[name]:  # takes minutes at low thresholds; one round is enough
                continue
            start = time.perf_counter()
            found[name] = lane()
            took[name].append(time.perf_counter() - start)
    return found, took


def _lanes(corpus: Corpus, sets: Sequence[U64], threshold: float) -> dict[str, Callable[[], Found]]:
    ids = [one.id for one in corpus.documents]

    def joined(method: str) -> Found:
        found = join(sets, threshold, method=method)
        rows = zip(found.left.tolist(), found.right.tolist(), strict=True)
        return {pair_of(ids[left], ids[right]) for left, right in rows}, found.compared

    all_pairs = import_module("SetSimilaritySearch").all_pairs

    def peer() -> Found:
        lists = [one.tolist() for one in sets]  # what it takes; its time for that is small
        found = all_pairs(lists, similarity_threshold=threshold)
        return {pair_of(ids[left], ids[right]) for left, right, _ in found}, None

    def streamed(method: str) -> Found:
        pipeline = LocalPipeline(text_scheme(method, threshold, _SHINGLES), threshold, _UNCAPPED)
        for start in range(0, len(corpus.documents), BATCH):
            pipeline.process(corpus.documents[start : start + BATCH])
        pairs = pipeline.settler.ledger.snapshot().pairs
        return {pair_of(one.left, one.right) for one in pairs}, pipeline.counts.candidates

    lanes: dict[str, Callable[[], Found]] = {method: lambda method=method: joined(method) for method in METHODS}  # type: ignore[misc]
    return lanes | {
        "SetSimilaritySearch": peer,
        "exact": lambda: streamed("exact"),
        "lsh": lambda: streamed("lsh"),
    }


def _check(name: str, corpus: Corpus, pairs: Pairs) -> None:
    """Hold the pairs at the threshold that is checked against those of the corpus.

    Raises:
        RuntimeError: some are missing, or too many.
    """
    surely = {pair for pair, similarity in corpus.exact.items() if similarity >= CHECKED + _ROUNDING}
    perhaps = {pair for pair, similarity in corpus.exact.items() if similarity >= CHECKED - _ROUNDING}
    if not surely <= pairs <= perhaps:
        missing, wrong = len(surely - pairs), len(pairs - perhaps)
        raise RuntimeError(f"{name}, {corpus.name}, T = {CHECKED}: {missing} pairs are missing, {wrong} are wrong")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
