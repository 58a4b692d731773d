"""The topics of a pipeline: the public ones, and the internal ones between the steps."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stream_lsh.errors import InvariantError
from stream_lsh.kinds.kind import Kind
from stream_lsh.settings import value_types
from stream_lsh.settings.schema import key

PUBLIC_TOPICS = ("matches", "members", "clusters", "entities", "reviews", "mirror_sites", "dead_letters")
"""The keys of `[pipeline.topics]` to which a pipeline publishes; each name defaults to `<pipeline>-<name>`."""
TABLES = ("documents", "buckets", "ledger")
"""The tables with a changelog."""
_STEPS = ("intake", "bands", "candidates", "verifications", "edges")
INTERNAL_TOPICS = (*_STEPS, *(f"{name}-changelog" for name in TABLES), "manifest")
"""The last parts of the internal topics, `<app_id>-<pipeline>-…`."""


def _named(description: str) -> str:
    name: str = field(default="", metadata=key(value_types.OPTIONAL_TOPIC, description))
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsConfig:
    """The configured topic names of a pipeline; `TopicNames` has the effective ones."""

    matches: str = _named("pairs; default `<pipeline>-matches`")
    members: str = _named("each document's cluster; default `<pipeline>-members`")
    clusters: str = _named("clusters; default `<pipeline>-clusters`")
    entities: str = _named("entities, for records in place of `clusters`; default `<pipeline>-entities`")
    reviews: str = _named("pairs of records for human review; default `<pipeline>-reviews`")
    decisions: str = _named("decisions on pairs of records, an input; default `<pipeline>-decisions`")
    mirror_sites: str = _named("sites that mirror each other; default `<pipeline>-mirror-sites`")
    dead_letters: str = _named("messages that cannot be used; default `<pipeline>-dead-letters`")
    keep_forever: bool = field(
        default=False,
        metadata=key(
            value_types.FLAG, "Kafka keeps the public topics forever, not for `retention`, `lateness` and one day"
        ),
    )


class TopicNames:
    """The names of all topics of a pipeline."""

    __slots__ = ()

    if TYPE_CHECKING:
        name: str
        app_id: str
        sources: tuple[str, ...]
        rekey: bool
        topics: TopicsConfig
        kind: Kind

    def _topic(self, name: str) -> str:
        return getattr(self.topics, name) or f"{self.name}-{name.replace('_', '-')}"

    @property
    def documents_topic(self) -> str:
        """The input of sign: the source, or the copy of the sources that is keyed by id."""
        return self.internal_topic("intake") if self.rekey else self.sources[0]

    @property
    def matches_topic(self) -> str:
        """Pairs."""
        return self._topic("matches")

    @property
    def members_topic(self) -> str:
        """Each document's cluster."""
        return self._topic("members")

    @property
    def clusters_topic(self) -> str:
        """Clusters; of records, the entities."""
        return self._topic(self.kind.clusters)

    @property
    def reviews_topic(self) -> str:
        """Pairs of records for human review."""
        return self._topic("reviews")

    @property
    def decisions_topic(self) -> str:
        """Decisions on pairs of records; the pipeline reads this topic and never writes it."""
        return self._topic("decisions")

    @property
    def mirror_sites_topic(self) -> str:
        """Sites that mirror each other, if the pipeline detects them."""
        return self._topic("mirror_sites")

    @property
    def dead_letters_topic(self) -> str:
        """Messages that cannot be used."""
        return self._topic("dead_letters")

    @property
    def public_topics(self) -> dict[str, str]:
        """The effective names of the topics that this pipeline writes, by their keys in `[pipeline.topics]`."""
        written = self.kind.topics
        return {name: self._topic(name) for name in PUBLIC_TOPICS if name in written}

    @property
    def named_topics(self) -> dict[str, str]:
        """The public topics and the topic of decisions: all that `[pipeline.topics]` names."""
        return self.public_topics | dict.fromkeys(self.kind.takes_decisions * ("decisions",), self.decisions_topic)

    @property
    def decision_topics(self) -> list[str]:
        """The inputs beside the sources: the topic of decisions, if the kind of data uses them."""
        return [self.decisions_topic] if self.kind.takes_decisions else []

    @property
    def internal_prefix(self) -> str:
        """The prefix of all internal topics."""
        return f"{self.app_id}-{self.name}-"

    def internal_topic(self, name: str) -> str:
        """The full name of one of INTERNAL_TOPICS, such as `bands`."""
        if name not in INTERNAL_TOPICS:
            raise InvariantError(f"got the internal topic {name!r}, expected one of {', '.join(INTERNAL_TOPICS)}")
        return f"{self.internal_prefix}{name}"

    @property
    def step_topics(self) -> list[str]:
        """The topics between the sources and the results, in the order of the data."""
        return [self.internal_topic(step) for step in _STEPS if step != "intake" or self.rekey]

    def changelog_topic(self, table: str) -> str:
        """The changelog of a table out of TABLES."""
        return self.internal_topic(f"{table}-changelog")
