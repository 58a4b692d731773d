"""The table of `tail clusters`: the newest message stands on top, in the columns that the data have."""

import json
from io import StringIO

import pytest
from rich.console import Console

from stream_lsh.cli.output.cluster_table import ClusterTable
from stream_lsh.cli.output.terminal import columns, plain


def message(size: int, newest: str, **more: object) -> bytes:
    return json.dumps({"event": "joined", "size": size, "members": [newest], "representative": "r", **more}).encode()


def lines(cluster_table: ClusterTable, width: int, height: int) -> list[str]:
    """The view of a table on a screen."""
    screen = Console(file=StringIO(), width=width, height=height)
    screen.print(cluster_table.view(height))
    assert isinstance(screen.file, StringIO)
    return [line.rstrip() for line in screen.file.getvalue().splitlines()]


def test_the_cluster_that_changed_last_is_on_top_and_one_that_is_gone_is_not_there() -> None:
    cluster_table = ClusterTable("news")
    for id in ("one", "two", "three"):
        cluster_table.cluster(id, message(2, id, headline=f"About {id}"))
    cluster_table.cluster("one", message(3, "later", headline="About one"))
    cluster_table.cluster("two", None)
    title, _, _, *rows = lines(cluster_table, 100, 40)
    assert title == "news: 2 clusters, 5 documents"
    assert [row.split()[-1] for row in rows] == ["one", "three"]
    assert "later" in rows[0]


def test_the_similarity_is_that_of_the_newest_document_whichever_message_came_first() -> None:
    before, after = ClusterTable("news"), ClusterTable("news")
    before.member("b", b'{"cluster":"a","similarity":0.8125,"time":1}')
    before.cluster("a", message(2, "b"))
    after.cluster("a", message(2, "b"))
    after.member("b", b'{"cluster":"a","similarity":0.8125,"time":1}')
    assert lines(before, 80, 9) == lines(after, 80, 9)
    assert "0.8125" in lines(before, 80, 9)[3]
    before.member("b", b'{"cluster":"a","time":1}')  # held by an identical document only
    assert "0.8125" not in lines(before, 80, 9)[3]


@pytest.mark.parametrize("value", [b"garbage", b"[1]", b"5", b'{"a": 1}'])
def test_a_message_of_another_program_is_no_row(value: bytes) -> None:
    cluster_table = ClusterTable("news")
    cluster_table.cluster("a", message(2, "b"))
    cluster_table.cluster("x", value)
    cluster_table.member("b", value)
    title, _, _, row = lines(cluster_table, 80, 9)
    assert (title, row.split()[-1]) == ("news: 1 cluster, 2 documents", "r")


def test_no_line_is_longer_than_the_screen_is_wide_and_no_table_higher() -> None:
    cluster_table = ClusterTable("news")
    for number in range(30):
        cluster_table.cluster(str(number), message(2, "e\u0301" * 50, headline="新聞" * 60))
    for width in (1, 10, 40, 41, 80, 200):
        for height in (1, 3, 4, 20):
            shown = lines(cluster_table, width, height)
            assert max(map(columns, shown)) <= width
            assert len(shown) <= max(height, 3)


def test_control_characters_are_escaped() -> None:
    cluster_table = ClusterTable("news")
    cluster_table.cluster("a", message(2, "x\x1b[2J", headline="gone\r\n\x9b31m\u202eback\ud800"))
    row = lines(cluster_table, 120, 9)[3]
    assert row.isprintable()
    assert "x\\x1b[2J" in row
    assert "gone\\x0d\\x0a\\x9b31m\\u202eback\ufffd" in row
    assert plain("Größe, 新聞, \u05d0") == "Größe, 新聞, \u05d0"


def test_memory_stays_flat_and_the_title_states_that_there_are_more() -> None:
    cluster_table = ClusterTable("news")
    for number in range(20_000):
        cluster_table.cluster(str(number), message(2, str(number)))
        cluster_table.member(str(number), b'{"cluster":"a","similarity":0.5,"time":1}')
    assert lines(cluster_table, 80, 9)[0] == "news: the latest 500 clusters, 1,000 documents"
    assert len(lines(cluster_table, 80, 10_000)) == 3 + 500
    assert len(cluster_table._similarities) == 10_000
