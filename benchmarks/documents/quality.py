"""Quality of clusters: `python -m benchmarks.documents.quality --data DIR [--out FILE] [--plot FILE]`.

Corpora whose documents are known to be one thing, a sweep of thresholds, all contenders on the same documents:

exact           components of the exact pairs that come with the corpora
stream_lsh      `NearDuplicates` with caps lifted; `caps`: with its own caps
strong links, representative, diameter, size        the pairs of `stream_lsh`, settled by a ledger with one guard each
datasketch      MinHashLSH, candidates verified with Python's sets, union-find

The measures are those of `tests/evaluation/clustering.py`, over all documents.  `off` is the greatest difference from
`exact` in any of the ten.  At the lowest threshold of each corpus the offline algorithm of the tests goes over all of
it.
"""

import argparse
import importlib
import json
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.documents import datasketch_dedup
from stream_lsh import Guards, NearDuplicates, __version__
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.ledger.edges import Edge, End
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import make_ref
from tests.evaluation.clustering import (
    Labels,
    adjusted_rand_index,
    bcubed,
    components,
    exact_clusters,
    labels_of,
    pairwise,
)
from tests.evaluation.corpora import Corpus, Pair, corpora
from tests.evaluation.offline import offline
from tests.evaluation.oracles import jaccard, word_windows

THRESHOLDS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
SIZE, DIAMETER, CAP = 4, 2, 200
WITHIN = 0.002
"""How far from exact components the figures may be."""
_ROUNDING = 0.00005  # of the similarities in the files of exact pairs

Groups = list[set[str]]
Figures = dict[str, float]

_DRAWN = {
    "pairwise F1": "pairs_f1",
    "cluster F1": "clusters_f1",
    "adjusted Rand index": "ari",
    "B-cubed F1": "bcubed_f1",
}
_STYLES = {
    "exact": ("black", "-", 6.0),
    "stream_lsh": ("orange", "-", 3.0),
    "caps": ("saddlebrown", ":", 2.0),
    "datasketch": ("tab:blue", "-", 1.5),
    "strong links": ("tab:green", "-.", 1.5),
    "representative": ("tab:red", "-.", 1.5),
    "diameter": ("tab:purple", "--", 1.5),
    "size": ("deeppink", "--", 1.5),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a contender: the number of its pairs, if it finds pairs itself, and its groups."""

    pairs: int
    groups: Groups


@dataclass(frozen=True, slots=True)
class Row:
    """One contender at one threshold: its pairs, its groups, the largest of them, its figures, how far from exact."""

    documents: str
    threshold: float
    contender: str
    pairs: int
    clusters: int
    largest: int
    figures: Figures
    off: float


@dataclass(frozen=True, slots=True)
class Whole:
    """The offline algorithm over a whole corpus, and whether the stream's chain has the same pairs and groups."""

    documents: str
    threshold: float
    candidates: int
    pairs: int
    same_pairs: bool
    same_groups: bool


def main(argv: Sequence[str]) -> int:
    """Measure and print; with --out and --plot also write the figures as JSON and as a picture."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.documents.quality", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--out", type=Path, help="file for the figures")
    parser.add_argument("--plot", type=Path, help="PNG file for the curves")
    options = parser.parse_args(argv)
    rows, whole = list[Row](), list[Whole]()
    for corpus in corpora(options.data):
        rows += _swept(corpus)
        whole.append(_whole(corpus))
    _print_whole(whole)
    if options.out:
        about = {"python": platform.python_version(), "numpy": np.__version__, "stream_lsh": __version__}
        about["datasketch"] = datasketch_dedup.peer.__version__
        results = {"about": about, "quality": rows, "offline": whole}
        options.out.write_text(json.dumps(results, indent=1, default=asdict) + "\n")
    if options.plot:
        _draw(rows, options.plot)
    return 0


def _thresholds(corpus: Corpus) -> list[float]:
    return [threshold for threshold in THRESHOLDS if threshold >= corpus.least]


def _swept(corpus: Corpus) -> list[Row]:
    ids = [document.id for document in corpus.documents]
    true = labels_of(ids, components(corpus.truth))
    exact, peer, rows = _Exact(corpus), _Peer(corpus), list[Row]()
    print(f"{corpus.name}: {len(ids)} documents, {len(corpus.truth)} pairs are one thing\n")
    print(f"{'':46}{'pairwise':<19}{'clusters':<26}{'B-cubed':<19}")
    score = "    P     R    F1  "
    print(f"   T  contender         pairs clusters largest{score}{score}  ARI  {score}    off")
    for threshold in _thresholds(corpus):
        reference: Figures = {}
        for name, answer in _answers(corpus, threshold, exact, peer):
            figures = _figures(labels_of(ids, answer.groups), true)
            reference = reference or figures
            off = max(abs(figures[key] - reference[key]) for key in reference)
            largest = max(map(len, answer.groups), default=0)
            several = sum(len(group) > 1 for group in answer.groups)
            rows.append(Row(corpus.name, threshold, name, answer.pairs, several, largest, figures, off))
            _print_row(rows[-1])
    print()
    return rows


def _figures(found: Labels, true: Labels) -> Figures:
    figures: Figures = {"ari": adjusted_rand_index(found, true)}
    scores = {"pairs": pairwise(found, true), "clusters": exact_clusters(found, true), "bcubed": bcubed(found, true)}
    for name, score in scores.items():
        figures |= {f"{name}_precision": score.precision, f"{name}_recall": score.recall, f"{name}_f1": score.f1}
    return figures


# -- contenders


def _answers(corpus: Corpus, threshold: float, exact: "_Exact", peer: "_Peer") -> Iterator[tuple[str, Answer]]:
    """Every contender with its result; the exact one first."""
    yield "exact", exact.answer(threshold)
    near = _near(corpus, threshold, lifted=True)
    yield "stream_lsh", _answer(near)
    yield "caps", _answer(_near(corpus, threshold, lifted=False))
    edges = _edges(corpus, near)
    for name, guards in _guards(threshold).items():
        yield name, _guarded(edges, threshold, guards)
    yield "datasketch", peer.answer(threshold)


def _near(corpus: Corpus, threshold: float, *, lifted: bool) -> NearDuplicates:
    near = NearDuplicates(threshold, max_candidates=0 if lifted else CAP)
    near.add_many(corpus.documents)
    return near


def _answer(near: NearDuplicates) -> Answer:
    return Answer(len(near.matches()), [set(cluster.members) for cluster in near.clusters()])


def _guards(threshold: float) -> dict[str, Guards]:
    return {
        "strong links": Guards(strong_links=True),
        "representative": Guards(representative_similarity=threshold),
        "diameter": Guards(max_diameter=DIAMETER),
        "size": Guards(max_size=SIZE),
    }


def _guarded(edges: Sequence[Edge], threshold: float, guards: Guards) -> Answer:
    """The result with guards: it depends on the pairs only, so they are not found again for each guard."""
    ledger = Ledger(threshold, guards=guards)
    ledger.settle(0, edges=edges)
    return Answer(len(edges), [set(ledger.members(id)) for id in ledger.ids.live])


def _edges(corpus: Corpus, near: NearDuplicates) -> list[Edge]:
    """The pairs as edges, the input of the ledger."""
    digests = TextScheme(min(THRESHOLDS)).sign([document.text or "" for document in corpus.documents]).digests.tolist()
    ends = {
        document.id: End(document.id, make_ref(0, at), document.time_ms, digest)
        for at, (document, digest) in enumerate(zip(corpus.documents, digests, strict=True))
    }
    return [
        Edge(ends[match.left], ends[match.right], match.similarity, match.shared, match.union)
        for match in near.matches()
    ]


class _Exact:
    """The pairs of the file; where rounding leaves open whether one reaches the threshold, its texts are compared."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._texts = {document.id: document.text or "" for document in corpus.documents}

    def answer(self, threshold: float) -> Answer:
        pairs = [pair for pair, similarity in self._corpus.exact.items() if self._reaches(pair, similarity, threshold)]
        return Answer(len(pairs), components(pairs))

    def _reaches(self, pair: Pair, similarity: float, threshold: float) -> bool:
        if abs(similarity - threshold) > _ROUNDING * 1.01:
            return similarity > threshold
        left, right = (word_windows(self._texts[id], 3) for id in pair)
        return jaccard(left, right) >= threshold


class _Peer:
    """datasketch; the signatures are made once."""

    def __init__(self, corpus: Corpus) -> None:
        made = ((document.id, datasketch_dedup.sketched(document.text or "")) for document in corpus.documents)
        self._sketched = {id: one for id, one in made if one is not None}

    def answer(self, threshold: float) -> Answer:
        matcher = datasketch_dedup.Matcher(threshold)
        found = [match[:2] for id, one in self._sketched.items() for match in matcher.take_sketched(id, one)]
        return Answer(len(found), components(found))


def _whole(corpus: Corpus) -> Whole:
    threshold = min(_thresholds(corpus))
    near = _near(corpus, threshold, lifted=True)
    texts = {document.id: document.text or "" for document in corpus.documents}
    slow = offline(texts, TextScheme(threshold), threshold, lambda text: word_windows(text, 3))
    pairs = {(match.left, match.right): match.similarity for match in near.matches()}
    groups = {frozenset(cluster.members) for cluster in near.clusters()}
    same = pairs == slow.pairs, groups == slow.groups
    return Whole(corpus.name, threshold, slow.candidates, len(slow.pairs), *same)


# -- what is shown


def _print_row(row: Row) -> None:
    figures = row.figures
    print(f"{row.threshold:>4}  {row.contender:<15}{row.pairs:>8}{row.clusters:>9}{row.largest:>8}", end="")
    for name in ("pairs", "clusters"):
        print("".join(f"{figures[f'{name}_{part}']:>6.3f}" for part in ("precision", "recall", "f1")), end=" ")
    print(f"{figures['ari']:>6.3f} ", end="")
    print("".join(f"{figures[f'bcubed_{part}']:>6.3f}" for part in ("precision", "recall", "f1")), end=" ")
    over = " !" if row.contender == "stream_lsh" and row.off > WITHIN else ""
    print(f"{row.off:>7.4f}{over}", flush=True)


def _print_whole(rows: Sequence[Whole]) -> None:
    print("offline algorithm       T  candidates    pairs  same pairs and similarities  same groups")
    for row in rows:
        same = ("yes" if row.same_pairs else "NO", "yes" if row.same_groups else "NO")
        print(f"{row.documents:<20}{row.threshold:>5}{row.candidates:>12}{row.pairs:>9}  {same[0]:<29}{same[1]}")
    print()


def _draw(rows: Sequence[Row], file: Path) -> None:
    """A row of panels for each corpus, one for each measure: a curve a contender over the thresholds."""
    importlib.import_module("matplotlib").use("Agg")
    plots = importlib.import_module("matplotlib.pyplot")
    names = list(dict.fromkeys(row.documents for row in rows))
    figure, places = plots.subplots(len(names), len(_DRAWN), figsize=(17, 3.6 * len(names)), squeeze=False)
    for line, name in zip(places, names, strict=True):
        for place, (title, key) in zip(line, _DRAWN.items(), strict=True):
            for contender, (colour, style, width) in _STYLES.items():
                of_one = [row for row in rows if (row.documents, row.contender) == (name, contender)]
                points = [row.threshold for row in of_one], [row.figures[key] for row in of_one]
                place.plot(*points, label=contender, color=colour, linestyle=style, linewidth=width)
            place.set(title=f"{name}: {title}", xlabel="threshold", ylim=(0, 1.03))
            place.grid(alpha=0.3)
    places[0][0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(file, dpi=70)
    plots.close(figure)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
