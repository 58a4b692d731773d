"""The users' contract, byte for byte."""

import json

import pytest
from hypothesis import given

from stream_lsh.ledger.changes import ClusterChange, MatchChange, MemberChange, MirrorChange
from stream_lsh.ledger.sites import SiteMirrors, SitePair
from stream_lsh.wire.public import PublicMessage, cluster_messages, match_messages, member_messages, mirror_messages
from tests.unit.wire_strategies import STRINGS


def match_message(pipeline: str, change: MatchChange, confirmed_at_ms: int, measure: str = "jaccard") -> PublicMessage:
    (message,) = match_messages(pipeline, [change], confirmed_at_ms, measure)
    return message


def member_message(change: MemberChange) -> PublicMessage:
    (message,) = member_messages([change])
    return message


def cluster_message(change: ClusterChange, version: int) -> PublicMessage:
    (message,) = cluster_messages([change], version)
    return message


def test_a_match() -> None:
    change = MatchChange("doc 1", "größe", 0.875, 7, 8, 1_700_000_000_000, -5)
    assert match_message("news", change, 1_700_000_000_001) == (
        '["doc 1","größe"]'.encode(),
        (
            '{"pipeline":"news","left":"doc 1","right":"größe","similarity":0.875,"measure":"jaccard","shared":7,'
            '"union":8,"left_time":1700000000000,"right_time":-5,"confirmed_at":1700000000001}'
        ).encode(),
        [],
    )


def test_a_match_by_containment_tells_how_many_shingles_each_has() -> None:
    change = MatchChange("a", "b", 1.0, 8, 13, 1, 2, left_shingles=13)
    assert match_message("news", change, 3, "containment")[1] == (
        b'{"pipeline":"news","left":"a","right":"b","similarity":1.0,"measure":"containment","shared":8,"union":13,'
        b'"left_shingles":13,"right_shingles":8,"left_time":1,"right_time":2,"confirmed_at":3}'
    )
    half = change._replace(left="\ud800")
    assert json.loads(match_message("news", half, 3, "containment")[1] or b"")["right_shingles"] == 8


def test_a_withdrawn_match_has_the_key_of_the_match_and_a_reason() -> None:
    assert match_message("news", MatchChange("a", "b", reason="updated"), 5) == (
        match_message("news", MatchChange("a", "b", 1.0), 5)[0],
        None,
        [("reason", b"updated")],
    )


def test_a_member() -> None:
    assert member_message(MemberChange("é", "a", 1.0, 5)) == (
        "é".encode(),
        b'{"cluster":"a","similarity":1.0,"time":5}',
        [],
    )
    assert member_message(MemberChange("b", "a", None, 5)) == (b"b", b'{"cluster":"a","time":5}', [])
    assert member_message(MemberChange("b", reason="expired")) == (b"b", None, [("reason", b"expired")])
    assert member_message(MemberChange("b")) == (b"b", None, [])


def test_a_cluster() -> None:
    change = ClusterChange("a", "merged", 3, ("c", "b", "a"), "b", ("x", "y"), "z", 1, 2)
    assert cluster_message(change, 9) == (
        b"a",
        b'{"cluster":"a","event":"merged","size":3,"members":["c","b","a"],"representative":"b","merged_from":["x","y"],'
        b'"split_from":"z","first_time":1,"last_time":2,"version":9}',
        [],
    )
    assert cluster_message(ClusterChange("a", "created", 2, ("b", "a"), "a"), 9)[1] == (
        b'{"cluster":"a","event":"created","size":2,"members":["b","a"],"representative":"a","first_time":0,"last_time":0,'
        b'"version":9}'
    )


def test_a_cluster_that_is_no_more() -> None:
    assert cluster_message(ClusterChange("a", merged_into="ü"), 9) == (b"a", None, [("merged_into", "ü".encode())])
    assert cluster_message(ClusterChange("a"), 9) == (b"a", None, [])


@given(STRINGS, STRINGS)
def test_whatever_an_id_holds_the_json_is_valid_and_says_it(left: str, right: str) -> None:
    key, value, _ = match_message("p", MatchChange(left, right, 0.5), 1)
    withdrawn, _, _ = match_message("p", MatchChange(left, right), 2)
    assert key == withdrawn
    assert value is not None
    # A pair of escaped surrogates reads back as the one character that it stands for.
    assert json.loads(key.decode()) == json.loads(json.dumps([left, right]))
    assert json.loads(value.decode())["left"] == json.loads(json.dumps(left))
    key, value, _ = member_message(MemberChange(left, right))
    assert key.decode("utf-8", "surrogatepass") == left
    assert value is not None
    assert json.loads(value.decode())["cluster"] == json.loads(json.dumps(right))
    value = cluster_message(ClusterChange(left, "created", 1, (left, right)), 1)[1]
    assert value is not None
    assert json.loads(value.decode())["members"] == json.loads(json.dumps([left, right]))


@pytest.mark.parametrize(
    ("mirrored", "direction"), [((1, 3), "both"), ((1, 0), "left_in_right"), ((0, 3), "right_in_left")]
)
def test_two_sites_that_mirror_each_other(mirrored: tuple[int, int], direction: str) -> None:
    now = SiteMirrors(SitePair("a.org", "größe.org", 4, 4, *mirrored), -5)
    (message,) = mirror_messages([MirrorChange("a.org", "größe.org", now)], 0.25)
    shares = f'"left_share":{mirrored[0] / 4},"right_share":{mirrored[1] / 4}'
    assert message == (
        '["a.org","größe.org"]'.encode(),
        (
            '{"left":"a.org","right":"größe.org","left_pages":4,"right_pages":4,'
            f'"left_mirrored":{mirrored[0]},"right_mirrored":{mirrored[1]},{shares},'
            f'"direction":"{direction}","first_time":-5}}'
        ).encode(),
        [],
    )


def test_sites_with_lone_surrogates_are_escaped() -> None:
    ((key, value, headers),) = mirror_messages([MirrorChange("a", "\ud800")], 0.1)
    assert (key, value, headers) == (b'["a","\\ud800"]', None, [])
