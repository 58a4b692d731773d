"""The configuration as values: what the keys are, what they mean, and what follows from them.

Each field's metadata says what the key may be and what it means; reader, documentation and `settings_shown` follow it.
What `load` and `parse` return has been checked as a whole; what is made by hand has not.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stream_lsh.config import kinds
from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.config.keys import key, table
from stream_lsh.config.kinds import choice, size, span, whole
from stream_lsh.config.topics import TopicNames, TopicsConfig
from stream_lsh.ledger.guards.choice import NO_GUARDS, Guards
from stream_lsh.measure.catalog import JACCARD, MEASURES, Measure
from stream_lsh.measure.containment import SIZE_RATIO, Containment
from stream_lsh.model import Document
from stream_lsh.pipeline.local import Limits
from stream_lsh.pipeline.scheme import Scheme, TextScheme
from stream_lsh.presets import DAY_MS
from stream_lsh.records.reading import Reader
from stream_lsh.wire.cut import FRAME_BYTES
from stream_lsh.wire.golden import limits_of_records
from stream_lsh.wire.message import MAX_AHEAD_MS, MAX_DOCUMENT_BYTES
from stream_lsh.wire.record import parse_record
from stream_lsh.wire.results import Results, TextResults
from stream_lsh.wire.source import FieldNames, parse_document

DEFAULT_APP_ID = "stream-lsh"
FRAME_ROOM = 65_536
"""Bytes that a document's message may be longer than the document."""

KINDS = ("text", "record")
PLANNED_KINDS = ("set", "vector")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """The process, and the application that all workers with the same `app_id` are."""

    app_id: str = field(
        default=DEFAULT_APP_ID,
        metadata=key(kinds.TOPIC, "the application: its consumer group, and the prefix of its internal topics"),
    )
    data_dir: Path | None = field(
        default=Path("state"),
        metadata=key(kinds.FOLDER, "where a copy of the state is kept on disk; without, all of it is in memory"),
    )
    standbys: int = field(
        default=0,
        metadata=key(
            whole(0, 100),
            "other workers that follow each partition and take it over without reading its state; all, if there are "
            "fewer",
        ),
    )
    web: str = field(
        default="127.0.0.1:6066", metadata=key(kinds.WEB, "where metrics and health are served; there is no password")
    )
    session_timeout_ms: int = field(
        default=6_000,
        metadata=key(
            span(least="1s"),
            "how long a worker may be silent until others take over; brokers refuse less than their "
            "`group.min.session.timeout.ms`, 6s",
            "session_timeout",
        ),
    )
    commit_interval_ms: int = field(
        default=500,
        metadata=key(span(least="50ms"), "how often offsets are committed: what a crash may repeat", "commit_interval"),
    )

    @property
    def web_address(self) -> tuple[str, int] | None:
        """Host and port; None where nothing is served."""
        host, _, port = self.web.rpartition(":")
        return (host.strip("[]"), int(port)) if self.web else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineConfig(TopicNames):
    """One source, what counts as a match in it, and how long.

    Attributes:
        sources: the users' topics; one, or several that are rekeyed.
        app_id: the worker's; no key of the pipeline.
        known: reads records as the profile says, in a pipeline of them; no key.
    """

    name: str = field(default="documents", metadata=key(kinds.TOPIC, "the pipeline, and the prefix of its topics"))
    preset: str = field(
        default="none",
        metadata=key(kinds.PRESET, "defaults that go together, for articles or for pages; what is set beside it holds"),
    )
    kind: str = field(default="text", metadata=key(choice(KINDS, PLANNED_KINDS), "what is compared"))
    profile: str = field(
        default="",
        metadata=key(
            kinds.ANY_TEXT,
            'with `kind = "record"`, what is known of the records: people, companies, products, bibliography, or the '
            "path of a profile",
        ),
    )
    sources: tuple[str, ...] = field(metadata=key(kinds.TOPICS, "the topic with the documents", "source"))
    partitions: int = field(
        default=4,
        metadata=key(
            whole(1, 10_000),
            "of the source where it has to be created, and otherwise its own number holds; with `rekey`, of the copy",
        ),
    )
    shingles: str = field(
        default="word:3",
        metadata=key(
            kinds.SHINGLES,
            "what is compared of a text: runs of k characters or words; or stop words, with the two words after each",
        ),
    )
    threshold: float = field(default=0.8, metadata=key(kinds.SHARE, "the least similarity of a match"))
    measure: str = field(
        default=JACCARD.name,
        metadata=key(
            choice(MEASURES),
            "of similarity: shared shingles over those of both texts, or over those of the shorter one",
        ),
    )
    size_ratio: float = field(
        default=SIZE_RATIO,
        metadata=key(
            kinds.SIZE_RATIO, "only with `containment`: how many times as many shingles the longer text has at most"
        ),
    )
    recall: float = field(
        default=0.99,
        metadata=key(kinds.SHARE, "the probability that a pair at the threshold is found; above it, it is greater"),
    )
    slots: int = field(
        default=128, metadata=key(whole(1, 65_536), "the length of a signature: 4 bytes each, in every document kept")
    )
    normalise: tuple[str, ...] = field(
        default=("nfc",), metadata=key(kinds.NORMAL_FORMS, "the forms that a text is brought into first, in order")
    )
    seed: int = field(default=1, metadata=key(whole(0, (1 << 32) - 1), "chooses all hash functions"))
    html: str = field(
        default="off",
        metadata=key(
            choice(("off", "main", "page")),
            "texts are HTML: what is compared is the article (`main`), or all that a reader sees of the page (`page`)",
        ),
    )
    min_characters: int = field(
        default=0, metadata=key(whole(0), "a shorter text has no shingles, and so matches nothing")
    )
    retention_ms: int | None = field(
        default=3 * DAY_MS,
        metadata=key(
            span(endless=True),
            "how far apart in event time two documents may be to match, and how long each is kept",
            "retention",
        ),
    )
    lateness_ms: int = field(
        default=3_600_000,
        metadata=key(span(), "how much longer state is kept for documents that come late", "lateness"),
    )
    max_documents: int = field(
        default=0,
        metadata=key(whole(0, (1 << 48) - 1), "the newest documents that are kept, whatever the retention; 0: all"),
    )
    max_candidates: int = field(
        default=200,
        metadata=key(whole(0), "documents that one is compared with; 0: no caps, that of a bucket neither"),
    )
    max_document_bytes: int = field(
        default=MAX_DOCUMENT_BYTES,
        metadata=key(size(1, (1 << 30) - FRAME_ROOM), "larger messages are dead-lettered"),
    )
    max_ahead_ms: int | None = field(
        default=MAX_AHEAD_MS,
        metadata=key(
            span(endless=True),
            "documents whose time is further ahead of their message's timestamp are dead-lettered",
            "max_ahead",
        ),
    )
    on_bug: str = field(
        default="halt",
        metadata=key(
            choice(("halt", "dead-letter")),
            "what an unexpected error does after the batch was tried again one by one",
        ),
    )
    rekey: bool = field(
        default=False,
        metadata=key(
            kinds.FLAG, "copy the sources to one topic keyed by id first: they are several, or not keyed by it"
        ),
    )
    stories: bool = field(
        default=False,
        metadata=key(
            kinds.FLAG, "clusters tell headline, outlets and who was first: `title`, `source`, `url` are read"
        ),
    )
    mirror_share: float = field(
        default=0.0,
        metadata=key(
            kinds.LEAST_SHARE,
            "sites of which at least this share of pages is in another one are told; 0: none; needs `stories`",
        ),
    )
    fields: FieldNames = field(
        default=FieldNames(), metadata=table(FieldNames, "what the source calls the fields of a document")
    )
    guards: Guards = field(
        default=NO_GUARDS, metadata=table(Guards, "what holds a cluster together besides its pairs; default: nothing")
    )
    topics: TopicsConfig = field(default=TopicsConfig(), metadata=table(TopicsConfig, "the names of the public topics"))
    app_id: str = DEFAULT_APP_ID
    known: Reader | None = field(default=None, compare=False, repr=False)

    def scheme(self) -> Scheme:
        """What makes signatures and buckets and compares; raises ConfigError where the settings do not fit."""
        if self.known is None:
            return self.text_scheme()
        from stream_lsh.pipeline.record_scheme import RecordScheme  # noqa: PLC0415 - loads the libraries of comparators

        return RecordScheme(self.known.profile)

    def text_scheme(self) -> TextScheme:
        """The scheme of a pipeline of texts."""
        return TextScheme(
            self.threshold,
            self.shingles,
            recall=self.recall,
            slots=self.slots,
            normalise=self.normalise,
            seed=self.seed,
            measure=self.similarity,
            min_characters=self.min_characters,
        )

    def results(self) -> Results:
        """What makes messages of what was settled."""
        if self.known is None:
            return TextResults(self.name, self.measure, self.mirror_share)
        from stream_lsh.wire.public_records import RecordResults  # noqa: PLC0415 - as in `scheme`

        return RecordResults(self.name, self.known.profile)

    @property
    def least(self) -> float:
        """The least similarity of a pair that is kept: of records that of a review."""
        return self.threshold if self.known is None else self.known.profile.review

    @property
    def link_from(self) -> float | None:
        """The least similarity of a pair that connects, where not all do."""
        return None if self.known is None else self.known.profile.match

    @property
    def similarity(self) -> Measure:
        """The measure as the steps take it."""
        return Containment(self.size_ratio) if self.measure == Containment.name else JACCARD

    def document(self, value: bytes | None, key: bytes | None, timestamp_ms: int, *, keyed: bool = True) -> Document:
        """The document in a message of the source, as this pipeline reads it; see `parse_document`.

        Args:
            value: of the message.
            key: of the message.
            timestamp_ms: of the message, for a document without a time.
            keyed: whether the key has to be the id.

        Raises:
            InputError: the message cannot be used -> dead-letter it.
        """
        if self.known is not None:
            return parse_record(
                value,
                key,
                reader=self.known,
                fallback_time_ms=timestamp_ms,
                max_bytes=self.max_document_bytes,
                max_ahead_ms=self.max_ahead_ms,
                names=self.fields,
                keyed=keyed,
            ).document
        return parse_document(
            value,
            key,
            fallback_time_ms=timestamp_ms,
            max_bytes=self.max_document_bytes,
            max_ahead_ms=self.max_ahead_ms,
            names=self.fields,
            keyed=keyed,
            stories=self.stories,
            html=self.html,
        )

    def limits(self) -> Limits:
        """Retention, caps and guards, as the steps take them."""
        limits = Limits.of(
            self.max_candidates,
            self.retention_ms,
            self.guards,
            stories=self.stories,
            lateness_ms=self.lateness_ms,
            max_documents=self.max_documents,
        )
        return limits if self.known is None else limits_of_records(limits, self.known.profile)

    @property
    def source(self) -> str:
        """The first of the sources, and most often the only one: what `feed` sends to."""
        return self.sources[0]

    @property
    def public_retention_ms(self) -> int:
        """`retention.ms` of the public topics: -1 for ever."""
        if self.topics.keep_forever or self.retention_ms is None:
            return -1
        return self.retention_ms + DAY_MS

    @property
    def max_message_bytes(self) -> int:
        """`max.message.bytes` of the internal topics: room for the largest document, and for a frame of many."""
        return max(self.max_document_bytes, FRAME_BYTES) + FRAME_ROOM


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything.

    Attributes:
        origins: where each value comes from that is no default: the key as `settings_shown` has it, to `file:line` or
            the variable; no part of the value.
    """

    pipelines: tuple[PipelineConfig, ...]
    kafka: KafkaConfig = field(default=KafkaConfig())
    worker: WorkerConfig = WorkerConfig()
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
