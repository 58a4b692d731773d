"""What the rest of the program needs to know of a kind of data: one interface, which each folder of `kinds` implements.

A kind object holds the settings of one pipeline that only its kind has, and answers with them.  `kinds.registry` finds
the class of a kind by its name.
"""

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple, Protocol, Self, TypeVar

from stream_lsh.errors import InvariantError
from stream_lsh.files.chunks import Refused
from stream_lsh.files.discover import Input
from stream_lsh.kinds.comparison import PairwiseScheme
from stream_lsh.kinds.results import Results
from stream_lsh.model import Document
from stream_lsh.pipeline.local import Limits
from stream_lsh.pipeline.scheme import Scheme
from stream_lsh.settings.problems import Problems
from stream_lsh.settings.toml import Path
from stream_lsh.wire.field_names import FieldNames
from stream_lsh.wire.message import ParseRules

KeyValue = tuple[bytes, bytes | None]
"""A message: its key and its value, None for a deletion."""
Setting = str | int | float
Default = str | int | float | bool | None
SHADOW = 0.0002
SHADOW_MEANING = "the share of documents that are compared with all recent ones, to measure the recall; 0: none"


class StoredSize(NamedTuple):
    """Bounds on what a changelog record stores of a version, which are known before a scheme is made.

    Attributes:
        slots: the length of a signature.
        width: the buckets of a version.
        retired: bytes for the versions that a batch of updates retires, where they need more than two versions do.
        document: bytes of a document that the steps store; None where it is never larger than its message.
    """

    slots: int
    width: int
    retired: int = 0
    document: int | None = None


class FeedPart(NamedTuple):
    """Consecutive messages for a source topic.

    Attributes:
        messages: key and value of each; making one raises UnusableDocument for an id that is no key.
        refused: what was rejected among them.
        position: bytes of all inputs read so far.
    """

    messages: Iterable[KeyValue]
    refused: Sequence[Refused]
    position: int


class SharedSettings(Protocol):
    """What a kind may need of the settings that every pipeline has."""

    @property
    def max_candidates(self) -> int:
        """Documents that one is compared with at most; 0: no caps."""

    @property
    def fields(self) -> FieldNames:
        """What the source calls its fields."""


class Kind(Protocol):
    """A kind of data with the settings of one pipeline.

    Attributes:
        name: in the configuration.
        plural: what progress and summaries call the documents.
        clusters: the key in `[pipeline.topics]` of the topic with the clusters.
        takes_decisions: whether the pipeline reads decisions about pairs.
        defaults: fields of a pipeline that have another default in this kind.
        presets: by name, fields of a pipeline and their values, which a pipeline can ask for.
        fields: keys in `[pipeline.fields]` that its messages have.
        topic_keys: keys in `[pipeline.topics]` that name topics of the kind.
    """

    name: ClassVar[str]
    plural: ClassVar[str]
    clusters: ClassVar[str]
    takes_decisions: ClassVar[bool]
    defaults: ClassVar[Mapping[str, Default]]
    presets: ClassVar[Mapping[str, Mapping[str, Default]]]
    fields: ClassVar[frozenset[str]]
    topic_keys: ClassVar[frozenset[str]]

    @property
    def topics(self) -> frozenset[str]:
        """Keys in `[pipeline.topics]` of the topics that the pipeline writes."""

    @property
    def stories(self) -> bool:
        """Whether clusters carry headline, outlets and who was first."""

    @property
    def mirror_share(self) -> float:
        """The share of pages from which mirrors of sites are published; 0: none are."""

    @property
    def shadow(self) -> float:
        """The share of documents by which the recall is monitored; 0: it is not."""

    @property
    def recall(self) -> float:
        """The probability that a pair at the threshold is found."""

    @property
    def seed(self) -> int:
        """Chooses the hash functions, and the documents that are monitored."""

    @property
    def least(self) -> float:
        """The least similarity of a pair that is published."""

    @property
    def link_from(self) -> float | None:
        """The least similarity of a pair that connects, where that is not `least`."""

    def scheme(self) -> Scheme:
        """What makes signatures and buckets and compares; raises ConfigError where the settings do not fit."""

    def pairwise(self) -> PairwiseScheme | None:
        """The scheme, where a similarity depends on the two documents alone; None where it depends on others too."""

    def stored_settings(self) -> dict[str, Setting]:
        """Everything that stored bytes depend on: what the fingerprint is of."""

    def stored_size(self) -> StoredSize:
        """How large the stored versions get; raises ConfigError where the settings do not fit."""

    def limits(self, limits: Limits) -> Limits:
        """The limits of the pipeline, with what the settings of the kind add."""

    def parse(
        self, value: bytes | None, key: bytes | None, rules: ParseRules, timestamp_ms: int | None, now_ms: int | None
    ) -> Document:
        """The document in a message of the source.

        Args:
            value: of the message.
            key: of the message.
            rules: of the source.
            timestamp_ms: of the message; None where it has none.
            now_ms: the clock; None where there is none.

        Raises:
            InputError: the message cannot be used -> dead-letter it.
        """

    def message(self, document: Document, names: FieldNames) -> KeyValue:
        """The message for a document: what `parse` reads back; raises UnusableDocument for an id that is no key."""

    def results(self, pipeline: str) -> Results:
        """What makes the public messages of a pipeline of this name."""

    def find_files(self, options: Namespace) -> list[Input]:
        """The files that a command names, after a check of its options, which get the names of the columns.

        Raises:
            ConfigError: a file is missing; an option is of another kind.
        """

    def read_files(
        self, inputs: Sequence[Input], options: Namespace, names: FieldNames, now_ms: int
    ) -> Iterator[FeedPart]:
        """The files as messages.

        Args:
            inputs: of `find_files`.
            options: the same.
            names: what the source calls its fields.
            now_ms: event time of a document without one.
        """

    def loaded(self, path: Path, problems: Problems) -> Self:
        """The same with what its settings name, which is read; noted is whatever is wrong with it.

        Args:
            path: of the pipeline.
            problems: of the configuration.
        """

    def check(self, path: Path, problems: Problems, shared: SharedSettings) -> None:
        """Note what does not fit in the settings.

        Args:
            path: of the pipeline.
            problems: of the configuration.
            shared: settings that every pipeline has.
        """

    def warnings(self) -> Iterator[str]:
        """What a worker logs at its start."""


K = TypeVar("K")


def as_kind(kind: Kind, cls: type[K]) -> K:
    """The same kind object, for what only pipelines of one kind can do.

    Raises:
        InvariantError: it is another kind.
    """
    if not isinstance(kind, cls):
        raise InvariantError(f"got a pipeline of kind {kind.name}, expected another kind: {cls.__name__}")
    return kind


TOPICS = frozenset({"matches", "members", "clusters", "dead_letters"})
"""What pipelines of most kinds publish."""


class KindDefaults:
    """What most kinds have in common."""

    __slots__ = ()

    plural: ClassVar[str] = "documents"
    clusters: ClassVar[str] = "clusters"
    takes_decisions: ClassVar[bool] = False
    defaults: ClassVar[Mapping[str, Default]] = {}
    presets: ClassVar[Mapping[str, Mapping[str, Default]]] = {}
    topic_keys: ClassVar[frozenset[str]] = TOPICS

    @property
    def topics(self) -> frozenset[str]:
        """Pairs, members, clusters, dead letters."""
        return TOPICS

    @property
    def stories(self) -> bool:
        """No stories."""
        return False

    @property
    def mirror_share(self) -> float:
        """No mirrors."""
        return 0.0

    @property
    def link_from(self) -> float | None:
        """None: every published pair connects."""
        return None

    def limits(self, limits: Limits) -> Limits:
        """The same."""
        return limits

    def loaded(self, path: Path, problems: Problems) -> Self:
        """The same: nothing is read."""
        return self

    def check(self, path: Path, problems: Problems, shared: SharedSettings) -> None:
        """Nothing that a value alone does not show."""

    def warnings(self) -> Iterator[str]:
        """None."""
        return iter(())
