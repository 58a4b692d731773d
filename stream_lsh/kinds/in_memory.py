"""The base class of the library: a pipeline in memory, for one process.

Subclasses define the item type and the result type.  This class adds, removes and groups items by id, and saves all of
them to one file.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, ClassVar, Self

import numpy as np

from stream_lsh.errors import ConfigError, DamagedBytes, FingerprintMismatch, InvariantError
from stream_lsh.kinds.in_frames import InFrames, attributes_of
from stream_lsh.kinds.in_notebooks import Distribution, overview
from stream_lsh.ledger.changes import MatchChange, PairState
from stream_lsh.ledger.clusters.guards.choice import Guards
from stream_lsh.ledger.edges import Edges
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import Cluster, Document, Match, Similar
from stream_lsh.pipeline.agents.state import StepCounts
from stream_lsh.pipeline.changelog.records import DocumentsRecord
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.local import BATCH, LocalPipeline, LocalState
from stream_lsh.pipeline.scheme import Scheme
from stream_lsh.settings.units import counted
from stream_lsh.text.catalog import as_stored
from stream_lsh.wire.archive import Archive, of_file, read_archive, write_archive
from stream_lsh.wire.fingerprint import differences, fingerprint
from stream_lsh.wire.frames import decode_documents, encode
from stream_lsh.wire.ledger_parts import LedgerAssembler, encode_ledger
from stream_lsh.wire.split import cut_documents

_RECORD_BYTES = 1 << 20
_NOT_SAVED = ("stories", "describer", "free_candidates", "free_pairs")
"""The limits that the head of a saved file does not contain."""
_REMOVED = 1024
"""The least number of removals before a compaction."""


class InMemory(InFrames):
    """Stores items in memory and finds the matches among them.

    Args:
        scheme: the scheme of the items.
        threshold: least similarity of a match.
        limits: retention, caps and guards.
        settings: the arguments of the class, by name, with guards as their settings; `load` constructs it from them.
    """

    _KIND: ClassVar[str]
    """The content type in the head of a saved file."""

    def __init__(self, scheme: Scheme, threshold: float, limits: Limits, settings: Mapping[str, Any]) -> None:
        self._scheme, self._threshold, self._limits, self._settings = scheme, threshold, limits, settings
        self._pipeline = self._new_pipeline()
        self._removed = 0

    def _new_pipeline(self) -> LocalPipeline:
        return LocalPipeline(self._scheme, self._threshold, self._limits)

    @property
    def pipeline(self) -> LocalPipeline:
        """The pipeline, for a caller that drives it without removals."""
        return self._pipeline

    @property
    def settings(self) -> Mapping[str, Any]:
        """The arguments of the class that a saved file contains, by name."""
        return self._settings

    @property
    def _ledger(self) -> Ledger:
        return self._pipeline.settler.ledger

    # -- changing

    def remove(self, id: str) -> bool:
        """Remove the item with this id, its matches and its membership; returns whether it existed."""
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

    def _process_many(self, documents: Sequence[Document]) -> list[MatchChange]:
        """The final state of each pair that is new or changed; withdrawn pairs are omitted."""
        changes: dict[tuple[str, str], MatchChange] = {}
        for start in range(0, len(documents), BATCH):
            for change in self._process([*documents[start : start + BATCH]]):
                changes.pop((change.left, change.right), None)
                if change.similarity is not None:
                    changes[change.left, change.right] = change
        return list(changes.values())

    def _compact(self) -> None:
        """Drop the tombstones of removed items: they serve late messages, which do not occur in memory."""
        state = self._pipeline.snapshot()
        counts, self._pipeline = self._pipeline.counts, self._new_pipeline()
        self._pipeline.counts = counts
        self._pipeline.restore([state.documents], state.ledger, (state.next_offset, state.newest_ms))
        self._removed = 0

    # -- asking

    def clusters(self) -> list[Cluster]:
        """All clusters, subject to the guards; ascending by their ids."""
        live = self._ledger.ids.live
        return [self._cluster(id) for id in sorted(live) if len(live[id]) >= self._least_size]

    def cluster_of(self, id: str) -> Cluster | None:
        """The cluster of this id; None if it has no match."""
        cluster = self._ledger.cluster_of(id)
        small = cluster is None or len(self._ledger.ids.live[cluster]) < self._least_size
        return None if small or cluster is None else self._cluster(cluster)

    @property
    def _least_size(self) -> int:
        """The least size of a public cluster: an item with pairs to review only is a cluster of one in the ledger."""
        return 2 if self._limits.link_from else 1

    def _cluster(self, id: str) -> Cluster:
        return Cluster(id, tuple(reversed(self._ledger.members(id))))

    def __len__(self) -> int:
        """The number of items."""
        return len(self._pipeline.documents)

    def __contains__(self, id: object) -> bool:
        version = self._pipeline.documents.version(id) if isinstance(id, str) else None
        return version is not None and version.live

    @property
    def counts(self) -> StepCounts:
        """The counters since this object was constructed, those of the caps included."""
        return self._pipeline.counts

    @property
    def capped(self) -> int:
        """The number of pairs that share a bucket and were not compared because of a cap.

        It is an estimate if counting them would take too long.
        """
        return self._pipeline.counts.capped_candidates

    # -- showing

    def __repr__(self) -> str:
        clusters = sum(len(members) >= self._least_size for members in self._ledger.ids.live.values())
        found = counted(len(self._ledger.graph.pairs), "pair"), counted(clusters, "cluster")
        return f"<{type(self).__name__}: {', '.join((counted(len(self), 'item'), *found))}>"

    def _repr_html_(self) -> str:
        """Counts, distribution of the pairs and largest clusters, for notebooks."""
        return "".join(overview(repr(self)[1:-1], self._distribution(), self.clusters()))

    def _distribution(self) -> Distribution:
        """The similarities of all pairs."""
        pairs = self._ledger.graph.pairs
        values = np.array(pairs.similarity)[pairs.numbers()]
        return Distribution("similarity", values, {self._threshold: f"threshold {self._threshold:g}"})

    # -- keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all items to one file, atomically: after a failure the previous file is intact.

        Cost:
            some 20 us for a text of 3 KB; a copy of the columns in memory.

        Raises:
            OSError: the file cannot be written.

        Example:
            >>> import tempfile
            >>> from stream_lsh import NearDuplicates
            >>> near = NearDuplicates()
            >>> found = near.add_many([("a", "to be or not to be"), ("b", "to be or not to be")])
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     near.save(f"{folder}/near.slsh")
            ...     again = NearDuplicates.load(f"{folder}/near.slsh")
            >>> again.matches() == near.matches(), again.query("to be or not to be")[0].similarity
            (True, 1.0)
        """
        state = self._pipeline.snapshot()
        settings, limits = self._scheme.settings, asdict(replace(self._limits, describer=None))
        head = {
            "kind": self._KIND,
            "settings": self._settings,
            "limits": {name: value for name, value in limits.items() if name not in _NOT_SAVED},
            "scheme": settings,
            "next_offset": state.next_offset,
            "newest_ms": state.newest_ms,
        }
        write_archive(path, head, _records(state, fingerprint(settings)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a saved file; the index is rebuilt.

        Raises:
            DamagedBytes: truncated, altered, or not a file of this class -> restore it, or add all items again.
            FutureFormat: written by a newer version -> use that version.
            FingerprintMismatch: this version, or this Python's Unicode tables, would compute other signatures -> use
                the versions that wrote the file, or add all items again.
            OSError: the file cannot be read.
        """
        with open(path, "rb") as file:
            archive = read_archive(file, path)
            made = cls._of_head(archive, path)
            ours = made._scheme.settings
            theirs = archive.head["scheme"]
            if ours != theirs:
                raise FingerprintMismatch(
                    f"{os.fspath(path)}: was written under another scheme ({'; '.join(differences(ours, theirs))}): "
                    "use the versions of stream_lsh and Python that wrote it, or add the documents again"
                )
            try:
                made._read(archive, fingerprint(ours), path)
            except DamagedBytes as error:
                raise of_file(error, path) from None
        return made

    @classmethod
    def _of_head(cls, archive: Archive, path: str | os.PathLike[str]) -> Self:
        head = archive.head
        try:
            if head["kind"] != cls._KIND or not isinstance(head["scheme"], dict):
                raise ValueError(head["kind"])
            int(head["next_offset"]), int(head["newest_ms"])
            return cls(**cls._arguments(_as_stored(head["settings"], head["scheme"])))
        except (KeyError, TypeError, ValueError, ConfigError) as error:
            raise DamagedBytes(
                f"{os.fspath(path)}: its head does not describe {cls._KIND} ({error}): another program wrote it, "
                "or it was altered; restore it from a copy, or add the documents again"
            ) from None

    @classmethod
    def _arguments(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the class, from the settings in a file."""
        return {**settings, "guards": Guards(**settings.get("guards", {}))}

    def _read(self, archive: Archive, scheme: int, path: str | os.PathLike[str]) -> None:
        """Restore the ledger, which is first, in one record or in parts, and then the documents."""
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


def _as_stored(settings: Mapping[str, Any], scheme: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings in a file; its shingles may be an earlier version of those that have this name now."""
    name = settings.get("shingles")
    return {**settings, "shingles": as_stored(name, scheme)} if isinstance(name, str) else settings


def _records(state: LocalState, scheme: int) -> Iterator[bytes]:
    yield from encode_ledger(state.ledger, scheme, _RECORD_BYTES)
    for record in cut_documents(state.documents, _RECORD_BYTES):
        yield encode(record, scheme)


def check_limits(
    threshold: float, guards: Guards, retention_ms: int | None, max_candidates: int | None, others: Iterable[str] = ()
) -> None:
    """Check the limits of work and clusters; `others` are problems found elsewhere, to report together with these.

    Raises:
        ConfigError: all problems at once.
    """
    problems = [f"guards.{name}: {problem}" for name, problem in guards.problems(threshold)]
    if retention_ms is not None and not (isinstance(retention_ms, int | np.integer) and retention_ms > 0):
        problems.append(f"retention_ms: got {retention_ms!r:.60}, expected a positive whole number or None")
    if max_candidates is not None and max_candidates < 0:
        problems.append(f"max_candidates: got {max_candidates}, expected 0 (no caps) or more")
    problems += others
    if problems:
        raise ConfigError(problems)


def cap_settings(max_candidates: int | None) -> dict[str, int]:
    """The cap as a setting of a saved file, which does not contain the default."""
    return {} if max_candidates is None else {"max_candidates": max_candidates}


MATCH_TYPES: dict[str, type] = {
    "left": str,
    "right": str,
    "similarity": float,
    "shared": int,
    "union": int,
    "left_time_ms": int,
    "right_time_ms": int,
}
"""The columns of matches in a frame."""


def match_columns(matches: Iterable[Match]) -> tuple[dict[str, list[Any]], dict[str, type]]:
    """The columns of matches in a frame, and their types."""
    return attributes_of(matches, MATCH_TYPES), MATCH_TYPES


def match_of(pair: PairState | MatchChange) -> Match:
    """A pair of the ledger, or a change of one, as a match."""
    if pair.similarity is None:
        raise InvariantError("got a withdrawn pair, expected a match")
    times = (pair.left_time_ms, pair.right_time_ms)
    sizes = (pair.left_shingles, pair.right_shingles)
    return Match(pair.left, pair.right, pair.similarity, pair.shared, pair.union, *times, *sizes)


def similar_of(edges: Edges | None) -> list[Similar]:
    """The results of a query, the most similar first."""
    if edges is None:
        return []
    columns = (edges.similarity.tolist(), edges.shared.tolist(), edges.union.tolist())
    similar = map(Similar, edges.right.ids, *columns)
    return sorted(similar, key=lambda hit: (-hit.similarity, hit.id))
