"""Matching records, beside dedupe and Splink: `python -m benchmarks.records.peers --data DIR [--out FILE]`.

All contenders run in one process, on the same records.

latency     one new record against 5,000 that are indexed: find those that match, and score them; then, to add one.
            FEBRL 4, the second source against the first, and FEBRL 3 against itself.  dedupe's `Gazetteer` compares
            four fields and has learned from forty labels (`dedupe_gazetteer.py`); `RecordLinker` compares all
            that `people` has of them, and has learned from all records of the corpus, without labels.  What dedupe
            learns differs from run to run, so there are three that were trained alike.  To add a record is to index it
            for dedupe; for `RecordLinker` it is also to find its matches and to settle the entities.
quality     F1 of pairs: the records one at a time under `people`, as `linking.py` has it, and Splink over
            the whole file at once with the settings of its own examples (`splink_models.py`).  No labels.
            The best F1 is at the threshold that is optimal for the truth: no user knows it, but it shows how well the
            scores separate pairs.  Seconds are those of matching, one by one on one core, and at once on all cores;
            they do not include training.
entities    F1 within entities of Splink's pairs, at .5, at .95 and at the best threshold, and of the baseline, one
            cosine of all text (`cosine.py`), at .5 and at the best cut.  Pairs are linked as connected components, one
            to one where the sources are clean.  The rows of `stream_lsh` are those of `linking.py --part files`.
            dedupe has sixty labels (`dedupe_entities.py`) and divides entities itself, at its default threshold of .5.

dedupe and Splink are not in `bench`: `pip install -e '.[records,peers-records]'`, best into an environment of its own.
"""

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np

from benchmarks.peers import version_of
from benchmarks.records.cosine import CUTS, cosine_pairs, entities_at
from benchmarks.records.dedupe_entities import dedupe_f1
from benchmarks.records.dedupe_gazetteer import Gazetteer
from benchmarks.records.peers_rows import DEDUPE, INDEXED, OURS, SPLINK, Latency, Quality, Ratio
from benchmarks.records.splink_models import MODELS, scored
from stream_lsh import __version__
from stream_lsh.kinds.record.in_memory import RecordLinker
from stream_lsh.records.model import Record
from tests.evaluation.linking import profile_of, streamed
from tests.evaluation.record_corpora import CORPORA, Corpus, febrl, pair_of
from tests.evaluation.thresholds import figures

ROUND, ROUNDS = 50, 100
"""Searches of a contender in one turn, and the turns of each."""
ADDED, ADDING_ROUNDS = 10, 20
THRESHOLDS = (0.5, 0.95)

_MOST_FOR_DEDUPE = 10_000
_TRAININGS = (1, 2, 3)
_PACKAGES = ("numpy", "dedupe", "BTrees", "splink", "duckdb", "scikit-learn", "rapidfuzz", "jellyfish")


class Contender(Protocol):
    """An index that answers searches for records."""

    def index(self, records: Sequence[Record]) -> None:
        """Add records."""

    def search(self, record: Record) -> list[tuple[str, float]]:
        """The ids of the records that match, with their scores."""


class Linker:
    """`RecordLinker`, with weights estimated from the records of a corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self._linker = RecordLinker.learned("people", corpus.records)
        self._match = self._linker.profile.match

    def index(self, records: Sequence[Record]) -> None:
        """Add records."""
        if len(records) == 1:
            self._linker.add(records[0])
        else:
            self._linker.add_many(records)

    def search(self, record: Record) -> list[tuple[str, float]]:
        """The ids of the records that match, with their probabilities."""
        found = self._linker.search(record.fields, record.source)
        return [(one.id, one.probability) for one in found if one.probability >= self._match]


MAKERS: dict[str, Callable[[Corpus], Contender]] = {
    OURS: Linker,
    **{f"{DEDUPE} {seed}": partial(Gazetteer, seed=seed) for seed in (1, 2, 3)},
}


def main(argv: Sequence[str]) -> int:
    """Measure and print; with --out and --plot also write the figures as JSON and as a picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.records.peers", description=__doc__.partition(":")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--out", type=Path, help="file for the figures")
    parser.add_argument("--plot", type=Path, help="file for a picture, PNG or SVG")
    parser.add_argument("--part", choices=("latency", "quality", "entities"), help="only this part")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"turns of {ROUND} searches (default {ROUNDS})")
    parser.add_argument("--only", nargs="*", choices=list(CORPORA), help="quality of these corpora, and entities")
    options = parser.parse_args(argv)
    about = {"stream_lsh": __version__, "python": platform.python_version()}
    about |= {package: version_of(package) for package in _PACKAGES}
    timed, ratios, rows = list[Latency](), list[Ratio](), list[Quality]()
    if options.part in (None, "latency"):
        timed, ratios = latency(options.data, options.rounds)
    if options.part in (None, "quality"):
        rows = quality(options.data, [name for name in options.only or MODELS if name in MODELS])
    linked = entities(options.data, options.only or CORPORA) if options.part in (None, "entities") else []
    if options.out:
        result = {"about": about, "latency": timed, "ratios": ratios, "quality": rows, "entities": linked}
        options.out.write_text(json.dumps(result, indent=1, default=asdict) + "\n")
    if options.plot:
        from benchmarks.records.peers_picture import draw  # noqa: PLC0415 - its rows are those of this module

        draw(timed, rows, options.plot)
    return 0


# -- latency


def latency(data: Path, rounds: int) -> tuple[list[Latency], list[Ratio]]:
    """Searches in both corpora, and what it takes to add a record; printed as they come."""
    timed, ratios = list[Latency](), list[Ratio]()
    print(f"one record against {INDEXED}, ms\n")
    print("corpus  call    contender   calls  median  quartiles         p99  it / ours          precision  recall")
    for number in (4, 3):
        corpus = febrl(data, number)
        old, new = corpus.records[:INDEXED], corpus.records[INDEXED:]
        contenders = {name: made(corpus) for name, made in MAKERS.items()}
        for contender in contenders.values():
            contender.index(old)
        queries = (new or old)[: ROUND * rounds]
        took, found = searched(contenders, queries)
        right = {name: _right(corpus, old, queries, one) for name, one in found.items()}
        rows = _reported(corpus.name, "search", took, right)
        timed, ratios = timed + rows[0], ratios + rows[1]
        if new:
            rows = _reported(corpus.name, "add", added(contenders, new[: ADDED * ADDING_ROUNDS]), {})
            timed, ratios = timed + rows[0], ratios + rows[1]
    print()
    return timed, ratios


Took = dict[str, list[list[float]]]
"""Milliseconds of each call, by contender and round."""
Answers = list[list[tuple[str, float]]]


def searched(contenders: Mapping[str, Contender], queries: Sequence[Record]) -> tuple[Took, dict[str, Answers]]:
    """The times of the searches, in turns, and their results."""
    found: dict[str, Answers] = {name: [] for name in contenders}

    def search(name: str, record: Record) -> None:
        found[name].append(contenders[name].search(record))

    for name in contenders:
        for record in queries[:ROUND]:
            search(name, record)
        found[name].clear()
    return _in_turns(list(contenders), queries, ROUND, search), found


def added(contenders: Mapping[str, Contender], records: Sequence[Record]) -> Took:
    """The times to add records one by one, in turns."""
    return _in_turns(list(contenders), records, ADDED, lambda name, record: contenders[name].index([record]))


def _in_turns(names: list[str], records: Sequence[Record], size: int, call: Callable[[str, Record], None]) -> Took:
    """The times of each contender on the same records, block by block; the order alternates."""
    took: Took = {name: [] for name in names}
    for start in range(0, len(records), size):
        for name in names:
            times = []
            for record in records[start : start + size]:
                before = time.perf_counter()
                call(name, record)
                times.append(1000 * (time.perf_counter() - before))
            took[name].append(times)
        names = names[::-1]
    return took


def _right(corpus: Corpus, old: Sequence[Record], queries: Sequence[Record], answers: Answers) -> tuple[float, float]:
    """Precision and recall of what searches found besides the record itself."""
    ids = {record.id for record in old}
    partners: dict[str, int] = {}
    for pair in corpus.truth:
        for one, other in (pair, pair[::-1]):
            partners[one] = partners.get(one, 0) + (other in ids)
    pairs = [
        pair_of(record.id, id)
        for record, found in zip(queries, answers, strict=True)
        for id, _ in found
        if id != record.id
    ]
    right = sum(pair in corpus.truth for pair in pairs)
    return right / max(1, len(pairs)), right / max(1, sum(partners.get(record.id, 0) for record in queries))


def _reported(
    corpus: str, call: str, took: Took, right: Mapping[str, tuple[float, float]]
) -> tuple[list[Latency], list[Ratio]]:
    """The figures of all contenders for one call, printed."""
    rows, ratios = list[Latency](), list[Ratio]()
    ours = [statistics.median(times) for times in took[OURS]]
    for name, rounds in took.items():
        times = [one for each in rounds for one in each]
        low, middle, high = _quartiles(times)
        p99, found = float(np.quantile(times, 0.99)), right.get(name, (None, None))
        rows.append(Latency(corpus, call, name, len(times), middle, (low, high), p99, *found))
        beside = ""
        if name != OURS:
            own = [statistics.median(times) for times in rounds]
            least, ratio, most = _quartiles([one / other for one, other in zip(own, ours, strict=True)])
            ratios.append(Ratio(corpus, call, name, ratio, (least, most)))
            beside = f"{ratio:.2f} ({least:.2f}-{most:.2f})"
        print(
            f"{corpus:8}{call:8}{name:11}{len(times):6}{middle:8.3f}  {f'{low:.3f}-{high:.3f}':14}{p99:7.3f}"
            + f"  {beside:19}"
            + "".join(f"{one:9.4f}" for one in found if one is not None),
            flush=True,
        )
    return rows, ratios


def _quartiles(times: Sequence[float]) -> tuple[float, float, float]:
    low, middle, high = np.quantile(times, (0.25, 0.5, 0.75)).tolist()
    return low, middle, high


# -- quality


def quality(data: Path, names: Sequence[str]) -> list[Quality]:
    """Both contenders on each corpus; printed as they come."""
    print("pairs                                                P, R, F1 at .5         P, R, F1 at .95        best")
    print("corpus                 contender   compared       P      R     F1        P      R     F1      F1  seconds")
    rows = []
    for name in names:
        read, profile = CORPORA[name]
        corpus = read(data)
        for row in (ours(corpus, profile), splinks(corpus)):
            shown = "  ".join(
                "".join(f"{one[key]:7.4f}" for key in ("precision", "recall", "f1"))
                for one in (row.at[f"{probability:g}"] for probability in THRESHOLDS)
            )
            print(
                f"{name:23}{row.contender:12}{row.compared:8.4f}  {shown}{row.at['best']['f1']:8.4f}{row.seconds:9.1f}",
                flush=True,
            )
            rows.append(row)
    print()
    return rows


def ours(corpus: Corpus, profile: str) -> Quality:
    """The records of a corpus one at a time, under a profile of the package."""
    start = profile_of(profile)
    found, _ = streamed(start, corpus)
    ids = [record.id for record in corpus.records]
    pairs = [pair_of(ids[one], ids[other]) for one, other in zip(found.left, found.right, strict=True)]
    at = figures(pairs, np.array(found.totals), corpus.truth, (*THRESHOLDS, start.match))
    compared = len(found.compared) / len(corpus.truth)
    return _row(OURS, corpus, compared, at, found.seconds)


def splinks(corpus: Corpus) -> Quality:
    """The whole of a corpus with the settings of Splink's example."""
    found = scored(corpus)
    pairs = [pair_of(one, other) for one, other in zip(found.left, found.right, strict=True)]
    at = figures(pairs, found.bits, corpus.truth, THRESHOLDS)
    compared = sum(pair in corpus.truth for pair in pairs) / len(corpus.truth)
    return _row(SPLINK, corpus, compared, at, found.seconds)


def _row(
    contender: str, corpus: Corpus, compared: float, at: Mapping[str, Mapping[str, float]], seconds: float
) -> Quality:
    return Quality(corpus.name, contender, len(corpus.records), len(corpus.truth), compared, at, seconds)


# -- entities


def entities(data: Path, names: Iterable[str]) -> list[dict[str, object]]:
    """The figures of the baseline for each corpus, and of Splink where it has settings; printed as they come."""
    print("within entities, F1     contender     at .5   at .95     best")
    rows = list[dict[str, object]]()
    for name in names:
        corpus = CORPORA[name][0](data)
        left, right, cosine = cosine_pairs(corpus)
        of_cosine = partial(entities_at, corpus, left, right, cosine)
        rows.append(_entities_row(name, "cosine", {"0.5": of_cosine(0.5), "best": max(map(of_cosine, CUTS))}))
        if len(corpus.records) <= _MOST_FOR_DEDUPE:
            for seed in _TRAININGS:
                rows.append(_entities_row(name, f"{DEDUPE} {seed}", {"0.5": dedupe_f1(corpus, seed)}))
        if name in MODELS:
            found = scored(corpus)
            row = {record.id: at for at, record in enumerate(corpus.records)}
            left, right = (np.array([row[id] for id in end], np.int64) for end in (found.left, found.right))
            of_splink = partial(entities_at, corpus, left, right, found.bits)
            at = {f"{each:g}": of_splink(np.log2(each / (1 - each))) for each in THRESHOLDS}
            rows.append(_entities_row(name, SPLINK, {**at, "best": max(map(of_splink, range(-10, 31)))}))
    return rows


def _entities_row(corpus: str, contender: str, at: Mapping[str, float]) -> dict[str, object]:
    shown = "".join(f"{at[each]:9.4f}" if each in at else " " * 9 for each in ("0.5", "0.95", "best"))
    print(f"{corpus:24}{contender:10}{shown}", flush=True)
    return {"corpus": corpus, "contender": contender, "f1": at}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
