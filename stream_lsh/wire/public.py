"""What the public topics say: key, value and headers of a change, as the users' contract has them.

    topic      key                     value (compact JSON, in this order)                             null value
    matches    ["left","right"]        pipeline left right similarity measure shared union             withdrawn: header
               as compact JSON         left_time right_time confirmed_at                               `reason`
    members    the document's id       cluster similarity? time                                        in none: header
                                                                                                       `reason`
    clusters   the cluster's id        cluster event size members representative merged_from?          no more: header
                                       split_from? first_time last_time version                        `merged_into`, or
                                                                                                       closed: none

Times are milliseconds since the epoch.  A key depends on the ids alone, so that a withdrawal meets what it withdraws.
An id that holds a lone surrogate (a file can have one, a Kafka key cannot) is escaped in JSON, and three bytes in a key
that is an id or in a header.
"""

import json
from typing import Any

import msgspec

from stream_lsh.ledger.changes import ClusterChange, MatchChange, MemberChange

Headers = list[tuple[str, bytes]]
PublicMessage = tuple[bytes, bytes | None, Headers]
"""Key, value, headers."""

_encode = msgspec.json.Encoder().encode


def match_message(pipeline: str, change: MatchChange, confirmed_at_ms: int, measure: str = "jaccard") -> PublicMessage:
    """The message of the topic `matches` for a pair that is true now, or is withdrawn.

    Example:
        >>> key, value, headers = match_message("news", MatchChange("a", "b", 0.9, 9, 10, 1, 2), 3)
        >>> json.loads(value)["similarity"], key, headers
        (0.9, b'["a","b"]', [])
        >>> match_message("news", MatchChange("a", "b", reason="deleted"), 3)
        (b'["a","b"]', None, [('reason', b'deleted')])
    """
    key = _json([change.left, change.right])
    if change.similarity is None:
        return key, None, _reason(change.reason)
    value = {
        "pipeline": pipeline,
        "left": change.left,
        "right": change.right,
        "similarity": change.similarity,
        "measure": measure,
        "shared": change.shared,
        "union": change.union,
        "left_time": change.left_time_ms,
        "right_time": change.right_time_ms,
        "confirmed_at": confirmed_at_ms,
    }
    return key, _json(value), []


def member_message(change: MemberChange) -> PublicMessage:
    """The message of the topic `members` for a document that is in a cluster now, or in none.

    Example:
        >>> member_message(MemberChange("b", "a", None, 5))
        (b'b', b'{"cluster":"a","time":5}', [])
        >>> member_message(MemberChange("b", reason="expired"))
        (b'b', None, [('reason', b'expired')])
    """
    key = _utf8(change.id)
    if change.cluster is None:
        return key, None, _reason(change.reason)
    value: dict[str, Any] = {"cluster": change.cluster}
    if change.similarity is not None:
        value["similarity"] = change.similarity
    value["time"] = change.time_ms
    return key, _json(value), []


def cluster_message(change: ClusterChange, version: int) -> PublicMessage:
    """The message of the topic `clusters` for a cluster as it is now, or that is no more.

    Example:
        >>> cluster_message(ClusterChange("a", merged_into="z"), 7)
        (b'a', None, [('merged_into', b'z')])
    """
    key = _utf8(change.id)
    if change.event is None:
        return key, None, [] if change.merged_into is None else [("merged_into", _utf8(change.merged_into))]
    value: dict[str, Any] = {
        "cluster": change.id,
        "event": change.event,
        "size": change.size,
        "members": change.members,
        "representative": change.representative,
    }
    if change.merged_from:
        value["merged_from"] = change.merged_from
    if change.split_from is not None:
        value["split_from"] = change.split_from
    value |= {"first_time": change.first_time_ms, "last_time": change.last_time_ms, "version": version}
    return key, _json(value), []


def _reason(reason: str | None) -> Headers:
    return [] if reason is None else [("reason", reason.encode())]


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _json(value: object) -> bytes:
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()
