"""The state of the public topics so far: current pairs and clusters, unreported changes, and latencies of pairs."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from stream_lsh.demo.exact import Pair, pair_of


class News(NamedTuple):
    """A change of a cluster, for display.

    Attributes:
        what: `new`, `3 now`, or `gone`.
        similarity: of the pair; None where there is no pair to show.
        ids: the document that came and the one that it resembles most; or the cluster alone.
    """

    what: str
    similarity: float | None
    ids: Sequence[str]


class Tally:
    """Adds up the messages of `matches` and `clusters`.

    Attributes:
        pairs: the pairs that are true, with their similarities.
        sizes: the current clusters, with the number of their members.
        withdrawn: how many pairs were taken back.
        delays_ms: from when the later document of a pair was sent to when the pair was seen, of each pair whose
            documents were sent before `timed_before_ms`.
        last_ms: when the last pair was seen.

    Example:
        >>> tally = Tally()
        >>> tally.match(b'["a","b"]', b'{"similarity":0.9,"left_time":5,"right_time":20}', 50.0)
        >>> tally.pairs, tally.delays_ms
        ({('a', 'b'): 0.9}, [30.0])
        >>> tally.cluster(b"a", b'{"event":"created","size":2,"members":["b","a"]}')
        >>> tally.news()
        [News(what='new', similarity=0.9, ids=('b', 'a'))]
        >>> tally.match(b'["a","b"]', None, 60.0)
        News(what='gone', similarity=0.9, ids=('a', 'b'))
        >>> tally.pairs, tally.withdrawn
        ({}, 1)
    """

    def __init__(self) -> None:
        self.pairs: dict[Pair, float] = {}
        self.sizes: dict[str, int] = {}
        self.withdrawn = 0
        self.delays_ms: list[float] = []
        self.last_ms = 0.0
        self._unreported: dict[str, tuple[str, Sequence[str]]] = {}
        self.timed_before_ms = float("inf")

    def match(self, key: bytes, value: bytes | None, seen_ms: float) -> News | None:
        """A message of `matches`; returns the retraction of a pair.  Documents carry the time when they were sent."""
        left, right = json.loads(key)
        self.last_ms = seen_ms
        if value is None:
            similarity = self.pairs.pop((left, right), None)
            self.withdrawn += similarity is not None
            return None if similarity is None else News("gone", similarity, (left, right))
        match = json.loads(value)
        self.pairs[left, right] = match["similarity"]
        sent_ms = max(match["left_time"], match["right_time"])
        if sent_ms < self.timed_before_ms:
            self.delays_ms.append(seen_ms - sent_ms)
        return None

    def cluster(self, key: bytes, value: bytes | None) -> None:
        """A message of `clusters`."""
        id = key.decode()
        before = self.sizes.pop(id, 0)
        self._unreported.pop(id, None)
        if value is None:
            if before:
                self._unreported[id] = ("gone", ())
            return
        cluster = json.loads(value)
        self.sizes[id] = size = int(cluster["size"])
        if size != before:
            self._unreported[id] = (f"{size} now" if before else "new", cluster["members"])

    def news(self) -> list[News]:
        """The changes that can be shown: a cluster that arrives before its pair waits for the pair."""
        reported = []
        for id, (what, members) in list(self._unreported.items()):
            if not members:
                reported.append((id, News(what, None, (id,))))
                continue
            newest, *others = members
            similarity, other = max(
                ((self.pairs.get(pair_of(newest, candidate), 0.0), candidate) for candidate in others),
                default=(0.0, ""),
            )
            if similarity:
                reported.append((id, News(what, similarity, (newest, other))))
        for id, _ in reported:
            del self._unreported[id]
        return [news for _, news in reported]

    def delay_ms(self, share: float) -> float:
        """The delay that this share of the pairs did not exceed; 0 if there was none."""
        delays = sorted(self.delays_ms)
        return delays[min(len(delays) - 1, int(len(delays) * share))] if delays else 0.0
