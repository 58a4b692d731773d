"""The parts of the answers about clusters and entities: their latest events, and the pairs of their members."""

import msgspec


class ClusterEvent(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A change of a cluster or entity; `changes` in a row, of members that joined, are one event."""

    time: int
    event: str
    size: int
    changes: int
    merged_from: tuple[str, ...] = ()
    split_from: str | None = None


class History(msgspec.Struct, frozen=True):
    """The latest events of a cluster or entity, newest first; `since` is the time of the first known event of any."""

    since: int | None
    events: tuple[ClusterEvent, ...]


class OutsideLink(msgspec.Struct, frozen=True):
    """A pair of a member and a document of another cluster or entity."""

    id: str
    partner: str
    cluster: str | None
    similarity: float


class Links(msgspec.Struct, frozen=True):
    """The pairs of the members: inside, their places among all members and the similarity; with others, outside."""

    inside: tuple[tuple[int, int, float], ...]
    outside: tuple[OutsideLink, ...]
