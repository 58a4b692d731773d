"""The results of a pipeline as public messages, by topic; for records see `kinds.record.results`."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from stream_lsh.ledger.changes import MatchChange, Settled
from stream_lsh.model import About
from stream_lsh.wire.public import PublicMessage, cluster_messages, match_messages, member_messages, mirror_messages

_OF_PUBLICATION = ("pipeline", "confirmed_at", "event", "version")

TopicMessages = Iterator[tuple[str, list[PublicMessage]]]
"""The key of a topic in `[pipeline.topics]`, and its messages."""


class Results(Protocol):
    """Converts the results of a kind of pipeline to messages."""

    def messages(self, settled: Settled, confirmed_at_ms: int, version: int) -> TopicMessages:
        """The messages of one settled frame.

        Args:
            settled: the changes.
            confirmed_at_ms: the timestamp of the frame.
            version: its offset.
        """

    def metadata(self, about: About) -> dict[str, Any]:
        """The metadata of a document as members of JSON; without those that it does not have."""


def public_values(results: Results, settled: Settled) -> dict[str, list[dict[str, Any]]]:
    """The values of the messages of a state, by topic, without the members that refer to its publication."""
    return {
        topic: [_without(json.loads(value)) for _, value, _ in messages if value is not None]
        for topic, messages in results.messages(settled, 0, 0)
    }


def _without(value: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in value.items() if name not in _OF_PUBLICATION}


class TextResults(NamedTuple):
    """The results of texts, sets and vectors: pairs, members, clusters, and mirrored sites if they are monitored.

    Attributes:
        pipeline: its name.
        measure: of similarity.
        mirror_share: the least share of mirrored pages of a published pair of sites.
        matches: encodes pairs as messages.
    """

    pipeline: str
    measure: str
    mirror_share: float = 0.0
    matches: Callable[[str, Sequence[MatchChange], int, str], list[PublicMessage]] = match_messages

    def messages(self, settled: Settled, confirmed_at_ms: int, version: int) -> TopicMessages:
        """The messages of one settled frame."""
        yield "matches", self.matches(self.pipeline, settled.matches, confirmed_at_ms, self.measure)
        yield "members", member_messages(settled.members)
        yield "clusters", cluster_messages(settled.clusters, version)
        if settled.mirrors:
            yield "mirror_sites", mirror_messages(settled.mirrors, self.mirror_share)

    def metadata(self, about: About) -> dict[str, Any]:
        """Title and source."""
        return {name: value for name, value in (("title", about.title), ("source", about.source)) if value}
