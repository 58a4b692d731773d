"""The clusters that settled frames add up to."""

from collections.abc import Mapping

from stream_lsh.cli.output.results import Answers
from stream_lsh.ledger.changes import ClusterChange, LedgerChanges, MemberChange, Settled
from stream_lsh.model import Cluster


def frame(members: Mapping[str, str], *clusters: ClusterChange) -> Settled:
    """A frame after which these documents are in these clusters."""
    changes = [MemberChange(id, cluster, 1.0, 5) for id, cluster in members.items()]
    return Settled(matches=[], members=changes, clusters=clusters, rechecks=[], changes=LedgerChanges())


def test_a_cluster_that_opens_again_after_a_merge_has_its_own_members() -> None:
    answers = Answers()
    answers.settled([frame({"a": "a", "b": "b"}, ClusterChange("a", "created"), ClusterChange("b", "created"))])
    answers.settled([frame({"b": "a"}, ClusterChange("a", "merged"), ClusterChange("b", merged_into="a"))])
    assert [*answers.clusters()] == [Cluster("a", ("b", "a"))]
    answers.settled([frame({"b": "b"}, ClusterChange("a", "split"), ClusterChange("b", "split", split_from="a"))])
    assert [*answers.clusters()] == [Cluster("a", ("a",)), Cluster("b", ("b",))]
