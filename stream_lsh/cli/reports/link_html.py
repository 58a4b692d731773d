"""The report of `link`: totals, scores, match weights, doubtful pairs as waterfalls, the largest entities.

A page has at most 12 pairs, 12 entities, 12 members of each and 12 fields of a member.  It stays below 2 MB, unless the
profile has hundreds of levels.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest, nsmallest
from math import isfinite, log2

import numpy as np

from stream_lsh.arrays import F64
from stream_lsh.cli.output.caps import caps_lines
from stream_lsh.cli.reports.capped_buckets import capped_buckets
from stream_lsh.kinds.record.in_memory import RecordLinker
from stream_lsh.markup.bars import bar, histogram, signed, signed_bar
from stream_lsh.markup.page import END, encoded, facts, head, paragraph, table
from stream_lsh.markup.texts import line
from stream_lsh.measure.reliability import reliability
from stream_lsh.records.compare.catalog import comparator
from stream_lsh.records.model import SEVERAL, Entity, RecordMatch, values_of
from stream_lsh.records.profile import Profile
from stream_lsh.records.score import bits_of
from stream_lsh.records.train.learning import Training

_MOST = 12
_SHOWN = 80
"""Characters of a value."""


class LinkReport:
    """The report of a run.

    Args:
        linker: with the records and the results.
        training: of the profile in this run; None if it was trained before.
    """

    def __init__(self, linker: RecordLinker, training: Training | None) -> None:
        self._linker, self._training = linker, training
        self._scores: list[F64] = []
        self._doubtful: list[RecordMatch] = []

    def take(self, pairs: Sequence[RecordMatch], *, matches: bool) -> None:
        """Note the scores of all matches or of all reviews, and the pairs closest to the threshold of a match."""
        self._scores.append(np.fromiter((pair.score for pair in pairs), np.float64, len(pairs)))
        closest = nsmallest if matches else nlargest
        self._doubtful += closest(_MOST // 2, pairs, key=lambda pair: pair.score)

    def page(self, totals: Mapping[str, int], entities: Sequence[Entity], notes: Iterable[str]) -> Iterator[bytes]:
        """The lines of the page.

        Args:
            totals: numbers by their names.
            entities: all.
            notes: lines of the summary, unescaped.
        """
        return encoded(self._parts(totals, entities, notes))

    def _parts(self, totals: Mapping[str, int], entities: Sequence[Entity], notes: Iterable[str]) -> Iterator[str]:
        profile = self._linker.profile
        copies = sum(len(entity.members) for entity in entities) - len(entities)
        yield from head(f"{totals['records']:,} records: entities")
        named = [(name, f"{number:,}") for name, number in totals.items()]
        yield from facts([*named, ("copies: all but one of each entity", f"{copies:,}"), ("profile", profile.name)])
        yield from (paragraph(note, "note") for note in notes)
        yield "<h2>Scores of matches and reviews</h2>"
        yield from self._distribution()
        yield "<h2>Recall</h2>"
        which = "Those of different sources" if profile.link == "link" else "All of them"
        yield paragraph(
            f"Candidates are pairs of records with a common block. {which} are compared; matches outside of blocks are "
            "not estimated."
        )
        capped = [*caps_lines(self._linker.counts)]
        yield from (paragraph(text) for text in capped or ["No cap had an effect: no candidate was left out."])
        yield from capped_buckets(self._linker.pipeline, self._values)
        yield "<h2>Match weights</h2>"
        yield from (paragraph(doubt, "note") for doubt in profile.doubts)
        yield from _weights(profile, self._training)
        if self._training is not None:
            yield "<h2>Reliability</h2>"
            yield from _reliability(self._training)
        yield "<h2>Pairs closest to the threshold</h2>"
        for pair in sorted(self._doubtful, key=lambda pair: -pair.score):
            yield from self._pair(pair)
        if not self._doubtful:
            yield paragraph("No pair is a match or a review.")
        yield "<h2>Largest entities</h2>"
        yield from self._entities(entities)
        yield END

    def _values(self, stored: str) -> str:
        """The values of a stored record that are not missing."""
        values = values_of(stored, len(self._linker.profile.fields))
        return ", ".join(value.replace(SEVERAL, ", ") for value in values if value)

    def _distribution(self) -> Iterator[str]:
        profile, scores = self._linker.profile, np.concatenate([*self._scores, np.empty(0)])
        if not scores.size:
            yield paragraph("No pair is a match or a review.")
            return
        marks: dict[float, str] = {}
        for name, probability in (("match", profile.match), ("review", profile.review)):
            at = _bits(probability) if profile.learned else probability
            if isfinite(at):
                marks[round(at, 4)] = f"{name} from a probability of {probability:g}"
        unit = "bits" if profile.learned else "the weighted mean"
        caption = (
            f"Pairs by score, in {unit}; the length of a bar is logarithmic. Pairs with lower scores are not stored."
        )
        yield from histogram(scores, marks, caption)

    def _pair(self, pair: RecordMatch) -> Iterator[str]:
        evidence = self._linker.explain(pair.left, pair.right)
        yield f"<h3>{line(pair.left, _SHOWN)} and {line(pair.right, _SHOWN)}</h3>"
        rules = f"; they share the blocks {', '.join(pair.rules[:4])}" if pair.rules else ""
        yield paragraph(f"{evidence.verdict.capitalize()}, probability {pair.probability:.4f}{rules}.", "note")
        yield from evidence.waterfall()

    def _entities(self, entities: Sequence[Entity]) -> Iterator[str]:
        largest = nsmallest(_MOST, entities, key=lambda entity: (-len(entity.members), entity.id))
        if len(entities) > len(largest):
            yield paragraph(f"The {len(largest)} largest of {len(entities):,} entities are shown.")
        if not entities:
            yield paragraph("No entity: no two records match.")
        for entity in largest:
            size = len(entity.members)
            yield f"<h3>{line(f'Entity {entity.id}')}</h3>"
            shown = f", the newest {_MOST} of them below" if size > _MOST else ""
            yield paragraph(f"{size:,} records{shown}.", "note")
            members = [(id, self._linker.record(id).fields) for id in entity.members[:_MOST]]
            rows = [("golden record", entity.golden), *members]
            names = [name for name in self._linker.profile.names if any(fields.get(name) for _, fields in rows)][:_MOST]
            yield from table(
                ["record", *names],
                ([line(id, _SHOWN), *(_cell(fields.get(name)) for name in names)] for id, fields in rows),
            )


def _bits(probability: float) -> float:
    return log2(probability / (1 - probability)) if 0 < probability < 1 else float("inf")


def _cell(value: object) -> str:
    several = " / ".join(map(str, value)) if isinstance(value, list) else value
    return "" if several in (None, "") else line(several, _SHOWN)


def _weights(profile: Profile, training: Training | None) -> Iterator[str]:
    """The weight of each level of each comparison; without those of fields that training found without values."""
    if not profile.learned:
        yield paragraph("The profile has no trained weights: a score is the weighted mean of the levels of agreement.")
        return
    others = training.others if training else [1.0] * len(profile.comparisons)
    known = [one for one, count in zip(profile.comparisons, others, strict=True) if count >= 1]
    weighed = [(one, bits_of(one.m, one.u)) for one in known]
    reach = max((abs(bits) for _, all_bits in weighed for bits in all_bits), default=0.0) or 1.0
    rows: list[list[str]] = []
    for one, all_bits in weighed:
        levels = comparator(one.comparator, one.levels).levels
        for level, m, u, bits in zip(levels, one.m, one.u, all_bits, strict=True):
            values = [f"{m:.4g}", f"{u:.4g}", signed_bar(bits, reach), signed(bits)]
            rows.append([line(f"{one.field} ({one.comparator})"), line(level), *values])
    caption = "m: share of a level among matches; u: among other pairs; a level contributes log2(m / u) bits."
    yield from table(["comparison", "level", "#m", "#u", "~evidence", "#bits"], rows, caption)


def _reliability(training: Training) -> Iterator[str]:
    """The pairs of training by probability; this run has no labels, so the matches are expected ones."""
    rows = [
        [f"{one.low:g} to {one.high:g}", f"{one.pairs:,}", bar(one.mean), f"{one.expected:,.1f}"]
        for one in reliability(training.probability, training.labels)
    ]
    caption = (
        "Candidates of training by their probability, and the matches expected among them. Labels would confirm them."
    )
    yield from table(["probability", "#pairs", "~mean probability", "#expected matches"], rows, caption)
