"""The result of a run of the demo, as a table."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from stream_lsh.demo.exact import Pair, jaccard, word_triples
from stream_lsh.demo.schedule import CORRECTED, PUBLISHED, WITHDRAWN, Event, live
from stream_lsh.demo.tally import Tally

_TYPICAL = 0.75
"""The similarity of a pair that shows both what two texts share and what they do not."""


class Result(NamedTuple):
    """The result of a complete run.

    Attributes:
        events: the input.
        tally: the output.
        candidates: pairs that shared a band.
        exact: the true pairs, by comparing every two documents; None if there are too many documents.
        exact_s: the duration of that comparison.
        threshold: least similarity of a pair.
        rate: documents a second, while they were paced.
        burst: documents sent at full speed, and `burst_s`, seconds until they were processed.
    """

    events: Sequence[Event]
    tally: Tally
    candidates: int
    exact: Mapping[Pair, float] | None
    exact_s: float
    threshold: float
    rate: int
    burst: int
    burst_s: float

    @property
    def missed(self) -> int:
        """True pairs that were not found."""
        return len((self.exact or {}).keys() - self.tally.pairs.keys())

    @property
    def wrong(self) -> int:
        """Pairs that were found and are not true, or have another similarity."""
        pairs, exact = self.tally.pairs, self.exact
        if exact is not None:
            return sum(exact.get(pair) != similarity for pair, similarity in pairs.items())
        texts = live(self.events)
        sets = {id: word_triples(texts.get(id, "")) for pair in pairs for id in pair}
        truth = {pair: jaccard(sets[pair[0]], sets[pair[1]]) for pair in pairs}
        return sum(truth[pair] != similarity or similarity < self.threshold for pair, similarity in pairs.items())


def example(result: Result) -> tuple[Pair, float] | None:
    """A pair for the explanation: of short texts, and neither nearly equal nor barely similar; None without one."""
    texts = live(result.events)
    pairs = (
        (abs(similarity - _TYPICAL), len(texts[left]) + len(texts[right]), (left, right), similarity)
        for (left, right), similarity in result.tally.pairs.items()
        if similarity < 1 and left in texts and right in texts
    )
    best = min(pairs, default=None)
    return None if best is None else best[2:]


def report(result: Result) -> list[str]:
    """The table, in lines of at most 80 columns."""
    tally, texts = result.tally, live(result.events)
    kinds = Counter(event.kind for event in result.events)
    characters = sum(map(len, texts.values()))
    possible = len(texts) * (len(texts) - 1) // 2
    rows = [
        (
            "documents",
            f"{kinds[PUBLISHED]:,}",
            f"{len(texts):,} are live at the end, {characters:,} characters",
        ),
        ("corrections", f"{kinds[CORRECTED]:,}", "a new version replaces the old one"),
        (
            "withdrawals",
            f"{kinds[WITHDRAWN]:,}",
            f"{tally.withdrawn:,} pairs were retracted, by these and by corrections",
        ),
        ("candidates", f"{result.candidates:,}", f"compared exactly, of {possible:,} possible pairs"),
        ("pairs", f"{len(tally.pairs):,}", f"with a similarity of {result.threshold:g} or more, at the end"),
        ("clusters", f"{len(tally.sizes):,}", f"the largest has {max(tally.sizes.values(), default=0):,} documents"),
        _recall(result),
        ("wrong pairs", f"{result.wrong:,}", ""),
        _latency(result),
        _throughput(result),
    ]
    return [f"  {name:<11} {number:>8}  {note}".rstrip() for name, number, note in rows]


def _recall(result: Result) -> tuple[str, str, str]:
    if result.exact is None:
        return "recall", "-", "too many documents to compare every two of them"
    hits, total = len(result.exact) - result.missed, len(result.exact)
    share = f"{hits / total:.2%}" if total else "-"
    lost = f"; {result.missed:,} MISSED" if result.missed else ""
    return "recall", share, f"{hits:,} of {total:,}; every two compared in {result.exact_s:.1f} s{lost}"


def _latency(result: Result) -> tuple[str, str, str]:
    if not result.tally.delays_ms:
        return "latency", "-", "no pair came while the documents were paced"
    middle, late = (result.tally.delay_ms(share) for share in (0.5, 0.99))
    return "latency", f"{middle:,.0f} ms", f"half of the pairs; 99 % in {late:,.0f} ms; at {result.rate} documents/s"


def _throughput(result: Result) -> tuple[str, str, str]:
    if not result.burst:
        return "throughput", "-", f"all of them came at {result.rate} documents/s"
    speed = result.burst / result.burst_s
    return "throughput", f"{speed:,.0f}/s", f"the last {result.burst:,} documents, at full speed"
