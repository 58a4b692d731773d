"""The band-bucket table as a dict of lists: slow, obvious, trusted."""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from stream_lsh.index import BandTable, Hits

Pair = tuple[int, int]
Posting = tuple[int, int, int]
"""(ref, time, bucket)"""


@dataclass
class Answer:
    """The expected answer of a probe: candidates per new ref, each (old, bands, identical), in order."""

    candidates: dict[int, list[tuple[int, int, bool]]] = field(default_factory=dict)
    capped_postings: int = 0
    capped_candidates: int = 0


class Oracle:
    """A bucket is the list of its live refs in order of arrival."""

    def __init__(self, cap_postings: int, cap_candidates: int, span: int | None = None) -> None:
        self.cap_postings, self.cap_candidates, self.span = cap_postings, cap_candidates, span
        self.buckets: dict[int, list[int]] = defaultdict(list)
        self.arrival: dict[Pair, int] = {}
        self.clock = 0
        self.until: int | None = None
        self.expires: dict[Pair, int] = {}
        self.emitted: set[Pair] = set()  # pairs ever emitted, by (later, earlier)

    def __len__(self) -> int:
        return sum(map(len, self.buckets.values()))

    def insert(self, postings: list[Posting]) -> list[Pair]:
        """Enter new postings; returns the distinct (bucket, ref).  All postings of a ref arrive together."""
        first_of_ref: dict[int, int] = {}
        time_of: dict[int, int] = {}
        for ref, time, _ in postings:
            first_of_ref.setdefault(ref, len(first_of_ref))
            time_of.setdefault(ref, time)
        asked = list(dict.fromkeys((bucket, ref) for ref, _, bucket in postings))
        asked.sort(key=lambda posting: first_of_ref[posting[1]])
        for bucket, ref in asked:
            if ref in self.buckets[bucket]:
                continue
            if self.span is not None and (self.until is None or time_of[ref] >= self.until):
                self.until = (time_of[ref] // self.span + 1) * self.span
            self.clock += 1
            self.arrival[bucket, ref] = self.clock
            if self.until is not None:
                self.expires[bucket, ref] = self.until
            self.buckets[bucket].append(ref)
        return asked

    def insert_and_probe(self, postings: list[Posting]) -> Answer:
        asked = self.insert(postings)
        answer = Answer()
        shared: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        uncapped: dict[int, set[int]] = defaultdict(set)
        nearest: set[Pair] = set()
        for bucket, ref in asked:
            live = self.buckets[bucket]
            older = live[: live.index(ref)][::-1]
            uncapped[ref].update(older)
            nearest.update((ref, old) for old in older[:1])
            if self.cap_postings and len(older) > self.cap_postings:
                answer.capped_postings += 1
                older = older[: self.cap_postings]
            for old in older:
                shared[ref][old].append(bucket)
        for ref, by_old in shared.items():
            ranked = [
                (not any(b & 1 for b in found), -len(found), -max(self.arrival[b, old] for b in found), old)
                for old, found in by_old.items()
            ]
            ranked.sort()
            full = [(old, -bands, not ordinary) for ordinary, bands, _, old in ranked]
            required = [c for c in full if c[2] or (ref, c[0]) in nearest]
            others = [c for c in full if c not in required]
            room = max(0, self.cap_candidates - len(required)) if self.cap_candidates else len(others)
            kept = [c for c in full if c in required or c in others[:room]]
            answer.capped_candidates += len(uncapped[ref]) - len(kept)
            answer.candidates[ref] = kept
        return answer

    def retire(self, postings: list[Pair]) -> None:
        for bucket, ref in postings:
            if ref in self.buckets[bucket]:
                self.buckets[bucket].remove(ref)

    def expire(self, horizon: int) -> int:
        dropped = 0
        for bucket, refs in self.buckets.items():
            keep = [ref for ref in refs if self.expires.get((bucket, ref), horizon + 1) > horizon]
            dropped += len(refs) - len(keep)
            self.buckets[bucket] = keep
        if self.until is not None and self.until <= horizon:
            self.until = None
        return dropped

    def pairs_within(self, window: int, *, digest: bool | None = None) -> set[Pair]:
        """(later, earlier) of all live postings of a bucket at most `window` apart; of all buckets, or of one sort."""
        return {
            (refs[i], refs[j])
            for bucket, refs in self.buckets.items()
            if digest is None or bucket & 1 == digest
            for i in range(len(refs))
            for j in range(max(0, i - window) if window else 0, i)
        }


def columns(postings: list[Posting]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A batch in the shape that the table takes: one document per run of equal refs."""
    refs: list[int] = []
    times: list[int] = []
    rows: list[int] = []
    for ref, time, _ in postings:
        if not refs or refs[-1] != ref:
            refs.append(ref)
            times.append(time)
        rows.append(len(refs) - 1)
    return (
        np.array(refs, dtype=np.uint64),
        np.array(times, dtype=np.int64),
        np.array(rows, dtype=np.int64),
        np.array([bucket for _, _, bucket in postings], dtype=np.uint64),
    )


def by_document(hits: Hits) -> dict[int, list[tuple[int, int, bool]]]:
    """Hits as the oracle gives them."""
    result: dict[int, list[tuple[int, int, bool]]] = {}
    rows = zip(hits.new.tolist(), hits.old.tolist(), hits.bands.tolist(), hits.identical.tolist(), strict=True)
    for new, old, bands, identical in rows:
        result.setdefault(new, []).append((old, bands, identical))
    return result


def pairs_of(hits: Hits) -> set[Pair]:
    """The pairs (new, old)."""
    return set(zip(hits.new.tolist(), hits.old.tolist(), strict=True))


def probe(table: BandTable, postings: list[Posting]) -> Hits:
    """`insert_and_probe` of a list of postings."""
    return table.insert_and_probe(*columns(postings))


def retire(table: BandTable, postings: list[Pair]) -> Hits:
    """`retire` of a list of (bucket, ref)."""
    refs = np.array([ref for _, ref in postings], dtype=np.uint64)
    buckets = np.array([bucket for bucket, _ in postings], dtype=np.uint64)
    return table.retire(refs, np.arange(len(postings)), buckets)
