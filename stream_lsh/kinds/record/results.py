"""The public topics of a pipeline of records, where they differ from those of texts (`wire.public`).

    topic      key                     value (compact JSON, in this order)                             null value
    matches,   ["left","right"]        pipeline left right similarity measure score weights rules      withdrawn: header
    reviews    as compact JSON         left_time right_time confirmed_at                               `reason`
    members    the record's id         entity similarity? time                                         in none: header
                                                                                                       `reason`
    entities   the entity's id         entity event size members golden merged_from? split_from?       no more: header
                                       first_time last_time version members_omitted?                   `merged_into`, or
                                       golden_omitted? merged_from_omitted?                            closed: none

`similarity` is the probability of a match by the measure `fellegi-sunter`.  `score` is the corresponding evidence in
bits: the prior plus the `weights`, the match weight of each comparison for which both records have a value.  A profile
without trained weights has the measure `weighted`: similarity and score are the weighted mean, weights its terms.
`rules` are the blocks that contain both records, `members` objects of id and source, the newest first, at most 100, and
`golden` is the golden record: raw values, by the names of the profile's fields.

As with clusters, long lists are shortened.  A golden record has at most `GOLDEN_BYTES`: fields that exceed the limit,
in the order of the profile, are omitted, and `golden_omitted` is their number.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from stream_lsh.kinds.record.messages import MAX_RECORD_BYTES
from stream_lsh.kinds.results import TopicMessages
from stream_lsh.ledger.changes import ClusterChange, EntitySummary, MatchChange, Settled
from stream_lsh.model import About
from stream_lsh.records.block.blocker import blocker_of
from stream_lsh.records.evidence import Named
from stream_lsh.records.model import RecordMatch
from stream_lsh.records.profile import Profile
from stream_lsh.wire.public import PairValue, PublicMessage, as_json, cluster_messages, member_messages, pair_messages

LEARNED, FALLBACK = "fellegi-sunter", "weighted"
GOLDEN_BYTES = MAX_RECORD_BYTES
"""The limit of a golden record; that of a single record always fits."""


def measure_of(profile: Profile) -> str:
    """The measure of the pairs of a profile."""
    return LEARNED if profile.learned else FALLBACK


class _Pair(PairValue, gc=False):
    score: float
    weights: Mapping[str, float]
    rules: tuple[str, ...]
    left_time: int
    right_time: int
    confirmed_at: int


class _Member(msgspec.Struct, gc=False):
    entity: str
    similarity: float | msgspec.UnsetType
    time: int


class _Of(msgspec.Struct, gc=False):
    id: str
    source: str


class _Entity(msgspec.Struct, gc=False):
    entity: str
    event: str
    size: int
    members: list[_Of]
    golden: dict[str, Any]
    merged_from: tuple[str, ...] | msgspec.UnsetType
    split_from: str | msgspec.UnsetType
    first_time: int
    last_time: int
    version: int
    members_omitted: int | msgspec.UnsetType = msgspec.UNSET
    golden_omitted: int | msgspec.UnsetType = msgspec.UNSET
    merged_from_omitted: int | msgspec.UnsetType = msgspec.UNSET


class PairWriter:
    """Encodes the messages of `matches` and `reviews`.

    Args:
        pipeline: its name.
        profile: of the records.
        blocks: the names of the blocks (`Blocker.names`).
    """

    def __init__(self, pipeline: str, profile: Profile, blocks: Sequence[str]) -> None:
        self._pipeline = pipeline
        self._measure = measure_of(profile)
        self._named = Named.of(profile, blocks)

    def messages(self, changes: Sequence[MatchChange], confirmed_at_ms: int) -> list[PublicMessage]:
        """The messages for changed pairs, published or withdrawn."""
        return pair_messages(changes, lambda change: self.value(change, confirmed_at_ms))

    def value(self, change: MatchChange, confirmed_at_ms: int) -> msgspec.Struct:
        """The message of a published pair."""
        evidence = self._named.read(change.evidence)
        match = RecordMatch(change.left, change.right, change.similarity or 0.0, *evidence)
        return self.message(match, change.left_time_ms, change.right_time_ms, confirmed_at_ms)

    def message(
        self, match: RecordMatch, left_time_ms: int, right_time_ms: int, confirmed_at_ms: int
    ) -> msgspec.Struct:
        """The message of a pair with decoded evidence."""
        return _Pair(
            self._pipeline,
            match.left,
            match.right,
            match.probability,
            self._measure,
            match.score,
            match.weights,
            match.rules,
            left_time_ms,
            right_time_ms,
            confirmed_at_ms,
        )


def entity_messages(changes: Sequence[ClusterChange], version: int) -> list[PublicMessage]:
    """The messages of the topic `entities` for changed entities, live or closed.

    Example:
        >>> entity_messages([ClusterChange("a", merged_into="z")], 7)
        [(b'a', None, [('merged_into', b'z')])]
    """
    return cluster_messages(changes, version, _entity)


def _entity(row: tuple[Any, ...], version: int) -> _Entity:
    """The message of an entity, with its golden record shortened to the limit."""
    id, event, size, _, _, merged, split, first_ms, last_ms, _, golden_values = row
    summary = golden_values if isinstance(golden_values, EntitySummary) else EntitySummary((), "{}")
    golden = json.loads(summary.golden)
    kept = _within(golden, GOLDEN_BYTES) if len(summary.golden) > GOLDEN_BYTES // 4 else golden
    return _Entity(
        id,
        event,
        size,
        [_Of(*member) for member in summary.members],
        kept,
        merged or msgspec.UNSET,
        msgspec.UNSET if split is None else split,
        first_ms,
        last_ms,
        version,
        golden_omitted=len(golden) - len(kept) or msgspec.UNSET,
    )


def _within(golden: dict[str, Any], room: int) -> dict[str, Any]:
    """The fields that fit in `room` bytes, in order; a field that exceeds the rest of the room is omitted."""
    kept: dict[str, Any] = {}
    size = 1
    for name, value in golden.items():
        more = len(as_json({name: value})) - 1  # without braces, and with a comma
        if size + more <= room:
            kept[name] = value
            size += more
    return kept


class RecordResults:
    """The results of records: matches, reviews, each record's entity, entities.

    Args:
        pipeline: its name.
        profile: of the records.
    """

    def __init__(self, pipeline: str, profile: Profile) -> None:
        self._pairs = PairWriter(pipeline, profile, blocker_of(profile).names)

    def messages(self, settled: Settled, confirmed_at_ms: int, version: int) -> TopicMessages:
        """The messages of one settled frame."""
        yield "matches", self._pairs.messages(settled.matches, confirmed_at_ms)
        yield "reviews", self._pairs.messages(settled.reviews, confirmed_at_ms)
        yield "members", member_messages(settled.members, _Member)
        yield "entities", entity_messages(settled.clusters, version)

    def metadata(self, about: About) -> dict[str, Any]:
        """The source, and the fields of the record."""
        source = {"source": about.source} if about.source else {}
        return source | {"fields": json.loads(about.title) if about.title else {}}
