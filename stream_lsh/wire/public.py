"""The messages of the public topics: key, value and headers of a change, as in the users' contract.

    topic      key                     value (compact JSON, in this order)                             null value
    matches    ["left","right"]        pipeline left right similarity measure shared union             withdrawn: header
               as compact JSON         left_shingles? right_shingles? left_time right_time             `reason`
                                       confirmed_at
    members    the document's id       cluster similarity? time                                        in none: header
                                                                                                       `reason`
    clusters   the cluster's id        cluster event size members representative merged_from?          no more: header
                                       split_from? first_time last_time version                        `merged_into`, or
                                       headline? sources? source_count? first?                         closed: none
                                       members_omitted? merged_from_omitted?
    mirror-    ["left","right"]        left right left_pages right_pages left_mirrored right_mirrored  no more
    sites      as compact JSON         left_share right_share direction first_time

The last four of `clusters` are present with stories: `sources` are objects of source, first_time and documents, `first`
is one of id, source and time.

No message is larger than `PUBLIC_BYTES`.  Where the ids of a cluster do not fit, its lists hold the first ones, and
`members_omitted` and `merged_from_omitted` count the others.

Times are milliseconds since the epoch.  A key depends on the ids alone, so that a withdrawal has the key of the
withdrawn message.  An id with a lone surrogate (a file can have one, a Kafka key cannot) is escaped in JSON, and three
bytes in a key that is an id or in a header.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, repeat, takewhile
from typing import Any, Protocol

import msgspec

from stream_lsh.ledger.changes import ClusterChange, MatchChange, MemberChange, MirrorChange
from stream_lsh.ledger.clusters.listed import Listed
from stream_lsh.ledger.graph.columns import Table, columns_of
from stream_lsh.ledger.sites.mirrors import SiteMirrors

Headers = list[tuple[str, bytes]]
PublicMessage = tuple[bytes, bytes | None, Headers]
"""Key, value, headers."""
PUBLIC_BYTES = 256 * 1024
"""The largest message of a topic of results: a quarter of what a broker takes by default, whatever is configured."""
VALUE_BYTES = PUBLIC_BYTES - 16_384
"""The largest value beside a key of two ids and the headers."""
_LISTS_BYTES = 64
"""The bytes that names and counts of lists add to a value without them."""

_encode = msgspec.json.Encoder().encode
_encode_lines = msgspec.json.Encoder().encode_lines


class PairValue(msgspec.Struct, gc=False):
    """The first fields of the value of a pair, the same for every kind."""

    pipeline: str
    left: str
    right: str
    similarity: float
    measure: str


class _Match(PairValue, gc=False):
    shared: int
    union: int
    left_shingles: int | msgspec.UnsetType
    right_shingles: int | msgspec.UnsetType
    left_time: int
    right_time: int
    confirmed_at: int


class _Member(msgspec.Struct, gc=False):
    cluster: str
    similarity: float | msgspec.UnsetType
    time: int


class _Outlet(msgspec.Struct, gc=False):
    source: str
    first_time: int
    documents: int


class _First(msgspec.Struct, gc=False):
    id: str
    source: str
    time: int


class _Cluster(msgspec.Struct, gc=False):
    cluster: str
    event: str
    size: int
    members: Sequence[str] | msgspec.Raw
    representative: str
    merged_from: tuple[str, ...] | msgspec.UnsetType
    split_from: str | msgspec.UnsetType
    first_time: int
    last_time: int
    version: int
    headline: str | msgspec.UnsetType = msgspec.UNSET
    sources: list[_Outlet] | msgspec.UnsetType = msgspec.UNSET
    source_count: int | msgspec.UnsetType = msgspec.UNSET
    first: _First | msgspec.UnsetType = msgspec.UNSET
    members_omitted: int | msgspec.UnsetType = msgspec.UNSET
    merged_from_omitted: int | msgspec.UnsetType = msgspec.UNSET


def match_messages(
    pipeline: str, changes: Sequence[MatchChange], confirmed_at_ms: int, measure: str = "jaccard"
) -> list[PublicMessage]:
    """The messages of the topic `matches` for pairs that hold now, or are withdrawn.

    Example:
        >>> [(key, value, headers)] = match_messages("news", [MatchChange("a", "b", 0.9, 9, 10, 1, 2)], 3)
        >>> json.loads(value)["similarity"], key, headers
        (0.9, b'["a","b"]', [])
        >>> match_messages("news", [MatchChange("a", "b", reason="deleted")], 3)
        [(b'["a","b"]', None, [('reason', b'deleted')])]
    """
    if not changes:
        return []
    left, right, similarity, shared, union, left_ms, right_ms, reasons, sizes, _ = _columns(changes)
    left_sizes: Iterable[Any] = repeat(msgspec.UNSET)
    right_sizes = left_sizes
    if any(sizes):
        left_sizes = [size or msgspec.UNSET for size in sizes]
        right_sizes = map(_right_size, shared, union, sizes)
    columns = left, right, similarity, repeat(measure), shared, union, left_sizes, right_sizes, left_ms, right_ms
    values = map(_Match, repeat(pipeline), *columns, repeat(confirmed_at_ms))
    return _messages(_json_lines(zip(left, right, strict=True)), _json_lines(values), similarity, reasons)


def _right_size(shared: int, union: int, left_size: int) -> int | msgspec.UnsetType:
    return shared + union - left_size if left_size else msgspec.UNSET


def pair_messages(
    changes: Sequence[MatchChange], value_of: Callable[[MatchChange], msgspec.Struct]
) -> list[PublicMessage]:
    """The messages for pairs that hold now, with the value that `value_of` makes, or are withdrawn."""
    if not changes:
        return []
    left, right, similarity, *_, reasons, _, _ = _columns(changes)
    values = [None if change.similarity is None else value_of(change) for change in changes]
    return _messages(_json_lines(zip(left, right, strict=True)), _json_lines(values), similarity, reasons)


def member_messages(
    changes: Sequence[MemberChange], value_type: Callable[..., msgspec.Struct] = _Member
) -> list[PublicMessage]:
    """The messages of the topic `members` for documents that are in a cluster now, or in none.

    Args:
        changes: of the memberships.
        value_type: from the cluster's id, similarity and time to the value of a message.

    Example:
        >>> member_messages([MemberChange("b", "a", None, 5), MemberChange("b", reason="expired")])
        [(b'b', b'{"cluster":"a","time":5}', []), (b'b', None, [('reason', b'expired')])]
    """
    if not changes:
        return []
    ids, clusters, similarity, times, reasons = _columns(changes)
    if None in similarity:
        similarity = [msgspec.UNSET if best is None else best for best in similarity]
    return _messages(map(as_utf8, ids), _json_lines(map(value_type, clusters, similarity, times)), clusters, reasons)


def _messages(
    keys: Iterable[bytes], values: list[bytes], current: Sequence[object], reasons: Sequence[str | None]
) -> list[PublicMessage]:
    """Messages with these values, or without one where `current` is None."""
    if None not in current:
        return [(key, value, []) for key, value in zip(keys, values, strict=True)]
    return [
        (key, None, withdrawal(reason)) if now is None else (key, value, [])
        for key, value, now, reason in zip(keys, values, current, reasons, strict=True)
    ]


def cluster_messages(
    changes: Sequence[ClusterChange], version: int, value_of: "ClusterValue | None" = None
) -> list[PublicMessage]:
    """The messages of the topic `clusters` for clusters as they are now, or that have ended.

    Args:
        changes: of the clusters.
        version: of the messages.
        value_of: from a row of `changes` and the version to the value of a message; None: that of `clusters`.

    Example:
        >>> cluster_messages([ClusterChange("a", merged_into="z")], 7)
        [(b'a', None, [('merged_into', b'z')])]
    """
    if not changes:
        return []
    rows, value_of = [*zip(*_columns(changes), strict=True)], value_of or _cluster_value
    values = [None if row[1] is None else value_of(row, version) for row in rows]
    messages: list[PublicMessage] = []
    for (id, *_, into, _), value, data in zip(rows, values, _json_lines(values), strict=True):
        if value is None:
            messages.append((as_utf8(id), None, [] if into is None else [("merged_into", as_utf8(into))]))
        else:
            messages.append((as_utf8(id), data if len(data) <= VALUE_BYTES else _bounded_json(value), []))
    return messages


def _cluster_value(row: tuple[Any, ...], version: int) -> _Cluster:
    id, event, size, members, representative, merged, split, first_ms, last_ms, _, summary = row
    merged_from, split_from = merged or msgspec.UNSET, msgspec.UNSET if split is None else split
    times = (first_ms, last_ms, version)
    listed = msgspec.Raw(members.json) if type(members) is Listed else members  # isinstance of a Sequence takes 0.3 us
    value = _Cluster(id, event, size, listed, representative, merged_from, split_from, *times)
    if summary is not None:
        value.headline, value.source_count = summary.headline, summary.source_count
        value.sources, value.first = [_Outlet(*outlet) for outlet in summary.sources], _First(*summary.first)
    return value


class Listing(Protocol):
    """A value that lists members and merged clusters, and counts the omitted ones."""

    members: Any
    merged_from: Any
    members_omitted: int | msgspec.UnsetType
    merged_from_omitted: int | msgspec.UnsetType


ClusterValue = Callable[[tuple[Any, ...], int], Listing]
"""From a row of changes of clusters and the version to the value of a message."""


def _bounded_json(value: Listing) -> bytes:
    """A value larger than `VALUE_BYTES`, reduced to that: its lists hold as many of their first entries as fit.

    Changes the value.  Where both lists are too long, each gets at least half of the room.
    """
    members, merged = value.members, value.merged_from or ()
    if isinstance(members, msgspec.Raw):
        members = msgspec.json.decode(members, type=tuple[str, ...])
    value.members, value.merged_from = (), msgspec.UNSET
    value.members_omitted = value.merged_from_omitted = 0
    room = VALUE_BYTES - len(as_json(value)) - _LISTS_BYTES
    sizes = [len(as_json(id)) + 1 for id in merged]
    value.members = _first_within(members, max(room // 2, room - sum(sizes)))
    room -= sum(len(as_json(member)) + 1 for member in value.members)
    value.merged_from = _first_within(merged, room) or msgspec.UNSET
    value.members_omitted = len(members) - len(value.members) or msgspec.UNSET
    value.merged_from_omitted = len(merged) - len(value.merged_from or ()) or msgspec.UNSET
    return as_json(value)


def _first_within(entries: Sequence[Any], room: int) -> Sequence[Any]:
    """The first entries of a list that take at most `room` bytes in it."""
    ends = accumulate(len(as_json(entry)) + 1 for entry in entries)
    return entries[: sum(1 for _ in takewhile(lambda end: end <= room, ends))]


def mirror_messages(changes: Sequence[MirrorChange], min_share: float) -> list[PublicMessage]:
    """The messages of the topic `mirror-sites` for two sites that mirror each other now, or no longer.

    Args:
        changes: of the pairs of sites.
        min_share: the least share of a site's pages in another site that counts as mirrored.

    Example:
        >>> mirror_messages([MirrorChange("a.org", "b.org")], 0.1)
        [(b'["a.org","b.org"]', None, [])]
    """
    messages: list[PublicMessage] = []
    for left, right, now in changes:
        messages.append((as_json((left, right)), None if now is None else mirror_value(now, min_share), []))
    return messages


def mirror_value(now: SiteMirrors, min_share: float) -> bytes:
    """The value of two sites that mirror each other; arguments as for `mirror_messages`."""
    sites = now.sites
    shares = {"left_share": sites.left_share, "right_share": sites.right_share}
    return as_json(sites._asdict() | shares | {"direction": now.direction(min_share), "first_time": now.first_ms})


def _columns(changes: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
    """The columns of changes, at least one, as lists."""
    return changes.plain() if isinstance(changes, Table) else columns_of(changes)


def withdrawal(reason: str | None) -> Headers:
    """The headers of a null value."""
    return [] if reason is None else [("reason", reason.encode())]


def as_utf8(text: str) -> bytes:
    """A key or a header."""
    return text.encode("utf-8", "surrogatepass")


def as_json(value: object) -> bytes:
    """A value, with lone surrogates escaped."""
    try:
        return _encode(value)
    except UnicodeEncodeError:  # a lone surrogate
        return json.dumps(msgspec.to_builtins(value, enc_hook=msgspec.json.decode), separators=(",", ":")).encode()


def _json_lines(values: Iterable[object]) -> list[bytes]:
    """The JSON of each value, encoded together."""
    values = [*values]
    try:
        lines = _encode_lines(values).split(b"\n")  # JSON escapes line breaks in strings
    except UnicodeEncodeError:
        return [*map(as_json, values)]
    lines.pop()  # behind the last line break
    return lines
