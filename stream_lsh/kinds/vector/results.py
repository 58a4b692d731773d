"""The public topics of a pipeline of vectors: matches include the distance; members and clusters are as for texts.

    topic      key                     value (compact JSON, in this order)                             null value
    matches    ["left","right"]        pipeline left right similarity measure distance left_time       withdrawn: header
               as compact JSON         right_time confirmed_at                                         `reason`

`distance` is exact, in the unit of the measure; `similarity` decreases with it.
"""

from collections.abc import Sequence

from stream_lsh.kinds.vector.comparer import distance_of
from stream_lsh.ledger.changes import MatchChange
from stream_lsh.wire.public import PairValue, PublicMessage, pair_messages


class _Match(PairValue, gc=False):
    distance: float
    left_time: int
    right_time: int
    confirmed_at: int


def vector_matches(
    pipeline: str, changes: Sequence[MatchChange], confirmed_at_ms: int, measure: str
) -> list[PublicMessage]:
    """The messages of the topic `matches` for changed pairs of vectors, published or withdrawn.

    Example:
        >>> import json
        >>> change = MatchChange("a", "b", 0.9, 0, 0, 1, 2, None, 0, "18.0")
        >>> [(key, value, headers)] = vector_matches("points", [change], 3, "cosine")
        >>> key, json.loads(value)["distance"], headers
        (b'["a","b"]', 18.0, [])
        >>> vector_matches("points", [MatchChange("a", "b", reason="deleted")], 3, "cosine")
        [(b'["a","b"]', None, [('reason', b'deleted')])]
    """

    def value_of(change: MatchChange) -> _Match:
        distance, times = distance_of(change.evidence), (change.left_time_ms, change.right_time_ms, confirmed_at_ms)
        return _Match(pipeline, change.left, change.right, change.similarity or 0.0, measure, distance, *times)

    return pair_messages(changes, value_of)
