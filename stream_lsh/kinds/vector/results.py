"""What a pipeline of vectors publishes: its matches tell the distance; members and clusters are those of texts.

    topic      key                     value (compact JSON, in this order)                             null value
    matches    ["left","right"]        pipeline left right similarity measure distance left_time       withdrawn: header
               as compact JSON         right_time confirmed_at                                         `reason`

`distance` is exact, in the unit of the measure; `similarity` falls as it grows.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from stream_lsh.kinds.results import TopicMessages
from stream_lsh.kinds.vector.comparer import distance_of
from stream_lsh.ledger.changes import MatchChange, Settled
from stream_lsh.wire.public import PublicMessage, as_json, cluster_messages, member_messages, withdrawal


class _Match(msgspec.Struct, gc=False):
    pipeline: str
    left: str
    right: str
    similarity: float
    measure: str
    distance: float
    left_time: int
    right_time: int
    confirmed_at: int


def vector_matches(
    pipeline: str, changes: Sequence[MatchChange], confirmed_at_ms: int, measure: str
) -> list[PublicMessage]:
    """The messages of the topic `matches` for pairs of vectors that are true now, or are withdrawn.

    Example:
        >>> change = MatchChange("a", "b", 0.9, 0, 0, 1, 2, None, 0, "18.0")
        >>> [(key, value, headers)] = vector_matches("points", [change], 3, "cosine")
        >>> key, msgspec.json.decode(value)["distance"], headers
        (b'["a","b"]', 18.0, [])
        >>> vector_matches("points", [MatchChange("a", "b", reason="deleted")], 3, "cosine")
        [(b'["a","b"]', None, [('reason', b'deleted')])]
    """
    messages: list[PublicMessage] = []
    for change in changes:
        key = as_json((change.left, change.right))
        if change.similarity is None:
            messages.append((key, None, withdrawal(change.reason)))
            continue
        distance, times = distance_of(change.evidence), (change.left_time_ms, change.right_time_ms, confirmed_at_ms)
        value = _Match(pipeline, change.left, change.right, change.similarity, measure, distance, *times)
        messages.append((key, as_json(value), []))
    return messages


class VectorResults(NamedTuple):
    """Of vectors: pairs with their distance, members, clusters.

    Attributes:
        pipeline: its name.
        measure: of distance.
    """

    pipeline: str
    measure: str

    def messages(self, settled: Settled, confirmed_at_ms: int, version: int) -> TopicMessages:
        """What one settled frame has to say."""
        yield "matches", vector_matches(self.pipeline, settled.matches, confirmed_at_ms, self.measure)
        yield "members", member_messages(settled.members)
        yield "clusters", cluster_messages(settled.clusters, version)
