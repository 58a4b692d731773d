"""Which ids clusters get and keep, which events and reasons a frame publishes: the rules, by the sets of members alone.

A frame that only adds links, one that only takes one away and one that only expires documents decide all of this by
what was there before and what is there afterwards.  Any other frame has parts: a retirement, an edge, a horizon.  It
decides what its parts decide one after the other, as of its offset, and publishes of that what is left in the end.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stream_lsh.ledger.changes import ClusterChange, Settled
from stream_lsh.ledger.edges import Edge
from stream_lsh.ledger.ledger import Ledger
from stream_lsh.model import Retirement
from stream_lsh.retention import Horizon


class Clusters(NamedTuple):
    """A ledger's clusters at one moment: their members, the offsets at which they were made, versions, taken ids."""

    members: dict[str, frozenset[str]]
    created: dict[str, int]
    refs: dict[str, int]
    taken: frozenset[str]

    def oldest(self, ids: Iterable[str]) -> str:
        """The cluster that was made first."""
        return min(ids, key=lambda id: (self.created[id], id))


def clusters_of(ledger: Ledger) -> Clusters:
    """The clusters as they are now."""
    live, nodes = ledger.ids.live, ledger.graph.nodes
    return Clusters(
        {id: frozenset(ledger.members(id)) for id in live},
        {id: cluster.created for id, cluster in live.items()},
        {id: nodes.refs[slot] for id, slot in nodes.slots.items()},
        frozenset(live) | frozenset(ledger.ids.closed),
    )


class Checked(NamedTuple):
    """How many frames of each form were checked."""

    grown: int = 0
    cut: int = 0
    expired: int = 0

    def plus(self, other: "Checked") -> "Checked":
        """Both counts."""
        return Checked(*(one + two for one, two in zip(self, other, strict=True)))


class FrameChecks:
    """One frame: the clusters before and after it, and what it published."""

    def __init__(self, offset: int, before: Clusters, after: Clusters, settled: Settled) -> None:
        self.offset, self.before, self.after, self.settled = offset, before, after, settled
        self.changes = {change.id: change for change in settled.clusters}

    def check(
        self, retirements: Sequence[Retirement], edges: Sequence[Edge], horizon: Horizon | None, threshold: float
    ) -> Checked:
        """Every rule that holds for such a frame; returns the form that the frame has."""
        self.check_any(retirements, horizon)
        refs = {(end.id, end.ref) for edge in edges for end in edge[:2]} | {*self.after.refs.items()}
        updated = len(dict(refs)) < len(refs) or any(self.before.refs.get(id, ref) != ref for id, ref in refs)
        below = sum(edge.similarity < threshold for edge in edges)
        if updated:
            return Checked()
        if horizon is None and not retirements and not below:
            self.check_growth()
            return Checked(grown=1)
        deletes = len(retirements) == 1 and retirements[0].deleted and not edges
        if horizon is None and (deletes or (len(edges) == below == 1 and not retirements)):
            self.check_cut("deleted" if deletes else "updated")
            return Checked(cut=1)
        if not retirements and not edges and not self.settled.matches:
            self.check_expiry()
            return Checked(expired=1)
        return Checked()

    def check_any(self, retirements: Sequence[Retirement], horizon: Horizon | None) -> None:
        """A cluster keeps the offset at which it was made; reasons are those of parts of the frame."""
        for id, created in self.after.created.items():
            assert created == self.before.created.get(id, self.offset) or created == self.offset
        reasons = self.reasons() - {None}
        assert horizon is not None or "expired" not in reasons
        assert any(retired.deleted for retired in retirements) or "deleted" not in reasons
        assert "expired" not in {change.reason for change in self.settled.matches}, "they stay as they were"

    def reasons(self) -> set[str | None]:
        """Those of all withdrawals; None for what was not withdrawn."""
        return {one.reason for one in self.settled.matches} | {one.reason for one in self.settled.members}

    def check_growth(self) -> None:
        """Links came: of clusters that merge the oldest stays, and the others name it."""
        expected = dict[str, ClusterChange]()
        for id, members in self.after.members.items():
            parts = [old for old, inside in self.before.members.items() if inside & members]
            if not parts or self.is_as_old(id, parts):
                self.check_new_id(id, members)
                self.check_event(id, "created")
                expected |= {gone: ClusterChange(gone, merged_into=id) for gone in parts}
                continue
            assert id == self.before.oldest(parts)
            assert self.after.created[id] == self.before.created[id]
            fresh = members.difference(*(self.before.members[part] for part in parts))
            event = "merged" if len(parts) > 1 else "joined" if fresh else None
            if event == "joined" and len(fresh) > 1 and self.changes[id].event == "changed":
                event = "changed"  # it merged with a cluster that the same frame had made
            self.check_event(id, event, merged_from=tuple(sorted({*parts} - {id})))
            for gone in {*parts} - {id}:
                expected[gone] = ClusterChange(gone, merged_into=id)
        assert {id: change for id, change in self.changes.items() if change.event is None} == expected

    def is_as_old(self, id: str, parts: Iterable[str]) -> bool:
        """Whether a new cluster stays in a merge: those that it merged with were made at this offset, too."""
        oldest = self.before.oldest(parts)
        return id not in self.before.members and self.before.created[oldest] == self.offset and id < oldest

    def check_cut(self, reason: str) -> None:
        """A document or a link went: the largest part keeps the id, of equals the one with the least id in it."""
        assert self.reasons() <= {None, reason}
        for old, inside in self.before.members.items():
            parts = {id: members for id, members in self.after.members.items() if members & inside}
            assert all(members <= inside for members in parts.values())
            if not parts:
                assert self.changes[old] == ClusterChange(old)
                continue
            largest = max(map(len, parts.values()))
            keeper = min(min(members) for members in parts.values() if len(members) == largest)
            assert keeper in parts[old]
            lost = parts[old] != inside
            self.check_event(old, ("split" if len(parts) > 1 else "left") if lost else None)
            for id in parts.keys() - {old}:
                self.check_new_id(id, parts[id])
                self.check_event(id, "split", split_from=old)

    def check_expiry(self) -> None:
        """Documents expired, and no pair was in doubt: those that are left stay together, under their id."""
        assert {change.reason for change in self.settled.members} <= {None, "expired"}
        for old, inside in self.before.members.items():
            if old not in self.after.members:
                assert not any(inside & members for members in self.after.members.values())
                assert self.changes[old] == ClusterChange(old)
                continue
            assert self.after.members[old] <= inside
            self.check_event(old, "left" if self.after.members[old] != inside else None)

    def check_new_id(self, id: str, members: frozenset[str]) -> None:
        """A new cluster is named after a member, with the offset where that id is taken."""
        suffix, name = f"~{self.offset}", id
        assert self.after.created[id] == self.offset
        while name not in members:
            assert name.endswith(suffix), f"{id} is named after no member"
            name = name.removesuffix(suffix)
            assert name in self.before.taken | self.after.taken
        if len(members) == 2 or self.settled.matches == []:
            ages = {node.id: (node.time_ms, node.id) for node in self.settled.changes.nodes if node.id in members}
            assert len(ages) < len(members) or name == min(members, key=ages.__getitem__)

    def check_event(
        self, id: str, event: str | None, *, merged_from: tuple[str, ...] = (), split_from: str | None = None
    ) -> None:
        """The event of a cluster's change; no change without an event."""
        change = self.changes.get(id)
        assert (change is None) == (event is None)
        assert change is None or (change.event, change.merged_from, change.split_from) == (
            event,
            merged_from,
            split_from,
        )


_EVENTS = ("merged", "split", "joined", "left")
"""A change has the first of these events that happened."""


class FrameParts:
    """Settles each frame part by part.

    Args:
        ledger: an empty one, with the settings of the ledger that is compared.
        threshold: of the ledger.

    Attributes:
        clusters: as they are after the last part.
    """

    def __init__(self, ledger: Ledger, threshold: float) -> None:
        self._ledger, self._threshold = ledger, threshold
        self.clusters = clusters_of(ledger)

    def check(
        self,
        offset: int,
        retirements: Sequence[Retirement],
        edges: Sequence[Edge],
        horizon: Horizon | None,
        frame: FrameChecks,
    ) -> Checked:
        """The whole frame leaves the clusters that its parts leave, and publishes their events."""
        history, checked = _History(), Checked()
        parts: list[tuple[list[Retirement], list[Edge], Horizon | None]] = [([one], [], None) for one in retirements]
        parts += [([], [edge], None) for edge in edges]
        parts += [] if horizon is None else [([], [], horizon)]
        for retired, linked, moved in parts:
            before = self.clusters
            settled = self._ledger.settle(offset, retirements=retired, edges=linked, horizon=moved)
            self.clusters = clusters_of(self._ledger)
            part = FrameChecks(offset, before, self.clusters, settled)
            checked = checked.plus(part.check(retired, linked, moved, self._threshold))
            history.note(settled.clusters, self._ledger)
        assert frame.after == self.clusters, "a frame leaves the clusters that its parts leave"
        history.check(frame)
        return checked


class _History:
    """The events of clusters in the parts of one frame.

    Attributes:
        happened: the events of each.
        merged_from, merged_into, split_from: as in changes; what split from a part of this frame, from its origin.
    """

    def __init__(self) -> None:
        self.happened = defaultdict[str, set[str]](set)
        self.merged_from = defaultdict[str, set[str]](set)
        self.merged_into = dict[str, str]()
        self.split_from = dict[str, str]()

    def note(self, changes: Iterable[ClusterChange], ledger: Ledger) -> None:
        """One part has changed these."""
        for id, events in ledger._notes.events.items():
            self.happened[id] |= events
        for change in changes:
            for gone in change.merged_from:
                self.merged_from[change.id] |= {gone, *self.merged_from.pop(gone, ())}
            if change.merged_into is not None:
                self.merged_into[change.id] = change.merged_into
            if change.split_from is not None:
                self.split_from[change.id] = self.split_from.get(change.split_from, change.split_from)

    def check(self, frame: FrameChecks) -> None:
        """The changes that a frame has published are what is left of those of its parts."""
        before, after, changes = frame.before.members, frame.after.members, frame.changes
        assert changes.keys() <= before.keys() | after.keys(), (
            "a cluster that is created and closed within a frame is not published"
        )
        for id in before.keys() - after.keys():
            heir = id
            while heir in self.merged_into:
                heir = self.merged_into[heir]
            assert changes[id] == ClusterChange(id, merged_into=heir if heir in after else None)
        for id in after.keys() - before.keys():
            origin = self.split_from.get(id)
            origin = origin if origin in before else None
            frame.check_event(id, "created" if origin is None else "split", split_from=origin)
        for id in before.keys() & after.keys():
            assert id in changes or before[id] == after[id]
            if id in changes:
                merged_from = tuple(sorted(self.merged_from[id] & before.keys()))
                frame.check_event(id, self._event(id, after, is_merged=bool(merged_from)), merged_from=merged_from)

    def _event(self, id: str, after: dict[str, frozenset[str]], *, is_merged: bool) -> str:
        happened = set(self.happened[id])
        if not is_merged:
            happened.discard("merged")  # with a cluster that the same frame had made
        if not any(origin == id and part in after for part, origin in self.split_from.items()):
            happened.discard("split")
        return next((event for event in _EVENTS if event in happened), "changed")
