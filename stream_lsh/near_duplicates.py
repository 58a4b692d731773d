"""Near-duplicates in memory: the pipeline of the stream as a library, for one process.

The same core, so the same pairs and the same groups as on Kafka; one document at a time or many.  It knows no clock:
time is what the documents say.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from stream_lsh.errors import (
    ConfigError,
    DamagedBytes,
    FingerprintMismatch,
    InvariantError,
)
from stream_lsh.ledger.changes import MatchChange, PairState
from stream_lsh.ledger.guards.choice import NO_GUARDS, Guards
from stream_lsh.ledger.stories import story
from stream_lsh.measure.catalog import JACCARD, measure_of
from stream_lsh.model import About, Cluster, Document, Match, Similar, Story
from stream_lsh.pipeline.local import BATCH, Limits, LocalPipeline, LocalState
from stream_lsh.pipeline.records import DocumentsRecord
from stream_lsh.pipeline.scheme import TextScheme
from stream_lsh.wire.archive import Archive, read_archive, write_archive
from stream_lsh.wire.cut import cut_documents
from stream_lsh.wire.fingerprint import differences, fingerprint
from stream_lsh.wire.frames import decode_documents, encode
from stream_lsh.wire.given import given
from stream_lsh.wire.ledger_record import LedgerAssembler, encode_ledger

_RECORD_BYTES = 1 << 20
_KIND = "near-duplicates"
_REMOVED = 1024
"""Removals that are worth compacting for."""


class NearDuplicates:
    """Documents in memory, and which of them are near-duplicates.

    Args:
        threshold: least similarity of a match, above 0 and below 1.
        shingles: what is compared: runs of k words (`word:3`) or characters (`char:5`), or stop words (`stopword:en`).
        recall: probability that a pair at the threshold is found, but for 0.001; more similar pairs have a greater one.
        retention_ms: match only documents whose times are within this span, and forget older ones; None: never.
        max_candidates: most documents that one is compared with; 0 lifts all caps.
        normalise: forms that texts are brought into first, such as `nfkc`, `casefold`, `space`, `accents`.
        seed: chooses the hash functions.
        guards: what holds a cluster together besides its matches; without, whatever matches connect is one cluster.
        measure: `jaccard`, shared shingles over those of both texts together, or `containment`, over those of the
            shorter one: excerpts, and pages within pages.
        size_ratio: only with `containment`: how many times as many shingles the longer text has at most; None: 2.
        stories: keep of each document its title and its outlet, too, for `stories`.

    Guarantees:
        every match is exact: no pair below the threshold is one.  A pair at or above it is found with the probability
        `recall` or a greater one, but for 0.001 at the threshold, over the choice of hash functions.  Which pairs are
        found does not depend on the order of documents, caps aside.
    Cost:
        some 40 us a document of 3 KB in batches, 200 us alone; 1.2 KB beside the text.

    Raises:
        ConfigError: settings that cannot be.

    Example:
        >>> near = NearDuplicates(threshold=0.5)
        >>> near.add("a", "The quick brown fox jumps over the lazy dog")
        []
        >>> for match in near.add("b", "The quick brown fox jumps over the lazy cat"):
        ...     print(match.left, match.right, match.similarity)
        a b 0.75
        >>> near.query("A quick brown fox jumps over the lazy dog")[0]
        Similar(id='a', similarity=0.75, shared=6, union=8)
        >>> near.clusters()
        [Cluster(id='a', members=('b', 'a'))]
        >>> near.remove("a"), near.matches(), "a" in near, len(near)
        (True, [], False, 1)

        >>> near = NearDuplicates(measure="containment")
        >>> near.add("a", "The quick brown fox jumps over the lazy dog")
        []
        >>> for match in near.add("b", "The quick brown fox jumps over"):
        ...     print(match.similarity, match.shared, match.left_shingles, match.right_shingles)
        1.0 4 7 4
    """

    def __init__(
        self,
        threshold: float = 0.8,
        shingles: str = "word:3",
        recall: float = 0.99,
        retention_ms: int | None = None,
        max_candidates: int = 200,
        *,
        normalise: Iterable[str] = ("nfc",),
        seed: int = 1,
        guards: Guards = NO_GUARDS,
        measure: str = JACCARD.name,
        size_ratio: float | None = None,
        stories: bool = False,
    ) -> None:
        problems = [f"guards.{name}: {problem}" for name, problem in guards.problems(threshold)]
        if retention_ms is not None and retention_ms <= 0:
            problems.append(f"retention_ms: got {retention_ms}, expected a positive number or None")
        if max_candidates < 0:
            problems.append(f"max_candidates: got {max_candidates}, expected 0 (no caps) or more")
        if problems:
            raise ConfigError(problems)
        self._settings: dict[str, Any] = {
            "threshold": threshold,
            "shingles": shingles,
            "recall": recall,
            "retention_ms": retention_ms,
            "max_candidates": max_candidates,
            "normalise": list(normalise),
            "seed": seed,
            "guards": guards.settings(),
            **({"stories": True} if stories else {}),
        }
        chosen = measure_of(measure, size_ratio)
        if chosen != JACCARD:  # archives of the usual measure do not name it
            self._settings |= chosen.settings
        forms: list[str] = self._settings["normalise"]
        scheme = TextScheme(threshold, shingles, recall=recall, normalise=forms, seed=seed, measure=chosen)
        self._scheme, self._limits = scheme, Limits.of(max_candidates, retention_ms, guards, stories=stories)
        self._pipeline = self._new_pipeline()
        self._removed = 0

    # -- changing

    def add(self, id: str, text: str, time_ms: int = 0, *, title: str = "", source: str = "") -> list[Match]:
        """Add a document, or replace the one of this id; returns all its matches, the most similar first.

        Args:
            id: 1 to 1,024 bytes of UTF-8.
            text: any; an empty one matches nothing.
            time_ms: event time, milliseconds since the epoch; it orders a cluster and is what the retention is about.
            title: what stories call it; without, the first line of the text.
            source: the outlet that published it.

        Raises:
            MalformedMessage, UnusableDocument: an id, a text, a time, a title or an outlet that cannot be used; nothing
                was changed.
            ConfigError: a title or an outlet, without stories.

        Example:
            >>> near = NearDuplicates()
            >>> near.add("a", "one two three four"), near.add("b", "one two three four five six")
            ([], [])
            >>> [match.similarity for match in near.add("b", "one two three four")]
            [1.0]
        """
        self._process([given(Document(id, text, time_ms, About(title, source)), self._limits.stories)])
        pairs = self._pipeline.settler.ledger.pairs_of(id)
        return sorted(map(_match, pairs), key=lambda match: (-match.similarity, match.left, match.right))

    update = add

    def add_many(self, documents: Iterable[Document | tuple[str, str] | tuple[str, str, int]]) -> list[Match]:
        """Add many documents at once, which is several times as fast; returns the matches that are new or changed.

        Args:
            documents: ids with texts and, if there are any, times; a `Document` without a text is removed.  Of its
                `about`, title and source are taken.

        Guarantees:
            the same as adding them one by one, in their order.

        Raises:
            MalformedMessage, UnusableDocument: one that cannot be used; nothing was changed.

        Example:
            >>> near = NearDuplicates()
            >>> near.add_many([("a", "to be or not to be"), ("b", "To be, or not to be"), ("c", "that is all")])
            [Match(left='a', right='b', similarity=1.0, shared=4, union=4, left_time_ms=0, right_time_ms=0)]
        """
        checked = [given(Document(*document), self._limits.stories) for document in documents]
        found: dict[tuple[str, str], Match] = {}
        for start in range(0, len(checked), BATCH):
            for change in self._process(checked[start : start + BATCH]):
                found.pop((change.left, change.right), None)
                if change.similarity is not None:
                    found[change.left, change.right] = _match(change)
        return list(found.values())

    def remove(self, id: str) -> bool:
        """Remove a document, its matches and its membership; returns whether it was there.

        Example:
            >>> NearDuplicates().remove("a")
            False
        """
        if id not in self:
            return False
        self._process([Document(id, None)])
        return True

    def _process(self, documents: list[Document]) -> Iterator[MatchChange]:
        settled = self._pipeline.process(documents)
        self._removed += sum(document.text is None for document in documents)
        if self._removed > max(_REMOVED, len(self)):
            self._compact()
        return (change for frame in settled for change in frame.matches)

    def _compact(self) -> None:
        """Drop what removed documents leave behind for the sake of messages that come late: here none do."""
        state = self._pipeline.snapshot()
        self._pipeline = self._new_pipeline()
        self._pipeline.restore([state.documents], state.ledger, (state.next_offset, state.newest_ms))
        self._removed = 0

    def _new_pipeline(self) -> LocalPipeline:
        return LocalPipeline(self._scheme, self._settings["threshold"], self._limits)

    # -- asking

    def query(self, text: str, time_ms: int | None = None) -> list[Similar]:
        """Which documents a text would match if it were added, the most similar first; nothing is changed.

        Args:
            text: any.
            time_ms: its event time, for the retention; None: whatever is remembered counts.

        Guarantees:
            those that `add` would find, at most `max_candidates` of them compared.

        Example:
            >>> near = NearDuplicates()
            >>> near.query("anything at all")
            []
        """
        edges = self._pipeline.similar(text, time_ms)
        if edges is None:
            return []
        columns = (edges.similarity.tolist(), edges.shared.tolist(), edges.union.tolist())
        found = map(Similar, edges.right.ids, *columns)
        return sorted(found, key=lambda one: (-one.similarity, one.id))

    def matches(self) -> list[Match]:
        """All matches among the documents that are here, ascending by their ids."""
        return [_match(pair) for pair in self._pipeline.settler.ledger.snapshot().pairs]

    def clusters(self) -> list[Cluster]:
        """All groups of documents that matches connect, as the guards want them; ascending by their ids."""
        return [self._cluster(id) for id in sorted(self._pipeline.settler.ledger.ids.live)]

    def cluster_of(self, id: str) -> Cluster | None:
        """The group that a document is in, None if it has no match.

        Example:
            >>> near = NearDuplicates()
            >>> found = near.add_many([("a", "to be or not to be"), ("b", "to be or not to be")])
            >>> near.cluster_of("b"), near.cluster_of("c")
            (Cluster(id='a', members=('b', 'a')), None)
        """
        cluster = self._pipeline.settler.ledger.cluster_of(id)
        return None if cluster is None else self._cluster(cluster)

    def stories(self) -> list[Story]:
        """What the clusters tell, ascending by their ids.

        Raises:
            ConfigError: nothing was kept for stories.

        Example:
            >>> near = NearDuplicates(stories=True)
            >>> near.add("b", "To be, or not to be: that is all", 7, title="Dane in doubt", source="Globe")
            []
            >>> found = near.add("a", "To be, or not to be: that is all", 5, source="Rose")
            >>> (story,) = near.stories()
            >>> story.headline, story.first.source, [outlet.source for outlet in story.sources]
            ('To be, or not to be: that is all', 'Rose', ['Rose', 'Globe'])
        """
        if not self._limits.stories:
            raise ConfigError("got no titles and outlets, expected NearDuplicates(stories=True)")
        return [self._story(id) for id in sorted(self._pipeline.settler.ledger.ids.live)]

    def _story(self, id: str) -> Story:
        ledger = self._pipeline.settler.ledger
        return story(ledger.ids.live[id], ledger.graph.nodes)

    def _cluster(self, id: str) -> Cluster:
        return Cluster(id, tuple(reversed(self._pipeline.settler.ledger.members(id))))

    def __len__(self) -> int:
        """Documents."""
        return len(self._pipeline.documents)

    def __contains__(self, id: object) -> bool:
        version = self._pipeline.documents.version(id) if isinstance(id, str) else None
        return version is not None and version.live

    @property
    def capped(self) -> int:
        """How often a cap left something out: buckets not followed to their end, candidates not compared."""
        counts = self._pipeline.counts
        return counts.capped_postings + counts.capped_candidates

    # -- keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything into one file, in one step: it is complete, or what was there before still is.

        Cost:
            some 20 us a document of 3 KB; a copy of the columns in memory.

        Raises:
            OSError: it cannot be written.

        Example:
            >>> import tempfile
            >>> near = NearDuplicates()
            >>> found = near.add_many([("a", "to be or not to be"), ("b", "to be or not to be")])
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     near.save(f"{folder}/near.slsh")
            ...     again = NearDuplicates.load(f"{folder}/near.slsh")
            >>> again.matches() == near.matches(), again.query("to be or not to be")[0].similarity
            (True, 1.0)
        """
        state = self._pipeline.snapshot()
        settings = self._scheme.settings
        head = {
            "kind": _KIND,
            "settings": self._settings,
            "limits": {name: value for name, value in asdict(self._limits).items() if name != "stories"},
            "scheme": settings,
            "next_offset": state.next_offset,
            "newest_ms": state.newest_ms,
        }
        write_archive(path, head, _records(state, fingerprint(settings)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "NearDuplicates":
        """What was saved, ready to go on; the index is linked anew.

        Raises:
            DamagedBytes: truncated, altered, or no such file of ours -> restore it, or add the documents again.
            FutureFormat: written by a newer version -> use that one.
            FingerprintMismatch: this version, or this Python's Unicode tables, would compute other signatures -> use
                those that wrote it, or add the documents again.
            OSError: it cannot be read.
        """
        with open(path, "rb") as file:
            archive = read_archive(file, path)
            near = cls._of_head(archive, path)
            ours = near._scheme.settings
            theirs = archive.head["scheme"]
            if ours != theirs:
                raise FingerprintMismatch(
                    f"{os.fspath(path)}: was written under another scheme ({'; '.join(differences(ours, theirs))}): "
                    "use the versions of stream_lsh and Python that wrote it, or add the documents again"
                )
            near._read(archive, fingerprint(ours), path)
        return near

    @classmethod
    def _of_head(cls, archive: Archive, path: str | os.PathLike[str]) -> "NearDuplicates":
        head = archive.head
        try:
            if head["kind"] != _KIND or not isinstance(head["scheme"], dict):
                raise ValueError(head["kind"])
            int(head["next_offset"]), int(head["newest_ms"])
            settings = {**head["settings"]}
            return cls(**settings | {"guards": Guards(**settings.get("guards", {}))})
        except (KeyError, TypeError, ValueError, ConfigError) as error:
            raise DamagedBytes(
                f"{os.fspath(path)}: its head does not describe near-duplicates ({error}): another program wrote it, "
                "or it was altered; restore it from a copy, or add the documents again"
            ) from None

    def _read(self, archive: Archive, scheme: int, path: str | os.PathLike[str]) -> None:
        """The ledger comes first, in one record or in parts; then the documents."""
        records = archive.records
        assembler, ledger = LedgerAssembler(scheme), None
        for message in records:
            ledger = assembler.add(message)
            if ledger is not None:
                break
        if ledger is None:
            raise DamagedBytes(f"{os.fspath(path)}: has no ledger; restore it from a copy, or add the documents again")
        documents: Iterator[DocumentsRecord] = (decode_documents(message, scheme) for message in records)
        progress = (int(archive.head["next_offset"]), int(archive.head["newest_ms"]))
        self._pipeline.restore(documents, ledger, progress)


def _records(state: LocalState, scheme: int) -> Iterator[bytes]:
    yield from encode_ledger(state.ledger, scheme, _RECORD_BYTES)
    for record in cut_documents(state.documents, _RECORD_BYTES):
        yield encode(record, scheme)


def _match(pair: PairState | MatchChange) -> Match:
    if pair.similarity is None:
        raise InvariantError("a pair that was withdrawn is no match")
    times = (pair.left_time_ms, pair.right_time_ms)
    sizes = (pair.left_shingles, pair.right_shingles)
    return Match(pair.left, pair.right, pair.similarity, pair.shared, pair.union, *times, *sizes)
