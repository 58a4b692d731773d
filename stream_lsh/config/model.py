"""The configuration as values: what the keys are, what they mean, and what follows from them.

Each field's metadata says what the key may be and what it means; reader, documentation and `settings_shown` follow it.
What `load` and `parse` return has been checked as a whole; what is made by hand has not.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stream_lsh.config.grid import GridConfig
from stream_lsh.config.kafka import KafkaConfig
from stream_lsh.config.message_sizes import FRAME_ROOM, max_message_bytes
from stream_lsh.config.topics import TopicNames, TopicsConfig
from stream_lsh.config.values import FAMILIES, OF_VALUES, form_of, measure_of, results_of, scheme_of
from stream_lsh.config.worker import DEFAULT_APP_ID, WorkerConfig
from stream_lsh.kinds.explain import PairwiseScheme
from stream_lsh.kinds.record.golden import limits_of_records
from stream_lsh.kinds.record.messages import parse_record
from stream_lsh.kinds.results import Results, TextResults
from stream_lsh.kinds.shingled.methods import EXACT, LSH, METHODS, ShingleScheme, most_candidates, text_scheme
from stream_lsh.kinds.shingled.scheme import banding_for
from stream_lsh.kinds.single_field import Form, parse_valued
from stream_lsh.kinds.text.messages import parse_document
from stream_lsh.kinds.text.presets import DAY_MS, PRESETS
from stream_lsh.kinds.vector.metric import MOST_DIMENSIONS, VECTOR_MEASURES
from stream_lsh.ledger.clusters.guards.choice import NO_GUARDS, Guards
from stream_lsh.lsh.solver import Banding
from stream_lsh.measure.catalog import JACCARD, MEASURES, Measure
from stream_lsh.measure.containment import SIZE_RATIO, Containment
from stream_lsh.model import Document
from stream_lsh.pipeline.local import Limits
from stream_lsh.pipeline.scheme import Scheme
from stream_lsh.records.reading import Reader
from stream_lsh.settings import value_types
from stream_lsh.settings.schema import key, table
from stream_lsh.settings.value_types import choice, size, span, whole
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.message import AUTO, FIRST_SURE_MS, MAX_AHEAD_MS, MAX_DOCUMENT_BYTES, TIME_UNITS

KINDS = ("text", "record", "set", "vector")


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineConfig(TopicNames):
    """One source, what counts as a match in it, and how long.

    Attributes:
        sources: the users' topics; one, or several that are rekeyed.
        app_id: the worker's; no key of the pipeline.
        known: reads records as the profile says, in a pipeline of them; no key.
    """

    name: str = field(
        default="documents", metadata=key(value_types.TOPIC, "the pipeline, and the prefix of its topics")
    )
    preset: str = field(
        default="none",
        metadata=key(
            choice(("none", *PRESETS)),
            "defaults that go together, for articles or for pages; what is set beside it holds",
        ),
    )
    kind: str = field(
        default="text",
        metadata=key(choice(KINDS), "what is compared: texts, records, sets that are given as such, or vectors"),
    )
    profile: str = field(
        default="",
        metadata=key(
            value_types.ANY_TEXT,
            'with `kind = "record"`, what is known of the records: people, companies, products, bibliography, or the '
            "path of a profile",
        ),
    )
    sources: tuple[str, ...] = field(metadata=key(value_types.TOPICS, "the topic with the documents", "source"))
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
            value_types.SHINGLES,
            "what is compared of a text; [which to choose](choosing-parameters.md#shingles)",
        ),
    )
    threshold: float = field(default=0.8, metadata=key(value_types.SHARE, "the least similarity of a match"))
    method: str = field(
        default=LSH,
        metadata=key(choice(METHODS), "how matches are found: nearly all of them, as `recall` says, or all of them"),
    )
    measure: str = field(
        default=JACCARD.name,
        metadata=key(
            choice((*MEASURES, *VECTOR_MEASURES)),
            "of similarity: shared shingles over those of both texts, or over those of the shorter one; of vectors the "
            "other three",
        ),
    )
    size_ratio: float = field(
        default=SIZE_RATIO,
        metadata=key(
            value_types.SIZE_RATIO,
            "only with `containment`: how many times as many shingles the longer text has at most",
        ),
    )
    bag: bool = field(
        default=False,
        metadata=key(value_types.FLAG, "of sets: repeated items count, by the lesser and the greater number of each"),
    )
    family: str = field(
        default=FAMILIES[0],
        metadata=key(choice(FAMILIES), "of sets: what finds those that are alike; `grid` is for fingerprints"),
    )
    dimension: int = field(
        default=0, metadata=key(whole(0, MOST_DIMENSIONS), "of vectors: how many values each has; required")
    )
    distance: float = field(
        default=0.0,
        metadata=key(
            value_types.LENGTH,
            "of vectors, in place of `threshold`: the greatest distance of a match, in degrees (`cosine`), as a length "
            "(`euclidean`), or in positions (`hamming`); required",
        ),
    )
    line_width: float = field(
        default=0.0,
        metadata=key(
            value_types.LENGTH,
            "only with `euclidean`: how wide the intervals are that vectors fall into on a line; 0: four times the "
            "distance",
        ),
    )
    recall: float = field(
        default=0.99,
        metadata=key(
            value_types.SHARE, "the probability that a pair at the threshold is found; above it, it is greater"
        ),
    )
    slots: int = field(
        default=128, metadata=key(whole(1, 65_536), "the length of a signature: 4 bytes each, in every document kept")
    )
    bands: int = field(
        default=0,
        metadata=key(
            whole(0, 65_536), "how many stretches of a signature are looked up, with `rows`; 0: chosen for the recall"
        ),
    )
    rows: int = field(default=0, metadata=key(whole(0, 65_536), "slots in each band; `stream-lsh tune` advises"))
    normalise: tuple[str, ...] = field(
        default=("nfc",),
        metadata=key(value_types.NORMAL_FORMS, "the forms that a text is brought into first, in order"),
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
            "documents whose time is further ahead of their message's timestamp or of the worker's clock are "
            "dead-lettered, and messages whose timestamp is further ahead of that clock",
            "max_ahead",
        ),
    )
    time_unit: str = field(
        default=AUTO,
        metadata=key(
            choice(TIME_UNITS),
            "of times that are numbers since 1970; `auto`: the one in which they lie between 1973 and 5138",
        ),
    )
    shadow: float = field(
        default=0.0002,
        metadata=key(
            value_types.LEAST_SHARE,
            "the share of documents that are compared with all recent ones, to measure the recall; 0: none",
        ),
    )
    on_bug: str = field(
        default="dead-letter",
        metadata=key(
            choice(("halt", "dead-letter")),
            "what an unexpected exception does that one message causes where it is parsed or signed: halt the worker, "
            "or send the message to the dead letters and continue",
        ),
    )
    rekey: bool = field(
        default=False,
        metadata=key(
            value_types.FLAG, "copy the sources to one topic keyed by id first: they are several, or not keyed by it"
        ),
    )
    stories: bool = field(
        default=False,
        metadata=key(
            value_types.FLAG, "clusters tell headline, outlets and who was first: `title`, `source`, `url` are read"
        ),
    )
    mirror_share: float = field(
        default=0.0,
        metadata=key(
            value_types.LEAST_SHARE,
            "sites of which at least this share of pages is in another one are told; 0: none; needs `stories`",
        ),
    )
    grid: GridConfig = field(default=GridConfig(), metadata=table(GridConfig, "of sets with the family `grid`"))
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
            return self.pairwise_scheme()
        from stream_lsh.kinds.record.scheme import RecordScheme  # noqa: PLC0415 - loads the libraries of comparators

        return RecordScheme(self.known.profile)

    def pairwise_scheme(self) -> PairwiseScheme:
        """The scheme of a pipeline of anything but records."""
        return scheme_of(self) if self.kind in OF_VALUES else self.text_scheme()

    def text_scheme(self) -> ShingleScheme:
        """The scheme of a pipeline of texts."""
        return text_scheme(
            self.method,
            self.threshold,
            self.shingles,
            recall=self.recall,
            slots=self.slots,
            normalise=self.normalise,
            seed=self.seed,
            measure=self.similarity,
            min_characters=self.min_characters,
            banding=self.banding(),
        )

    def banding(self) -> Banding | None:
        """Bands and rows, pinned or chosen; None without bands; raises ConfigError where the settings do not fit."""
        if self.method == EXACT:
            return None
        return banding_for(self.threshold, self.recall, self.slots, self.similarity, bands=self.bands, rows=self.rows)

    def results(self) -> Results:
        """What makes messages of what was settled."""
        if self.kind in OF_VALUES:
            return results_of(self)
        if self.known is None:
            return TextResults(self.name, self.measure, self.mirror_share)
        from stream_lsh.kinds.record.results import RecordResults  # noqa: PLC0415 - as in `scheme`

        return RecordResults(self.name, self.known.profile)

    @property
    def least(self) -> float:
        """The least similarity of a pair that is kept: of records that of a review, of vectors that of the distance."""
        if self.kind == "vector":
            return measure_of(self).least
        return self.threshold if self.known is None else self.known.profile.review

    @property
    def link_from(self) -> float | None:
        """The least similarity of a pair that connects, where not all do."""
        return None if self.known is None else self.known.profile.match

    @property
    def similarity(self) -> Measure:
        """The measure as the steps take it."""
        return Containment(self.size_ratio) if self.measure == Containment.name else JACCARD

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
        rules: dict[str, Any] = {
            "fallback_time_ms": timestamp_ms if timestamp_ms >= FIRST_SURE_MS else None,
            "max_bytes": self.max_document_bytes,
            "max_ahead_ms": self.max_ahead_ms,
            "now_ms": now_ms,
            "time_unit": self.time_unit,
            "names": self.fields,
            "keyed": keyed,
        }
        if self.known is not None:
            return parse_record(value, key, reader=self.known, **rules).document
        if self.kind in OF_VALUES:
            return parse_valued(value, key, form=self.form, **rules)
        return parse_document(value, key, stories=self.stories, html=self.html, **rules)

    @property
    def form(self) -> Form:
        """How a pipeline of sets or vectors reads what it compares."""
        return form_of(self)

    def limits(self) -> Limits:
        """Retention, caps and guards, as the steps take them."""
        limits = Limits.of(
            most_candidates(self.method, self.max_candidates),
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
    def live_ms(self) -> int | None:
        """How long a document lives in event time; None without a retention."""
        return None if self.retention_ms is None else self.retention_ms + self.lateness_ms

    @property
    def public_retention_ms(self) -> int:
        """`retention.ms` with which the public topics are created: -1 for ever."""
        return -1 if self.topics.keep_forever or self.live_ms is None else self.live_ms + DAY_MS

    @property
    def max_message_bytes(self) -> int:
        """`max.message.bytes` of the internal topics."""
        return max_message_bytes(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything.

    Attributes:
        origins: where each value comes from that is no default: the key as `settings_shown` has it, to `file:line` or
            the variable; no part of the value.
    """

    pipelines: tuple[PipelineConfig, ...]
    kafka: KafkaConfig = field(default=KafkaConfig())
    worker: WorkerConfig = field(default=WorkerConfig())
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
