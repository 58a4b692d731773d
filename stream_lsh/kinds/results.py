"""What a pipeline publishes of what it settled, topic by topic; of records see `public_records`."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from stream_lsh.ledger.changes import MatchChange, Settled
from stream_lsh.wire.public import PublicMessage, cluster_messages, match_messages, member_messages, mirror_messages

TopicMessages = Iterator[tuple[str, list[PublicMessage]]]
"""The key of a topic in `[pipeline.topics]`, and its messages."""


class Results(Protocol):
    """The results of a kind of pipeline as messages."""

    def messages(self, settled: Settled, confirmed_at_ms: int, version: int) -> TopicMessages:
        """What one settled frame has to say.

        Args:
            settled: what changed.
            confirmed_at_ms: the timestamp of the frame.
            version: its offset.
        """


class TextResults(NamedTuple):
    """Of texts, sets and vectors: pairs, members, clusters, and mirrors where sites are watched.

    Attributes:
        pipeline: its name.
        measure: of similarity.
        mirror_share: from which sites are told.
        matches: makes the messages of pairs.
    """

    pipeline: str
    measure: str
    mirror_share: float = 0.0
    matches: Callable[[str, Sequence[MatchChange], int, str], list[PublicMessage]] = match_messages

    def messages(self, settled: Settled, confirmed_at_ms: int, version: int) -> TopicMessages:
        """What one settled frame has to say."""
        yield "matches", self.matches(self.pipeline, settled.matches, confirmed_at_ms, self.measure)
        yield "members", member_messages(settled.members)
        yield "clusters", cluster_messages(settled.clusters, version)
        if settled.mirrors:
            yield "mirror_sites", mirror_messages(settled.mirrors, self.mirror_share)
