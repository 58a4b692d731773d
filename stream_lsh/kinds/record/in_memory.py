"""Entity resolution in memory: the pipeline of the stream as a library, for one process.

It has the same core as the worker, so it finds the same matches and entities as on Kafka.  It adds one record at a time
or many.  It reads no clock: times are those of the records.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import numpy as np

from stream_lsh.errors import ConfigError, InvariantError, MalformedMessage, UnusableDocument
from stream_lsh.kinds.in_memory import InMemory, cap_settings
from stream_lsh.kinds.in_notebooks import Distribution
from stream_lsh.kinds.record.frequencies import RecordCounts
from stream_lsh.kinds.record.golden import entities_of, limits_of_records
from stream_lsh.kinds.record.in_frames import entity_columns, pair_columns, records_of
from stream_lsh.kinds.record.messages import record_document
from stream_lsh.kinds.record.profiles import find_profile
from stream_lsh.kinds.record.rows import RecordNames
from stream_lsh.ledger.changes import MatchChange, PairState
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS, Guards
from stream_lsh.ledger.decisions import DIFFERENT, SAME
from stream_lsh.ledger.graph.pairs import MATCH, REVIEW
from stream_lsh.model import About, Cluster, Document
from stream_lsh.pipeline.limits import Limits
from stream_lsh.records.evidence import Named
from stream_lsh.records.model import Entity, Record, RecordMatch, SimilarRecord, as_text, values_of
from stream_lsh.records.profile import Profile
from stream_lsh.records.reading import Reader, columns_of

if TYPE_CHECKING:
    from stream_lsh.records.explained import PairEvidence
    from stream_lsh.records.train.learning import Training


class RecordLinker(InMemory):
    """Stores records in memory and resolves them to entities.

    Args:
        profile: of the records, or its name: `people`, `companies`, `products`, `bibliography`, or a path.  A profile
            without trained weights scores by the weighted mean; `learned` trains one.
        max_candidates: the most candidates per record; 0 lifts all caps; None: no cap at first, and 200
            after 20 million candidates or while 4 million pairs are kept.
        guards: conditions on an entity besides its matches.

    Guarantees:
        matches and entities do not depend on the order in which records are added, replaced and removed, except through
        caps and through frequencies: `term_frequency`, `tfidf` and `qgram-cosine` weigh a value by its frequency so
        far, unless `count_first` has counted all values.  A score counts at least half of the records: it is computed
        again each time their number has doubled.
    Cost:
        some 150 us a person in batches of hundreds, 700 us alone; 2 to 3 KB each.

    Raises:
        ConfigError: no such profile, or an inconsistent one.

    Example:
        >>> linker = RecordLinker("people")
        >>> linker.add(Record("1", {"given_name": "Jane", "surname": "Doe", "dob": "1980-02-03", "city": "Leeds"}))
        []
        >>> (match,) = linker.add(Record("2", {"name": "Jane Doe", "date_of_birth": "1980-02-03", "town": "Leeds"}))
        >>> match.left, match.right, match.probability
        ('1', '2', 1.0)
        >>> linker.entities()[0].members, linker.entities()[0].golden["suburb"]
        (('2', '1'), 'Leeds')
        >>> linker.remove("1"), linker.entities()
        (True, [])
    """

    _KIND: ClassVar[str] = "records"

    def __init__(
        self, profile: Profile | str | PathLike[str], *, max_candidates: int | None = None, guards: Guards = NO_GUARDS
    ) -> None:
        self.profile = find_profile(profile)
        problems = [f"guards.{name}: {problem}" for name, problem in guards.problems(self.profile.match)]
        if max_candidates is not None and max_candidates < 0:
            problems.append(f"max_candidates: got {max_candidates}, expected 0 (no caps) or more")
        if problems:
            raise ConfigError(problems)
        self._entities = entities_of(self.profile)
        limits = limits_of_records(Limits.of(max_candidates, None, guards), self.profile, self._entities)
        from stream_lsh.kinds.record.scheme import RecordScheme  # noqa: PLC0415 - loads the extra `records`

        scheme = RecordScheme(self.profile)
        settings = {"profile": asdict(self.profile), **cap_settings(max_candidates), "guards": guards.settings()}
        super().__init__(scheme, self.profile.review, limits, settings)
        self._reader = Reader(self.profile)
        self._named = Named.of(self.profile, scheme.blocks)
        self._record_scheme = scheme

    @classmethod
    def learned(
        cls,
        profile: Profile | str | PathLike[str],
        records: Iterable[Record],
        *,
        max_candidates: int | None = None,
        guards: Guards = NO_GUARDS,
    ) -> "RecordLinker":
        """A linker with match weights trained on some records, without labels; the records are not added.

        Raises:
            InputError: fewer than two records, or an unreadable value.
        """
        return cls(learned_from(find_profile(profile), records), max_candidates=max_candidates, guards=guards)

    @classmethod
    def _arguments(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        try:
            profile = msgspec.convert(settings["profile"], Profile)
        except msgspec.ValidationError as error:
            raise ConfigError(f"profile: {error}") from None
        return super()._arguments(settings) | {"profile": profile}

    # -- changing

    def add(self, record: Record) -> list[RecordMatch]:
        """Add a record, or replace the one with its id; returns all its matches, the best first.

        Raises:
            MalformedMessage, UnusableDocument: an unusable id, time, source or value; nothing was changed.
        """
        self._process([self._document(record)])
        matches = map(self._match, self._on_topic(self._ledger.pairs_of(record.id), MATCH))
        return sorted(matches, key=lambda match: (-match.score, match.left, match.right))

    update = add

    def count_first(self, records: Iterable[Record]) -> None:
        """Count the values of all records before the first one is added; later records are not counted.

        The records are not added.  Their scores then do not depend on the order in which they are added.  `load` counts
        the stored records instead.

        Raises:
            ConfigError: the linker already has records.
        """
        if len(self):
            raise ConfigError(f"count_first: got a linker with {len(self)} records, expected one without records")
        from stream_lsh.records.score import Scorer  # noqa: PLC0415 - loads the extra `records`

        scorer = Scorer(self.profile)
        scorer.count(self._reader.values(_checked(record)) for record in records)
        self._record_scheme.counted = scorer
        self._pipeline = self._new_pipeline()

    def add_many(self, records: Iterable[Record]) -> list[RecordMatch]:
        """Add many records at once, which is several times as fast; returns the matches that are new or changed.

        Guarantees:
            the same result as adding them one by one, in their order, except for frequencies.
        """
        return [*map(self._match, self._process_many([self._document(record) for record in records]))]

    def add_frame(
        self, data: Any, *, id: str | None = None, source: str | None = None, time: str | None = None
    ) -> list[RecordMatch]:
        """Add the rows of a frame as records; returns the matches that are new or changed.

        Args:
            data: a frame of pandas, polars or pyarrow, a `datasets.Dataset` (extra `frames`), or an iterable of dicts.
            id: the column of the ids; None: the first of the profile's `id_columns` that the frame has.
            source: the column of the sources; None: likewise, of `source_columns`.  The id of a record with a source
                is `source/id`.
            time: the column of the event times; None: the column `time`, if there is one.

        Guarantees:
            the same result as `add_many`; missing values are no fields.

        Raises:
            ConfigError: a column does not exist.
            MalformedMessage, UnusableDocument: an unusable row; nothing was changed.

        Example:
            >>> linker = RecordLinker("people")
            >>> rows = [{"id": 1, "name": "Jane Doe", "dob": "1980-02-03"}, {"id": 2, "name": "Jane Doe", "dob": None}]
            >>> linker.add_frame(rows)[0].probability, linker.entities_frame()[0]["date_of_birth"]
            (1.0, '1980-02-03')
        """
        names = RecordNames.of(self.profile, id, source, time, timed=True)
        return self.add_many(records_of(self._table(data), names))

    def _document(self, record: Record) -> Document:
        return record_document(self._reader, _checked(record))

    def decide(self, one: str, other: str, same: bool | None) -> None:
        """Decide that two records are, or are not, one entity, whatever their score; None withdraws the decision.

        Two records with the decision "different" are never in the same entity, even if other records connect them.  A
        decision persists when the records change.  It applies to pairs that are scored as matches or reviews, and
        otherwise waits until the pair is scored so.

        Raises:
            ConfigError: another value of `same`; a text such as "different" would count as True.
            MalformedMessage: an id that is no string, such as the number in a column of ids.
            UnusableDocument: the same id twice.
        """
        if same not in (True, False, None):
            raise ConfigError(f"decide: got {same!a:.60}, expected True, False or None")
        for id in (one, other):
            if not isinstance(id, str):
                raise MalformedMessage("id", f"got the id {id!r:.60}, expected a string")
        if one == other:
            raise UnusableDocument("id", f"got the id {one!r:.60} twice, expected two records")
        self._pipeline.decide(one, other, None if same is None else SAME if same else DIFFERENT)

    # -- asking

    def search(self, fields: Mapping[str, object], source: str = "") -> list[SimilarRecord]:
        """The records that a record with these fields would match or be in review with, the best first.

        A search changes neither records nor counts.
        """
        values, _ = self._reader.read(_checked_fields(fields))
        edges = self._pipeline.similar(as_text(values, ""), about=About(source=source))
        if edges is None:
            return []
        similar = [
            SimilarRecord(id, probability, *self._named.read(evidence))
            for id, probability, evidence in zip(
                edges.right.ids, edges.similarity.tolist(), edges.evidence, strict=True
            )
        ]
        return sorted(similar, key=lambda hit: (-hit.score, hit.id))

    def explain(self, one: str, other: str) -> "PairEvidence":
        """Why two records match or do not: the match weight of each comparison, from the prior to the score.

        In a notebook the result is shown as a waterfall chart.

        Guarantees:
            the score is that of the match; values are weighed by their frequencies now.

        Raises:
            UnusableDocument: no such record.

        Example:
            >>> linker = RecordLinker("people")
            >>> rows = [{"id": 1, "name": "Jane Doe", "dob": "1980-02-03"}, {"id": 2, "name": "Jane Do", "dob": None}]
            >>> found = linker.add_frame(rows)
            >>> evidence = linker.explain("1", "2")
            >>> evidence.verdict.value, evidence.steps[0].field, evidence.steps[0].values
            ('match', 'given_name', ('jane', 'jane'))
        """
        from stream_lsh.records.explained import explain_pair  # noqa: PLC0415 - loads the extra `records`

        (left, left_about), (right, right_about) = map(self._content, (one, other))
        counts = self._pipeline.documents.counts
        if not isinstance(counts, RecordCounts):
            raise InvariantError("got a table of documents without record counts")
        fields = len(self.profile.fields)
        return explain_pair(
            (values_of(left, fields), values_of(right, fields)),
            self.profile,
            counts.scorer,
            raw_values=(json.loads(left_about.title or "{}"), json.loads(right_about.title or "{}")),
            sources=(left_about.source, right_about.source),
        )

    def record(self, id: str) -> Record:
        """The record with this id, with the fields of the profile.

        Raises:
            UnusableDocument: no such record.
        """
        (_, about), version = self._content(id), self._pipeline.documents.version(id)
        return Record(id, json.loads(about.title or "{}"), about.source, 0 if version is None else version.time_ms)

    def _content(self, id: str) -> tuple[str, About]:
        version = self._pipeline.documents.version(id) if id in self else None
        if version is None:
            raise UnusableDocument("id", f"got {id!r:.60}, expected the id of a record that was added")
        return self._pipeline.documents.content(version.row)

    def matches(self) -> list[RecordMatch]:
        """All matches, ascending by their ids; of a one-to-one profile those that its entities hold."""
        return [*map(self._match, self._on_topic(self._ledger.snapshot().pairs, MATCH))]

    def reviews(self) -> list[RecordMatch]:
        """All pairs to review, ascending by their ids.

        These are the pairs in the review band without a decision, and, of a one-to-one profile, the pairs above the
        threshold that lost to a better one.
        """
        return [*map(self._match, self._on_topic(self._ledger.snapshot().pairs, REVIEW))]

    def entities(self) -> list[Entity]:
        """All entities, ascending by their ids."""
        return [*map(self._entity, self.clusters())]

    def entity_of(self, id: str) -> Entity | None:
        """The entity of a record; None if it has no match."""
        cluster = self.cluster_of(id)
        return None if cluster is None else self._entity(cluster)

    def entities_frame(self, library: str | None = None) -> Any:
        """All entities as a frame: a row for each, with `entity`, `size` and the fields of the golden record, as texts.

        Args:
            library: as for `matches_frame`.

        Raises:
            ConfigError: as for `matches_frame`.
        """
        return self._frame(*entity_columns(self.entities(), self.profile), library)

    def _pair_columns(self) -> tuple[dict[str, list[Any]], dict[str, type]]:
        return pair_columns(self.matches())

    def _distribution(self) -> Distribution:
        marks = {self.profile.review: "review", self.profile.match: "match"}
        return (
            super()
            ._distribution()
            ._replace(name="probability", marks={at: f"{name} from {at:g}" for at, name in marks.items()})
        )

    def _on_topic(self, states: Iterable[PairState], topic: int) -> Iterator[PairState]:
        """The pairs that are matches, or reviews."""
        slots, pairs = self._ledger.graph.nodes.slots, self._ledger.graph.pairs
        return (state for state in states if pairs.topic(pairs.find(slots[state.left], slots[state.right])) == topic)

    def _match(self, pair: PairState | MatchChange) -> RecordMatch:
        return RecordMatch(pair.left, pair.right, pair.similarity or 0.0, *self._named.read(pair.evidence))

    def _entity(self, cluster: Cluster) -> Entity:
        summary = self._entities.summary(self._ledger.ids.live[cluster.id], self._ledger.graph.nodes)
        return Entity(cluster.id, cluster.members, json.loads(summary.golden))


def _checked(record: Record) -> Record:
    if not isinstance(record, Record) or record.fields is None:
        why = f"got {type(record).__name__} {record!r:.60}, expected a Record, such as Record(row.pop('id'), row)"
        raise MalformedMessage("record", f"{why}; remove(id) removes one")
    _checked_fields(record.fields)
    return record


def _checked_fields(fields: Mapping[str, object]) -> Mapping[str, object]:
    if not isinstance(fields, Mapping):  # a row of pandas would be read as one whose names are its values
        got = type(fields).__name__
        raise MalformedMessage("record", f"got fields of type {got}, expected a dict, such as row.to_dict()")
    return fields


def learned_from(profile: Profile, records: Iterable[Record], *, seed: int = 1) -> Profile:
    """The profile of `training_on`.

    Raises:
        InputError: fewer than two records, or an unreadable value.
    """
    return training_on(profile, records, seed=seed).profile


def training_on(profile: Profile, records: Iterable[Record], *, seed: int = 1) -> "Training":
    """The profile with match weights trained on some records, without labels, and the numbers behind them.

    Raises:
        InputError: fewer than two records, or an unreadable value.
    """
    from stream_lsh.records.block.blocker import blocker_of  # noqa: PLC0415 - loads the extra `records`
    from stream_lsh.records.train.learning import trained  # noqa: PLC0415

    reader, blocker, records = Reader(profile), blocker_of(profile), [*map(_checked, records)]
    values = [reader.values(record) for record in records]
    numbers = {source: number for number, source in enumerate(dict.fromkeys(record.source for record in records))}
    sources = np.array([numbers[record.source] for record in records])
    return trained(profile, columns_of(values), blocker.keys(values), blocker, sources, seed=seed)
