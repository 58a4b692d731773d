"""The listed members of a cluster are those of a plain list, whatever the ids contain."""

import json
import random

import pytest

from stream_lsh.ledger.changes import ClusterChange
from stream_lsh.ledger.clusters.ids import NEWEST_LISTED, Cluster
from stream_lsh.ledger.clusters.listed import Listed
from stream_lsh.wire.public import cluster_messages

PARTS = ['"', "\\", ",", '","', '\\",\\"', "[", "]", "\n", "\x00", "é", "\u2028", "中", "a", "b-1", " "]


def hostile_ids(rng: random.Random, count: int) -> list[str]:
    return ["".join(rng.choices(PARTS, k=rng.randrange(6))) for _ in range(count)]


def test_newer_ids_come_first_and_the_last_ones_are_dropped(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(300):
        most = rng.randrange(2, 9)
        plain = [f"{id} " for id in hostile_ids(rng, rng.randrange(1, most + 1))]
        listed = Listed.of(plain)
        for _ in range(10):
            new = hostile_ids(rng, rng.randrange(1, most))
            if any(id.endswith(",") for id in new):
                with pytest.raises(ValueError, match="comma"):
                    listed.newer(new, most)
                continue
            plain = [*new, *plain][:most]
            listed = listed.newer(new, most)
            assert json.loads(listed.json) == plain
            assert (len(listed), listed[0], listed[1:]) == (len(plain), plain[0], tuple(plain[1:]))
            assert listed == plain
            assert listed != [*plain, "more"]


@pytest.mark.parametrize("surrogates", [False, True])
def test_the_newest_members_of_a_cluster_are_its_last_ones(seed: int, surrogates: bool) -> None:
    rng = random.Random(seed)
    ids = [f"{number} {id}" for number, id in enumerate(hostile_ids(rng, 400))]
    if surrogates:
        ids[150] += "\udc80"
    cluster, members = Cluster("c", 0, []), list[int]()
    for slot in range(400):
        cluster.append(slot)
        members.append(slot)
        if rng.random() < 0.02:
            gone = rng.choice(members)
            members.remove(gone)
            cluster.become([*members])
        if rng.random() < 0.7:
            assert [*cluster.newest(ids)] == [ids[member] for member in reversed(members)][:NEWEST_LISTED]


def test_a_message_with_a_lone_surrogate_lists_its_members(seed: int) -> None:
    rng = random.Random(seed)
    ids = [f"{id} " for id in hostile_ids(rng, 20)]
    change = ClusterChange("c", "split", 20, Listed.of(ids), "c", (), "half \udc80 of a pair")
    [(_, value, _)] = cluster_messages([change], 7)
    assert value is not None
    assert (json.loads(value)["members"], json.loads(value)["split_from"]) == (ids, "half \udc80 of a pair")
