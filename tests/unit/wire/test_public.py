"""The users' contract, byte for byte."""

import json

import pytest
from hypothesis import given

from stream_lsh.kinds.record.results import GOLDEN_BYTES, entity_messages
from stream_lsh.ledger.changes import (
    ClusterChange,
    EntitySummary,
    MatchChange,
    MemberChange,
    MirrorChange,
    StorySummary,
)
from stream_lsh.ledger.sites.mirrors import SiteMirrors, SitePair
from stream_lsh.model import First, Outlet
from stream_lsh.wire.public import (
    PUBLIC_BYTES,
    VALUE_BYTES,
    PublicMessage,
    cluster_messages,
    match_messages,
    member_messages,
    mirror_messages,
)
from tests.unit.wire.strategies import STRINGS


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


def test_a_match_by_containment_has_the_number_of_shingles_of_each() -> None:
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
def test_the_json_of_any_id_is_valid_and_holds_the_id(left: str, right: str) -> None:
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


# -- the largest


def longest_ids(count: int) -> tuple[str, ...]:
    """Distinct ids of 1 KB, each byte of which takes six in JSON."""
    return tuple(f"{number:04x}".translate({ord(digit): ord(digit) - 0x2F for digit in "0123456789"}) + "\x01" * 1_020
                 for number in range(count))  # fmt: skip


def size_of(message: PublicMessage) -> int:
    key, value, headers = message
    return len(key) + len(value or b"") + sum(len(name) + len(content) for name, content in headers)


def test_a_cluster_lists_what_fits_and_counts_what_it_omits() -> None:
    ids = longest_ids(100)
    change = ClusterChange(ids[0], "joined", 2_000, ids, ids[1], (), None, 1, 2)
    message = cluster_message(change, 7)
    value = json.loads(message[1] or b"")
    listed = len(value["members"])
    assert size_of(message) <= PUBLIC_BYTES
    assert value["members"] == list(ids[:listed])
    assert (value["size"], value["members_omitted"]) == (2_000, 100 - listed)
    assert "merged_from_omitted" not in value
    longer = len(json.dumps(ids[listed], separators=(",", ":"))) + 1
    assert VALUE_BYTES - len(message[1] or b"") < longer + 64, "another member would have had room"


def test_a_cluster_that_fits_omits_nothing_and_has_the_same_bytes_as_ever() -> None:
    ids = tuple(f"{number:01000}" for number in range(100))
    value = cluster_message(ClusterChange("a", "joined", 2_000, ids, "b", ids[:3], "c", 1, 2), 7)[1] or b""
    assert value == (
        b'{"cluster":"a","event":"joined","size":2000,"members":["' + '","'.join(ids).encode() + b'"],'
        b'"representative":"b","merged_from":["' + '","'.join(ids[:3]).encode() + b'"],"split_from":"c",'
        b'"first_time":1,"last_time":2,"version":7}'
    )


def test_a_merge_of_more_clusters_than_fit_lists_the_first_and_leaves_the_members_their_room() -> None:
    merged = tuple(f"{number:0500}" for number in range(3_000))
    few, many = tuple(f"m{number}" for number in range(100)), longest_ids(100)
    for members, omitted in ((few, False), (many, True)):
        message = cluster_message(ClusterChange("a", "merged", 9_000, members, "b", merged, None, 1, 2), 7)
        value = json.loads(message[1] or b"")
        assert VALUE_BYTES - 8_000 < size_of(message) <= PUBLIC_BYTES
        assert value["merged_from"] == list(merged[: len(value["merged_from"])])
        assert value["merged_from_omitted"] == len(merged) - len(value["merged_from"])
        assert ("members_omitted" in value) == omitted
        assert len(value["members"]) == 100 - value.get("members_omitted", 0)
        assert len(json.dumps(value["members"], separators=(",", ":"))) > VALUE_BYTES // 3 or not omitted


def test_the_largest_story_fits() -> None:
    ids, source = longest_ids(100), "\x01" * 100
    outlets = tuple(Outlet(source[:-2] + f"{number:02}", -(1 << 53), 1 << 31) for number in range(100))
    summary = StorySummary("\x01" * 200, outlets, 1 << 31, First(ids[0], source, -(1 << 53)))
    change = ClusterChange(
        ids[0] + "~9223372036854775807" * 5,
        "merged",
        1 << 31,
        ids,
        ids[1],
        ids,
        ids[2],
        -(1 << 53),
        1 << 53,
        None,
        summary,
    )
    message = cluster_message(change, (1 << 63) - 1)
    value = json.loads(message[1] or b"")
    assert size_of(message) <= PUBLIC_BYTES
    assert len(value["sources"]) == 100
    assert min(len(value["members"]), len(value["merged_from"])) > 5


def test_an_entity_lists_what_fits_of_members_and_of_the_golden_record() -> None:
    ids = longest_ids(100)
    golden = {f"field{number}": "\x01" * 5_000 for number in range(20)} | {"small": "x"}
    summary = EntitySummary(tuple((id, "s" * 100) for id in ids), json.dumps(golden))
    change = ClusterChange(ids[0], "merged", 1 << 31, (), ids[1], ids, ids[2], 1, 2, None, summary)
    ((key, value, headers),) = entity_messages([change], 7)
    found = json.loads(value or b"")
    assert size_of((key, value, headers)) <= PUBLIC_BYTES
    assert found["golden"] == {f"field{number}": golden[f"field{number}"] for number in range(4)} | {"small": "x"}
    assert found["golden_omitted"] == 16
    assert found["members"] == [{"id": id, "source": "s" * 100} for id in ids[: len(found["members"])]]
    assert found["members_omitted"] == 100 - len(found["members"]) > 0
    assert found["merged_from_omitted"] == 100 - len(found["merged_from"]) > 0


def test_the_golden_record_of_a_single_record_always_fits() -> None:
    fields = {f"f{number}": "x" * 1_000 for number in range(130)}
    spare = GOLDEN_BYTES - len(json.dumps(fields, separators=(",", ":")))
    for more, omitted in ((0, None), (1, 1)):
        golden = json.dumps(fields | {"f0": "x" * (1_000 + spare + more)}, separators=(",", ":"))
        assert len(golden) == GOLDEN_BYTES + more
        change = ClusterChange("a", "created", 2, (), "a", summary=EntitySummary((("a", ""), ("b", "")), golden))
        value = json.loads(entity_messages([change], 7)[0][1] or b"")
        assert value.get("golden_omitted") == omitted
