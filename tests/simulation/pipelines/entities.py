"""Pipelines of records: scores that move, a table that counts values, and a user who decides about pairs.

A record names its shingles as a text does, and is identical with no other one.  The score of two is the share of
common shingles, less a little that depends on the values counted so far, as in a profile that weighs rare values: the
same pair has another score when it is scored again later.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from stream_lsh.arrays import Bools
from stream_lsh.kinds.record.frequencies import RecordCounts
from stream_lsh.ledger.clusters.entities import Entities
from stream_lsh.ledger.clusters.guards.choice import Guards
from stream_lsh.model import About, Document
from stream_lsh.pipeline.batches import Signatures
from stream_lsh.pipeline.compare import Compared, Criteria, Pairs
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.records.model import as_text, values_of
from stream_lsh.records.profile import Comparison, Field, Profile
from tests.ledger_oracle import ChosenGuards
from tests.simulation.pipelines.scheme import NamedShingles

RECORDS_FROM = 1_000_000
"""Seeds from here on are schedules with records."""

MOST_COUNTED = 7
"""The counted values move a score by at most this many times the drift."""

PROFILE = Profile(
    name="shingles",
    fields=(Field(name="shingles"),),
    comparisons=(Comparison(field="shingles", comparator="exact", term_frequency=True),),
)

_LEVELS = ((0.29, 0.49), (0.29, 0.65), (0.49, 0.65), (0.49, 0.74), (0.29, 0.74))
"""Review threshold and link threshold, a little below possible shares of few shingles."""


@dataclass(frozen=True)
class Records:
    """The settings of a run with records.

    Attributes:
        link_from: pairs from here on are matches, those from the threshold on reviews.
        one_per_source: no cluster has two of a source, and a pair between two clusters is no match.
        drift: the step by which a score moves; small steps never cross a threshold.
        decide: how often the user decides.
        pause: how often a worker is paused, and sends the decisions that it has read late.
    """

    link_from: float
    one_per_source: bool
    drift: float
    decide: float
    pause: float

    @property
    def guards(self) -> Guards:
        """The guards of the ledger."""
        return ChosenGuards(one_per_source=True) if self.one_per_source else Guards()

    @property
    def slack(self) -> float:
        """How far a score is below the share of common shingles, at most."""
        return self.drift * MOST_COUNTED

    @property
    def is_calm(self) -> bool:
        """Whether no score ever crosses a threshold."""
        return self.slack < 0.01


def draw_records(seed: int, steady: bool) -> tuple[float, Records]:
    """The review threshold and the rest; `steady` where every version is to match every other."""
    rng = random.Random(f"{seed} records")
    threshold, link_from = rng.choice(_LEVELS)
    if steady:
        threshold, link_from = _LEVELS[0]
    drift, decide = rng.choice((0.0, 0.001, 0.001, 0.04)), rng.choice((0.0, 0.01, 0.03, 0.03, 0.1))
    return threshold, Records(link_from, rng.random() < 0.5, drift, decide, rng.choice((0.0, 0.0, 0.005, 0.02)))


def golden(members: Sequence[tuple[str, str, int, str]]) -> str:
    """The fields of all members, sorted."""
    return " ".join(sorted(f"{fields}/{source}" for _, source, _, fields in members))


def entities() -> Entities:
    """The describer of clusters."""
    return Entities(golden)


class NamedRecords(NamedShingles):
    """Records such as `3 1 5` and their ids; no two are identical."""

    def __init__(self, drift: float) -> None:
        super().__init__()
        self._drift = drift

    def sign(self, texts: Sequence[str]) -> Signatures:
        """The shingles, and a digest of these and the id."""
        signed = super().sign([_shingles(text) for text in texts])
        digests = np.array([(crc32(text.encode()) << 8) + 1 for text in texts], np.uint64)
        return Signatures(signed.values, np.where(signed.digests == 0, np.uint64(0), digests))

    def comparer(self) -> "DriftingPairs":  # type: ignore[override]
        """Scores."""
        return DriftingPairs(self._drift)

    def counts(self) -> RecordCounts:
        """How often each text occurs."""
        return RecordCounts(PROFILE)


class DriftingPairs:
    """The share of common shingles, less a multiple of the drift."""

    def __init__(self, drift: float) -> None:
        self._drift = drift

    def compare(self, pairs: Pairs, near: Bools, criteria: Criteria, *, bounded: bool = False) -> Compared:
        """The score of each pair, and itself as the evidence."""
        assert isinstance(pairs.documents.counts, RecordCounts)
        seen = pairs.documents.counts.scorer.seen(0, "")
        assert seen is not None
        less = self._drift * (seen[1] % (MOST_COUNTED + 1))
        similarity, evidence = np.zeros(len(pairs)), [""] * len(pairs)
        olds = pairs.documents.texts(pairs.old)
        for at, (row, old) in enumerate(zip(pairs.new.tolist(), olds, strict=True)):
            ours, theirs = ({*_shingles(text).split()} for text in (pairs.asked.texts[row], old))
            if near[at] and ours & theirs:
                similarity[at] = max(0.0, len(ours & theirs) / len(ours | theirs) - less)
                evidence[at] = repr(float(similarity[at]))
        none, counted = np.zeros(len(pairs), np.uint32), np.full(len(pairs), seen[1], np.uint32)
        return Compared(similarity, none, counted, None, evidence)

    def forget(self, ref: int) -> None:
        """Nothing is remembered."""

    def __len__(self) -> int:
        return 0


def _shingles(text: str) -> str:
    return values_of(text, 1)[0]


def miscounted(table: DocumentTable) -> str:
    """How the frequencies of a table differ from its live records; "" if they do not."""
    refs, rows = table.in_order()
    live = table.rows(refs) >= 0
    return differs(table, [_shingles(text) for text in table.texts(rows[live])])


def differs(table: DocumentTable, values: Sequence[str]) -> str:
    """How the frequencies of a table differ from these values; "" if they do not."""
    assert isinstance(table.counts, RecordCounts)
    true = sorted(value for value in values if value)
    seen = {value: table.counts.scorer.seen(0, value) for value in {*true, ""}}
    expected = {value: (true.count(value), len(true)) for value in seen}
    return "" if seen == expected else f"counted {seen}, live are {expected}"


class User:
    """A user who writes records and reviews pairs."""

    def __init__(self, seed: int, records: Records) -> None:
        self._rng = random.Random(f"{seed} records user")
        self._records = records
        self._last: dict[str, Document] = {}
        self._pair: list[str] = []

    def wants_to_decide(self) -> bool:
        """Whether the user decides now."""
        return self._rng.random() < self._records.decide

    def record(self, document: Document) -> Document:
        """A document as a record with fields and a source; now and then the last one of its id, with other fields."""
        rng, last = self._rng, self._last.get(document.id)
        if document.text is None:
            return document
        shingles = document.text
        if last is not None and last.text is not None and rng.random() < 0.2:
            shingles, document = _shingles(last.text), document._replace(time_ms=last.time_ms)
        source = "xyz "[crc32(document.id.encode()) % 4].strip()
        if rng.random() < 0.1:
            source = rng.choice(("", "x", "y", "z"))
        text = as_text((shingles,), document.id)
        document = document._replace(text=text, about=About(rng.choice("ABC"), source))
        self._last[document.id] = document
        return document

    def decision(self) -> tuple[bytes, bytes | None] | None:
        """Key and value of the next decision; None if there are fewer than two records."""
        rng, ids = self._rng, sorted(self._last)
        if len(ids) < 2:
            return None
        if not self._pair or rng.random() < 0.6:
            self._pair = rng.sample(ids, 2)
        elif rng.random() < 0.3:
            self._pair = self._pair[::-1]
        key = json.dumps(self._pair, separators=(",", ":")).encode()
        verdict = rng.choice(("same", "same", "different", "different", None, "none", "perhaps"))
        if verdict is None:
            return key, None
        return key, json.dumps({"decision": None if verdict == "none" else verdict, "by": "ann"}).encode()
