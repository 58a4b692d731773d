"""Entity resolution: `python -m benchmarks.records.linking --data DIR [--out FILE] [--only NAME ...] [--part PART]`.

Records arrive one at a time; each is compared with those that came before it and share a key with it, at most 32 of a
bucket, the newest.  Its values are counted into the frequencies first.  What each level is worth is learned from the
records of the file, without labels.  Profiles and thresholds come with the package and are the same for all files; but
the blocking rules of `people`, and how fast frequencies count, were chosen with the figures of historical_50k and
fake_1000 in view, and 1 and 2 of FEBRL, on which a threshold was to be fixed, give equal results from .5 to .99.

    blocking    share of the true pairs that were compared
    pairs       precision, recall and F1 of pairs at the profile's threshold, and at .5; where sources are clean, after
                the best match of each record was taken
    clusters    of the pairs within connected components at the threshold
    entities    likewise, divided by mean evidence and bridges, as the package divides them
    files       whole files as `stream-lsh link` reads them, with the bundled profile and with one that was proposed for
                the file (`infer`): F1 within entities, the share of true pairs among matches of .95 or more, the
                largest entity, and the CPU time of a record, training included; --best: F1 at the best threshold too
    latency     one new record against 5,000: read, keys, candidates, scores

The Senzing truth set is too small to learn from.  Its profile, `tests/evaluation/parties.toml`, has weights that were
set by hand with its truth in view.  The frequencies of the whole file are counted before the first comparison.
"""

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stream_lsh import __version__
from stream_lsh.kinds.record.profiles import bundled
from stream_lsh.records.profile import Profile
from tests.evaluation.clustering import components
from tests.evaluation.linking import (
    Stream,
    figures,
    groups_of,
    learned,
    linked,
    measured_within,
    profile_for,
    proposed,
    streamed,
)
from tests.evaluation.record_corpora import CORPORA, Corpus, febrl, pair_of

THRESHOLDS = (0.2, 0.5, 0.8, 0.95, 0.99)
"""The thresholds of which the best one is stated."""


def quality(corpus: Corpus, profile: Profile) -> dict[str, object]:
    """All figures of a corpus under a profile."""
    found, profile = streamed(profile, corpus)
    rows = {f"{p:g}": figures(found, corpus, p) for p in sorted({0.5, 0.95, 0.99, profile.match})}
    row: dict[str, object] = {
        "corpus": corpus.name,
        "records": len(corpus.records),
        "true_pairs": len(corpus.truth),
        "blocking_recall": len(found.compared) / len(corpus.truth),
        "records_per_second": len(corpus.records) / found.seconds,
        "match": profile.match,
        "at": rows,
    }
    print(f"{row['corpus']:30} {len(corpus.records):6} records, blocking {row['blocking_recall']:.4f}")
    for p, one in rows.items():
        print(f"   p ≥ {p:5}" + "".join(f"  {name} {_shown(each)}" for name, each in one.items()))
    return row


def _shown(one: dict[str, float]) -> str:
    return f"{one['precision']:.4f} {one['recall']:.4f} F1 {one['f1']:.4f}"


def as_it_comes(corpus: Corpus, profile: Profile, name: str, *, best: bool) -> dict[str, object]:
    """The figures of a whole file under a profile; `best`: those at the best threshold too."""
    start = time.process_time()
    linker = linked(profile, corpus.records)
    milliseconds = 1000 * (time.process_time() - start) / len(corpus.records)
    groups = groups_of(linker)
    within = measured_within(groups, corpus.truth)
    sure = [pair_of(match.left, match.right) for match in linker.matches() if match.probability >= 0.95]
    row: dict[str, object] = {
        "corpus": corpus.name,
        "profile": name,
        "match": linker.profile.match,
        "entities": within,
        "true_from_.95": sum(pair in corpus.truth for pair in sure) / max(1, len(sure)),
        "from_.95": len(sure),
        "largest": max(map(len, groups), default=0),
        "largest_true": max(map(len, components(corpus.truth))),
        "ms_per_record": milliseconds,
    }
    print(
        f"{corpus.name:22} {name:12} p ≥ {linker.profile.match:g}  entities {_shown(within)}"
        f"  true from .95: {row['true_from_.95']:.3f}  largest {row['largest']} of {row['largest_true']}"
        f"  {milliseconds:.2f} ms",
        flush=True,
    )
    return row | ({"best": _best(corpus, linker.profile, within["f1"])} if best else {})


def _best(corpus: Corpus, profile: Profile, f1: float) -> dict[str, float]:
    """The best F1 within entities among THRESHOLDS, by the same weights, and its threshold."""
    at = {profile.match: f1}
    for threshold in THRESHOLDS:
        if threshold not in at:
            moved = replace(profile, match=threshold, review=min(profile.review, threshold))
            at[threshold] = measured_within(groups_of(linked(moved, corpus.records)), corpus.truth)["f1"]
    best = max(at, key=lambda threshold: at[threshold])
    print(f"   best at p ≥ {best:g}: {at[best]:.4f}", flush=True)
    return {"threshold": best, "f1": at[best]}


def _loop_seconds() -> float:
    """The CPU time of ten million turns of an empty loop, the speed of the machine."""
    start = time.thread_time()
    for _ in range(10_000_000):
        pass
    return time.thread_time() - start


def latency(data: Path) -> dict[str, float]:
    """One new record of FEBRL4-B against the 5,000 of FEBRL4-A, all steps, in milliseconds of CPU time.

    `scaled_ms` is the median on a machine where ten million turns of an empty loop take 0.4 s.
    """
    corpus = febrl(data, 4)
    old, new = corpus.records[:5000], corpus.records[5000:]
    profile, _, _, blocker = learned(bundled("people"), corpus.records)
    stream = Stream(profile, blocker, keep=profile.match)
    for record in old:
        values = stream.reader.values(record)
        stream.add(values, blocker.keys_of(values), record.source)
        stream.scorer.count([values])
    took, hits, loop = [], 0, _loop_seconds()
    for record in new:
        start = time.thread_time()
        values = stream.reader.values(record)
        matches = stream.search(values, blocker.keys_of(values), record.source)
        took.append(1000 * (time.thread_time() - start))
        hits += len(matches)
    row = {
        "median_ms": statistics.median(took),
        "p99_ms": statistics.quantiles(took, n=100)[98],
        "scaled_ms": statistics.median(took) * 0.4 / ((loop + _loop_seconds()) / 2),
        "matches": float(hits),
        "indexed": float(len(old)),
    }
    print(
        f"one record against {len(old)}: median {row['median_ms']:.3f} ms, p99 {row['p99_ms']:.3f} ms CPU, "
        f"{hits} matches, scaled median {row['scaled_ms']:.3f} ms"
    )
    return row


def main(argv: Sequence[str]) -> int:
    """Run the parts that the options select."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.records.linking", description="Entity resolution.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--out", type=Path, help="file for the data")
    parser.add_argument("--only", nargs="*", choices=list(CORPORA), default=list(CORPORA), help="these corpora")
    parser.add_argument("--part", choices=("quality", "files", "latency"), help="only this part")
    parser.add_argument("--best", action="store_true", help="files at several thresholds too")
    options = parser.parse_args(argv)
    parts = [options.part] if options.part else ["latency", "quality", "files"]
    result: dict[str, object] = {"version": __version__, "python": platform.python_version()}
    quality_rows, file_rows = list[dict[str, object]](), list[dict[str, object]]()
    if "latency" in parts:
        result["latency"] = latency(options.data)
    for name in options.only:
        read, bundle = CORPORA[name]
        corpus = read(options.data)
        if "quality" in parts:
            quality_rows.append(quality(corpus, profile_for(corpus, bundle)))
        if "files" in parts:
            file_rows += [
                as_it_comes(corpus, profile_for(corpus, bundle), bundle, best=options.best),
                as_it_comes(corpus, proposed(corpus), "infer", best=options.best),
            ]
    result |= {"quality": quality_rows, "files": file_rows}
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
