"""The assignment of partitions to workers, and of standbys.

Fault (faust-streaming 0.15.3): with standbys, its assignor assigns partitions up to the rounded-up share and stops
there.  Measured with 4 partitions and one standby: of three workers two have 2 each, and the third has
nothing and follows nothing; when one of the two dies, the third takes over both, and has neither.  Without standbys a
worker that joins moves partitions between the others.

This assignor gives owners equal numbers, up to one partition; within that limit it moves no partition without need,
and a partition whose owner is gone goes to a follower of it.  Only the leader of the group decides, so the members may
differ in their numbers of standbys.

Fault (faust-streaming 0.15.3): each member sends the whole previous distribution of partitions, uncompressed, whenever
it joins.  Computed for 50 workers and 64 partitions: 0.95 MB of group metadata, and a broker refuses 1 MB by default.
The assignor needs only the assignment and the URL of a member, so members send no distribution.

The distribution that the leader computes goes to all members.  It has the owners of the changelogs by URL, and the
followers by URL with `STANDBY` in front.  Nothing routes by the other topics, so their distribution is empty.

Delete when: the engine's assignor is even with standbys, gives a partition to one of them while that is even, and sends
no distribution with a join.
"""

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from faust.assignor.client_assignment import ClientAssignment, ClientMetadata, CopartitionedAssignment
from faust.assignor.partition_assignor import PartitionAssignor

Partitions = dict[str, set[int]]

STANDBY = "standby+"
"""The prefix of a URL in the distribution whose worker follows partitions."""


class SpreadingAssignor(PartitionAssignor):
    """The engine's assignor, which gives out partitions with `spread`; `replicas` is the number of standbys."""

    @property
    def _metadata(self) -> ClientMetadata:
        """The data with which this worker joins: its assignment up to now, and its URL."""
        return ClientMetadata(
            assignment=self._assignment,
            url=str(self._url),
            changelog_distribution={},
            external_topic_distribution={},
            topic_groups={},
        )

    def _perform_assignment(self, cluster: Any, member_metadata: Mapping[str, Any]) -> Any:
        before = {member: self._get_client_metadata(metadata) for member, metadata in member_metadata.items()}
        subscribed = {member: set(metadata.subscription) for member, metadata in member_metadata.items()}
        groups = self._get_copartitioned_groups(
            set[str]().union(*subscribed.values()),
            cluster,
            {member: list(topics) for member, topics in subscribed.items()},
        )
        self._update_member_urls(before)
        assignments = {member: ClientAssignment(actives={}, standbys={}) for member in before}
        numbers: dict[str, int] = {}
        for number, (partitions, together) in enumerate(sorted(groups.items())):
            for topics in together:
                numbers |= dict.fromkeys(topics, number)
                had = {
                    member: metadata.assignment.copartitioned_assignment(topics)
                    for member, metadata in before.items()
                    if topics <= subscribed[member]
                }
                owned = {member: one.actives for member, one in had.items()}
                followed = {member: one.standbys for member, one in had.items()}
                owned, followed = spread(owned, followed, partitions, self.replicas)
                for member in had:
                    one = CopartitionedAssignment(owned[member], followed[member], topics)
                    assignments[member].add_copartitioned_assignment(one)
        return self._protocol_assignments(
            assignments,
            self._get_changelog_distribution(assignments),
            {},
            numbers,
        )

    def _get_changelog_distribution(self, assignments: MutableMapping[str, ClientAssignment]) -> Any:
        """The owners of the changelogs, and their followers."""
        topics = self._table_manager.changelog_topics
        followed = {
            f"{STANDBY}{self._member_urls[member]}": self._topics_filtered(assignment.standbys, topics)
            for member, assignment in assignments.items()
        }
        distribution = super()._get_changelog_distribution(assignments)
        return {**distribution, **{url: of_topics for url, of_topics in followed.items() if any(of_topics.values())}}


def spread(
    owned: Mapping[str, Iterable[int]], followed: Mapping[str, Iterable[int]], partitions: int, standbys: int
) -> tuple[Partitions, Partitions]:
    """Assign an owner and followers to each partition.

    Args:
        owned: member -> the partitions that it owned up to now.
        followed: the same members -> the partitions that they followed.
        partitions: their number.
        standbys: the number of followers of each partition, if there are enough workers.

    Returns:
        owned and followed, by member.
    Guarantees:
        each partition has one owner, and `standbys` followers, or all other workers where there are fewer; no two
        members differ by more than one in how many they own; the same for the same arguments.
    """
    members = sorted(owned)
    owners = _owners(members, owned, followed, partitions)
    copies = {member: {*owned[member], *followed[member]} for member in members}
    return owners, _followers(owners, copies, min(standbys, len(members) - 1))


def _owners(
    members: list[str], owned: Mapping[str, Iterable[int]], followed: Mapping[str, Iterable[int]], partitions: int
) -> Partitions:
    free, owners = set(range(partitions)), Partitions()
    for member in members:  # two may claim one: the first has it
        owners[member] = free & set(owned[member])
        free -= owners[member]
    for partition in sorted(free):
        warm = [member for member in members if partition in followed[member]]
        owners[min(warm or members, key=lambda one: len(owners[one]))].add(partition)
    while True:
        most, least = _most_and_least(owners)
        if len(owners[most]) - len(owners[least]) <= 1:
            return owners
        # First the partitions that the recipient follows, then those that it does not.
        moved = min((owner not in followed[least], owner in owned[most], owner) for owner in owners[most])[-1]
        _move(moved, owners[most], owners[least])


def _followers(owners: Partitions, copies: Partitions, standbys: int) -> Partitions:
    followers: Partitions = {member: set() for member in owners}
    for partition in sorted(set[int]().union(*owners.values())) * standbys:
        free = [owner for owner in owners if partition not in owners[owner] | followers[owner]]
        best = min((partition not in copies[one], len(followers[one]), one) for one in free)[-1]
        followers[best].add(partition)
    while True:
        most, least = _most_and_least(followers)
        movable = followers[most] - owners[least] - followers[least]
        if len(followers[most]) - len(followers[least]) <= 1 or not movable:
            return followers
        _move(min(movable), followers[most], followers[least])


def _most_and_least(of_members: Partitions) -> tuple[str, str]:
    ordered = sorted(of_members, key=lambda member: (len(of_members[member]), member))
    return ordered[-1], ordered[0]


def _move(partition: int, donor: set[int], recipient: set[int]) -> None:
    donor.remove(partition)
    recipient.add(partition)
