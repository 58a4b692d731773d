"""The report of `dedup` and `news`: totals, recall, the similarities of all matches, and the largest clusters as texts.

A page has at most 20 clusters, 20 members of each, and 4,000 characters of two texts of each: 2 MB at most.
"""

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest
from typing import NamedTuple

import numpy as np

from stream_lsh.arrays import F64
from stream_lsh.cli.output.caps import caps_lines
from stream_lsh.cli.output.results import Answers
from stream_lsh.cli.output.time_format import moment
from stream_lsh.cli.reports.capped_buckets import capped_buckets
from stream_lsh.cli.reports.stories import outlet_lines, stories_of
from stream_lsh.kinds.shingled.methods import ShingleScheme
from stream_lsh.ledger.changes import MatchChange
from stream_lsh.markup.bars import histogram
from stream_lsh.markup.page import END, encoded, facts, head, paragraph, table
from stream_lsh.markup.texts import differences, line
from stream_lsh.model import NO_ABOUT, About, Cluster
from stream_lsh.pipeline.local import LocalPipeline

_MOST_CLUSTERS, _MOST_MEMBERS, _MOST_CHARACTERS = 20, 20, 4_000

Metadata = Mapping[str, tuple[int, About]]
"""Event time and description of each document, by id; empty without stories."""


class Group(NamedTuple):
    """A cluster with its heading and the lines below it, both unescaped."""

    heading: str
    lines: Sequence[str]
    members: Sequence[str]


class PairsReport:
    """The report of a run.

    Args:
        answers: its pairs and clusters.
        pipeline: that found them; the texts are those of its documents.
        scheme: of the pipeline.
        metadata: of the documents.
        options: of the command.
        notes: lines of the summary, unescaped.
        rejected: the number of rejected documents.
    """

    def __init__(
        self,
        answers: Answers,
        pipeline: LocalPipeline,
        scheme: ShingleScheme,
        metadata: Metadata,
        *,
        options: Namespace,
        notes: Sequence[str],
        rejected: int,
    ) -> None:
        self._answers, self._pipeline, self._scheme, self._metadata = answers, pipeline, scheme, metadata
        self._options, self._notes, self._rejected = options, notes, rejected
        clusters = [*answers.clusters()]
        self._count, self._members = len(clusters), sum(len(cluster.members) for cluster in clusters)
        largest = nsmallest(_MOST_CLUSTERS, clusters, key=lambda cluster: (-len(cluster.members), cluster.id))
        self._groups = self._grouped(largest)
        self._similarities = _similarities(answers)

    def _grouped(self, clusters: Sequence[Cluster]) -> list[Group]:
        if self._metadata:
            stories = stories_of(clusters, self._metadata)
            return [Group(one.headline or one.representative, [*outlet_lines(one)], one.members) for one in stories]
        return [Group(f"Cluster {cluster.id}", (), cluster.members) for cluster in clusters]

    def page(self) -> Iterator[bytes]:
        """The lines of the page."""
        return encoded(self._parts())

    def _parts(self) -> Iterator[str]:
        what = "stories" if self._metadata else "near-duplicates"
        documents = self._pipeline.counts.documents
        yield from head(f"{documents:,} documents: {what}")
        yield from facts(self._totals())
        yield from (paragraph(text, "note") for text in self._notes)
        yield "<h2>Similarity of the matches</h2>"
        yield from self._distribution()
        yield "<h2>Recall</h2>"
        yield from (paragraph(text) for text in self._recall())
        yield from capped_buckets(self._pipeline)
        yield "<h2>Largest clusters</h2>"
        if self._count > len(self._groups):
            yield paragraph(f"The {len(self._groups)} largest of {self._count:,} clusters are shown.")
        if not self._groups:
            yield paragraph("No cluster: no two documents match.")
        for group, weakest in zip(self._groups, self._weakest(), strict=True):
            yield from self._cluster(group, weakest)
        yield END

    def _totals(self) -> Iterator[tuple[str, str]]:
        counts, signed = self._pipeline.counts, self._pipeline.counts.signed
        yield "documents", f"{counts.documents:,}"
        yield "compared pairs", f"{counts.candidates:,}"
        yield "matches", f"{len(self._answers):,}"
        yield "clusters", f"{self._count:,}"
        yield "copies: all but one of each cluster", f"{self._members - self._count:,}"
        yield "rejected", f"{self._rejected:,}"
        yield "repeated ids", f"{signed.updated + signed.unchanged:,}"
        yield "threshold", f"{self._options.threshold:g}, {self._options.measure}"

    def _distribution(self) -> Iterator[str]:
        similarities = self._similarities[:, 0]
        if not similarities.size:
            yield paragraph("No match reaches the threshold.")
            return
        threshold = self._options.threshold
        name = f"threshold {threshold:g}: less similar pairs are not stored"
        caption = "Matches by similarity; the length of a bar is logarithmic."
        yield from histogram(similarities, {threshold: name}, caption)

    def _recall(self) -> Iterator[str]:
        """The recall of the bands, estimated from the matches, and the pairs that caps omitted."""
        counts = self._pipeline.counts
        jaccard = self._similarities[:, 1]
        banding = self._scheme.banding
        if banding is None:
            yield "The method is exact: it finds every match."
        elif jaccard.size:
            expected = float((1 / self._scheme.promised(jaccard)).sum())
            yield (
                f"{banding.bands} bands of {banding.rows} rows find a pair at the threshold with a probability of "
                f"{banding.probability_at_threshold:.4f}, and a more similar pair with a higher one. By the "
                f"similarities of the {jaccard.size:,} matches, about {expected - jaccard.size:,.1f} more exist: the "
                f"estimated recall is {jaccard.size / expected:.4f}."
            )
        if counts.capped_postings:
            yield f"{counts.capped_postings:,} buckets were not followed to their end, because of a cap."
        yield from caps_lines(counts)
        if not counts.capped_candidates:
            yield "No cap had an effect: all candidates were compared."

    def _weakest(self) -> list[MatchChange | None]:
        """The least similar match of each shown cluster, among the documents whose texts are stored."""
        place_of = {id: place for place, group in enumerate(self._groups) for id in group.members}
        weakest: list[MatchChange | None] = [None] * len(self._groups)
        for match in self._answers.matches():
            place = place_of.get(match.left)
            if place is None or place_of.get(match.right) != place:
                continue
            before = weakest[place]
            if before is not None and (match.similarity or 0.0) >= (before.similarity or 0.0):
                continue
            if None not in map(self._row, (match.left, match.right)):
                weakest[place] = match
        return weakest

    def _row(self, id: str) -> int | None:
        """The row of a document in the table; None if it has expired."""
        version = self._pipeline.documents.version(id)
        return version.row if version is not None and version.live else None

    def _cluster(self, group: Group, weakest: MatchChange | None) -> Iterator[str]:
        size = len(group.members)
        yield f"<h3>{line(group.heading)}</h3>"
        shown = f", the newest {_MOST_MEMBERS} of them below" if size > _MOST_MEMBERS else ""
        yield paragraph(" · ".join([f"{size:,} documents{shown}", *group.lines]), "note")
        yield from self._table(group.members[:_MOST_MEMBERS])
        if weakest is not None:
            yield from self._texts(weakest)

    def _table(self, ids: Sequence[str]) -> Iterator[str]:
        """Members of a cluster; titles, outlets and times only if there are any."""
        members = [self._answers.member(id) for id in ids]
        abouts = [self._metadata[id][1] if self._metadata else NO_ABOUT for id in ids]
        columns: dict[str, list[str]] = {
            "id": [*map(line, ids)],
            "title": [line(about.title) if about.title else "" for about in abouts],
            "outlet": [line(about.source, 60) if about.source else "" for about in abouts],
            "time": [moment(member.time_ms) if member.time_ms else "" for member in members],
            "#similarity to the most similar member": [
                "" if member.similarity is None else f"{member.similarity:.4f}" for member in members
            ],
        }
        shown = {name: cells for name, cells in columns.items() if any(cells)}
        yield from table([*shown], zip(*shown.values(), strict=True))

    def _texts(self, match: MatchChange) -> Iterator[str]:
        """Two texts side by side, with their differences marked."""
        ids = [match.left, match.right]
        texts = [self._pipeline.documents.content(row)[0] for row in map(self._row, ids) if row is not None]
        passages = self._scheme.explain(texts[0], texts[1]).passages
        if texts[0] == texts[1]:
            ids, texts, note = ids[:1], texts[:1], "The least similar match has equal texts."
        else:
            note = (
                f"The least similar match, {match.similarity:.4f}: {match.shared:,} of {match.union:,} shingles are "
                "shared. Marked parts occur in only one of the texts."
            )
        yield paragraph(note, "note")
        yield '<div class="sides">'
        for id, text, parts in zip(ids, texts, passages, strict=False):
            marked = "".join(differences(text, parts, _MOST_CHARACTERS))
            yield f'<div><p class="muted">{line(id)}</p><div class="text" dir="auto">{marked}</div></div>'
        yield "</div>"


def _similarities(answers: Answers) -> F64:
    """The similarity and the Jaccard similarity of each match: float64[n, 2]."""
    found = (value for match in answers.matches() for value in (match.similarity or 0.0, match.shared / match.union))
    return np.fromiter(found, np.float64).reshape(-1, 2)
