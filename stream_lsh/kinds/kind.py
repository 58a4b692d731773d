"""The interface of a kind of data, which each folder of `kinds` implements.

A kind object holds those settings of one pipeline that are specific to its kind.  `kinds.registry` finds the class of a
kind by its name.
"""

from argparse import Namespace
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple, Protocol, Self, TypeVar

from stream_lsh.errors import InvariantError
from stream_lsh.files.chunks import Refused
from stream_lsh.files.discover import Input
from stream_lsh.kinds.comparison import PairwiseScheme
from stream_lsh.kinds.queries import FieldQueries, Queries
from stream_lsh.kinds.results import Results
from stream_lsh.model import Document
from stream_lsh.pipeline.limits import Limits
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
    """Bounds on the size of a version in a changelog record, which are known before the scheme is constructed.

    Attributes:
        slots: the length of a signature.
        width: the buckets of a version.
        retired: bytes for the versions that a batch of updates retires, if these exceed the size of two versions.
        document: bytes of a stored document; None if it is never larger than its message.
    """

    slots: int
    width: int
    retired: int = 0
    document: int | None = None


class FeedPart(NamedTuple):
    """Consecutive messages for a source topic.

    Attributes:
        messages: key and value of each; the iterator raises UnusableDocument for an id that is not a valid key.
        refused: the rejected items among them.
        position: bytes of all inputs read so far.
    """

    messages: Iterable[KeyValue]
    refused: Sequence[Refused]
    position: int


class SharedSettings(Protocol):
    """The settings of every pipeline that a kind may depend on."""

    @property
    def max_candidates(self) -> int:
        """The greatest number of candidates per document; 0: no caps."""

    @property
    def fields(self) -> FieldNames:
        """The names of the fields in the source."""


class Kind(Protocol):
    """A kind of data with the settings of one pipeline.

    Attributes:
        name: in the configuration.
        plural: the name of the documents in progress lines and summaries.
        clusters: the key in `[pipeline.topics]` of the topic with the clusters.
        takes_decisions: whether the pipeline reads decisions about pairs.
        defaults: fields of a pipeline that have another default in this kind.
        presets: by name, values for fields of a pipeline, which a pipeline can select.
        fields: keys in `[pipeline.fields]` that apply to its messages.
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
        """Whether clusters carry a headline, outlets and the first document."""

    @property
    def mirror_share(self) -> float:
        """The least share of mirrored pages of a published pair of sites; 0: none are published."""

    @property
    def shadow(self) -> float:
        """The share of documents that are sampled to monitor the recall; 0: none."""

    @property
    def recall(self) -> float:
        """The probability that a pair at the threshold is found."""

    @property
    def seed(self) -> int:
        """The seed of the hash functions and of the sample that monitors the recall."""

    @property
    def least(self) -> float:
        """The least similarity of a published pair."""

    @property
    def link_from(self) -> float | None:
        """The least similarity of a pair that connects its documents; None: `least`."""

    def scheme(self) -> Scheme:
        """The scheme, which computes signatures and buckets and compares pairs.

        Raises:
            ConfigError: the settings contradict each other.
        """

    def pairwise(self) -> PairwiseScheme | None:
        """The scheme, if a similarity depends on the two documents alone; None if it depends on others too."""

    def stored_settings(self) -> dict[str, Setting]:
        """The settings that stored bytes depend on; the fingerprint covers them."""

    def stored_size(self) -> StoredSize:
        """The greatest size of a stored version; raises ConfigError if the settings contradict each other."""

    def limits(self, limits: Limits) -> Limits:
        """The limits of the pipeline, extended by the settings of the kind."""

    def parse(
        self, value: bytes | None, key: bytes | None, rules: ParseRules, timestamp_ms: int | None, now_ms: int | None
    ) -> Document:
        """The document in a message of the source.

        Args:
            value: of the message.
            key: of the message.
            rules: of the source.
            timestamp_ms: of the message; None if it has none.
            now_ms: the current time; None without a clock.

        Raises:
            InputError: the message cannot be used -> dead-letter it.
        """

    def message(self, document: Document, names: FieldNames) -> KeyValue:
        """The message for a document, the inverse of `parse`; raises UnusableDocument for an id that is not a key."""

    def example(self, group: int, member: int, size: int, names: FieldNames) -> KeyValue:
        """A generated message: those of one group match each other, those of two groups do not.

        Args:
            group: 0 and up.
            member: 0 and up.
            size: bytes of the compared value, roughly: a text, items, values of a record; vectors ignore it.
            names: of the fields in the source.
        """

    def results(self, pipeline: str) -> Results:
        """The converter of results to public messages, for a pipeline of this name."""

    def queries(self, names: FieldNames) -> Queries:
        """The queries for similar documents, by the names of the fields in the source."""

    def find_files(self, options: Namespace) -> list[Input]:
        """Find the files that a command names; checks the options and sets the names of the columns in them.

        Raises:
            ConfigError: a file is missing; an option belongs to another kind.
        """

    def read_files(
        self, inputs: Sequence[Input], options: Namespace, names: FieldNames, now_ms: int
    ) -> Iterator[FeedPart]:
        """The files as messages.

        Args:
            inputs: of `find_files`.
            options: the same.
            names: of the fields in the source.
            now_ms: event time of a document without one.
        """

    def loaded(self, path: Path, problems: Problems) -> Self:
        """A copy with the files that its settings name loaded; adds their problems to `problems`.

        Args:
            path: of the pipeline.
            problems: of the configuration.
        """

    def as_stored(self, settings: Mapping[str, Setting], named: Container[str]) -> Self:
        """A copy with the values that an existing state was built with, for settings whose meaning has changed since.

        Args:
            settings: those of the state.
            named: the fields that the configuration sets.
        """

    def check(self, path: Path, problems: Problems, shared: SharedSettings) -> None:
        """Add contradictions of the settings to `problems`.

        Args:
            path: of the pipeline.
            problems: of the configuration.
            shared: settings that every pipeline has.
        """

    def warnings(self) -> Iterator[str]:
        """Warnings that a worker logs at startup."""


K = TypeVar("K")


def as_kind(kind: Kind, cls: type[K]) -> K:
    """The same kind object, narrowed to one kind for operations that only its pipelines support.

    Raises:
        InvariantError: the pipeline has another kind.
    """
    if not isinstance(kind, cls):
        raise InvariantError(f"got a pipeline of kind {kind.name}, expected another kind: {cls.__name__}")
    return kind


TOPICS = frozenset({"matches", "members", "clusters", "dead_letters"})
"""The topics of most kinds."""


class KindDefaults:
    """The attributes and methods that most kinds share."""

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
        """The limits, unchanged."""
        return limits

    def loaded(self, path: Path, problems: Problems) -> Self:
        """The kind itself: there are no files to load."""
        return self

    def as_stored(self, settings: Mapping[str, Setting], named: Container[str]) -> Self:
        """The kind itself: no setting has changed its meaning."""
        return self

    def check(self, path: Path, problems: Problems, shared: SharedSettings) -> None:
        """No checks: each value is checked when it is read."""

    def queries(self, names: FieldNames) -> Queries:
        """Queries by a text."""
        return FieldQueries("text", names.text)

    def warnings(self) -> Iterator[str]:
        """None."""
        return iter(())
