"""The configuration as values: the keys, their meaning, and derived values.

The metadata of each field defines the type and the meaning of its key; the reader, the documentation and
`settings_shown` use it.  A configuration returned by `load` or `parse` has been checked as a whole; one that a program
constructs has not.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.config.message_sizes import FRAME_ROOM, max_message_bytes
from stream_lsh.config.topics import TopicNames, TopicsConfig
from stream_lsh.config.worker import DEFAULT_APP_ID, WorkerConfig
from stream_lsh.kinds.kind import Kind
from stream_lsh.kinds.registry import KINDS, kind_class
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.kinds.text.presets import DAY_MS
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS, Guards
from stream_lsh.model import MAX_OFFSET, Document
from stream_lsh.pipeline.limits import Limits
from stream_lsh.settings import value_types
from stream_lsh.settings.schema import key, table
from stream_lsh.settings.value_types import choice, size, span, whole
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.message import AUTO, FIRST_SURE_MS, MAX_AHEAD_MS, MAX_DOCUMENT_BYTES, TIME_UNITS, ParseRules

MOST_PARTITIONS = 10_000


def _converted(name: object) -> Kind:
    return kind_class(choice(tuple(KINDS)).convert(name))()


def _shown(kind: Kind) -> str:
    return f'"{kind.name}"'


KIND = value_types.ValueType(choice(tuple(KINDS)).expected, _converted, shown=_shown)
"""The name of a kind of data, which becomes that kind with its defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineConfig(TopicNames):
    """A source with its definition of a match and its retention.

    Attributes:
        sources: the users' topics; one, or several that are rekeyed.
        kind: the kind of data, with the settings that only it has.
        app_id: the worker's; no key of the pipeline.
        parse_rules: what parsing a message needs of the other settings, for a source keyed by id.
    """

    name: str = field(
        default="documents", metadata=key(value_types.TOPIC, "the pipeline, and the prefix of its topics")
    )
    kind: Kind = field(
        default=TextKind(),
        metadata=key(KIND, "the kind of data: texts, records, sets or vectors"),
    )
    sources: tuple[str, ...] = field(metadata=key(value_types.TOPICS, "the topic with the documents", "source"))
    partitions: int = field(
        default=4,
        metadata=key(
            whole(1, MOST_PARTITIONS),
            "the partitions of the source, if the worker creates it; with `rekey`, those of the copy",
        ),
    )
    retention_ms: int | None = field(
        default=3 * DAY_MS,
        metadata=key(
            span(endless=True),
            "the maximum distance in event time of two matching documents; older documents expire",
            "retention",
        ),
    )
    lateness_ms: int = field(
        default=3_600_000,
        metadata=key(span(), "the additional time for which state is kept, for late documents", "lateness"),
    )
    max_documents: int = field(
        default=0,
        metadata=key(
            whole(0, MAX_OFFSET),
            "the maximum number of documents kept for each partition of the source: the newest ones, regardless of "
            "the retention; 0: all",
        ),
    )
    max_candidates: int = field(
        default=1_000,
        metadata=key(
            whole(0),
            "the maximum number of documents that a document is compared with, for each partition of the source: the "
            "newest of each bucket; 0: no limit",
        ),
    )
    max_document_bytes: int = field(
        default=MAX_DOCUMENT_BYTES,
        metadata=key(size(1, (1 << 30) - FRAME_ROOM), "larger messages are rejected"),
    )
    max_ahead_ms: int | None = field(
        default=MAX_AHEAD_MS,
        metadata=key(
            span(endless=True),
            "documents whose time is further ahead of their message's timestamp or of the worker's clock are "
            "rejected, and so are messages whose timestamp is further ahead of that clock",
            "max_ahead",
        ),
    )
    time_unit: str = field(
        default=AUTO,
        metadata=key(
            choice(TIME_UNITS),
            "the unit of times that are numbers since 1970; `auto`: the unit that puts them between 1973 and 5138",
        ),
    )
    on_bug: str = field(
        default="dead-letter",
        metadata=key(
            choice(("halt", "dead-letter")),
            "the reaction to an unexpected exception while a message is parsed or signed: halt the worker, or send the "
            "message to the dead letters and continue",
        ),
    )
    rekey: bool = field(
        default=False,
        metadata=key(
            value_types.FLAG, "first copy the sources to one topic keyed by id; for several sources, and for other keys"
        ),
    )
    fields: FieldNames = field(
        default=FieldNames(), metadata=table(FieldNames, "the names of the fields of a document in the source")
    )
    guards: Guards = field(default=NO_GUARDS, metadata=table(Guards, "the guards of clusters; default: none"))
    topics: TopicsConfig = field(default=TopicsConfig(), metadata=table(TopicsConfig, "the names of the public topics"))
    app_id: str = DEFAULT_APP_ID
    parse_rules: ParseRules = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rules = ParseRules(
            max_bytes=self.max_document_bytes,
            max_ahead_ms=self.max_ahead_ms,
            time_unit=self.time_unit,
            names=self.fields,
        )
        object.__setattr__(self, "parse_rules", rules)

    def document(
        self,
        value: bytes | None,
        key: bytes | None,
        timestamp_ms: int,
        *,
        now_ms: int | None = None,
        keyed: bool = True,
    ) -> Document:
        """The document in a message of the source, as this pipeline reads it; see `parse_document`.

        Args:
            value: of the message.
            key: of the message.
            timestamp_ms: of the message, for a document without a time; before 1973 there is none.
            now_ms: the clock; a message from further in its future than `max_ahead` cannot be used.
            keyed: whether the key has to be the id.

        Raises:
            InputError: the message cannot be used -> dead-letter it.
        """
        rules = self.parse_rules if keyed else replace(self.parse_rules, keyed=False)
        return self.kind.parse(value, key, rules, timestamp_ms if timestamp_ms >= FIRST_SURE_MS else None, now_ms)

    def limits(self) -> Limits:
        """Retention, caps and guards, as the steps take them."""
        limits = Limits.of(
            self.max_candidates,
            self.retention_ms,
            self.guards,
            lateness_ms=self.lateness_ms,
            max_documents=self.max_documents,
        )
        return self.kind.limits(limits)

    @property
    def source(self) -> str:
        """The first of the sources, and most often the only one: what `feed` sends to."""
        return self.sources[0]

    @property
    def live_ms(self) -> int | None:
        """The lifetime of a document in event time; None without a retention."""
        return None if self.retention_ms is None else self.retention_ms + self.lateness_ms

    @property
    def public_retention_ms(self) -> int:
        """`retention.ms` with which the public topics are created: -1 for ever."""
        return -1 if self.topics.keep_forever or self.live_ms is None else self.live_ms + DAY_MS

    @property
    def max_message_bytes(self) -> int:
        """`max.message.bytes` of the internal topics."""
        return max_message_bytes(self.kind.stored_size(), self.max_document_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The whole configuration.

    Attributes:
        origins: where each value comes from that is no default: the key as `settings_shown` has it, to `file:line` or
            the variable; no part of the value.
    """

    pipelines: tuple[PipelineConfig, ...]
    kafka: KafkaConfig = field(default=KafkaConfig())
    worker: WorkerConfig = field(default=WorkerConfig())
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
