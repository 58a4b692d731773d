"""The library classes and their results as HTML in a notebook."""

import html
import re
from random import Random

import numpy as np
import pytest

from stream_lsh import NearDuplicates, NearestNeighbours, Record, RecordLinker, SimilarSets
from stream_lsh.markup.bars import histogram
from stream_lsh.settings.units import counted
from tests.unit.cli.commands.files.test_reports import HOSTILE, Elements, bars_of

TEXTS = ["one two three four five six seven", "one two three four five six eight", "one two three four nine ten"]


def text_of(shown: str) -> str:
    return html.unescape(re.sub("<[^>]*>", " ", shown))


def test_a_collection_shows_its_counts_all_similarities_and_the_largest_clusters() -> None:
    near = NearDuplicates(threshold=0.3)
    near.add_many((f"{group}-{n}", f"{TEXTS[n % 3]} {group} a b c d") for group in range(9) for n in range(group))
    shown = near._repr_html_()
    matches, clusters = near.matches(), near.clusters()
    assert f"NearDuplicates: {len(near)} items, {len(matches)} pairs, {counted(len(clusters), 'cluster')}" in text_of(
        shown
    )
    assert sum(bars_of(shown).values()) == len(matches) > 20
    assert "threshold 0.3" in shown
    sizes = re.findall('data-label="size">(.*?)<', shown)
    assert [*map(int, sizes)] == sorted((len(one.members) for one in clusters), reverse=True)[:5]
    near.remove("8-0")
    assert f"{len(near.matches())} pairs" in text_of(near._repr_html_())


def test_sets_vectors_and_records_have_their_own_scales() -> None:
    sets = SimilarSets(threshold=0.5)
    sets.add("a", ["milk", "bread", "eggs"]), sets.add("b", ["milk", "bread", "eggs", "tea"])
    assert sum(bars_of(sets._repr_html_()).values()) == 1
    assert "threshold 0.5" in sets._repr_html_()
    points = NearestNeighbours(2, distance=20, measure="cosine")
    points.add("north", [0, 1]), points.add("nearly", [0.1, 1])
    shown = points._repr_html_()
    assert "greatest distance 20" in shown
    assert shown.index('<th scope="row"') < shown.index("greatest distance 20"), "nearer pairs are below the threshold"
    linker = RecordLinker("people")
    linker.add(Record("1", {"name": "Jane Doe", "dob": "1980-02-03"}))
    linker.add(Record("2", {"name": "Jane Doe", "dob": "1980-02-03"}))
    assert f"match from {linker.profile.match:g}" in linker._repr_html_()
    assert "Pairs by probability" in linker._repr_html_()


def test_a_value_below_the_first_edge_by_a_rounding_error_is_in_the_first_bin() -> None:
    points = NearestNeighbours(3, distance=90)
    points.add_many([("a", [1, 2, -1]), ("b", [2, 1, 1])])  # at 60 degrees, or the float below it
    assert bars_of(points._repr_html_())["60 to 65"] == 1
    shown = "".join(histogram(np.array([0.7999999999999999, 0.97]), {}, "without thresholds"))
    assert sum(bars_of(shown).values()) == 2


def test_an_empty_collection_is_a_line() -> None:
    assert NearDuplicates()._repr_html_() == "<p>NearDuplicates: 0 items, 0 pairs, 0 clusters</p>"


def test_scores_are_waterfalls_that_add_up() -> None:
    random = Random(1)
    records = [
        Record(f"{n}{copy}", {"given_name": name, "surname": f"Smith{n}", "dob": f"19{n}-02-03"})
        for n, name in ((n, random.choice(["Ann", "Bob", "Cem"])) for n in range(40, 99))
        for copy in "ab"[: 1 + n % 2]
    ]
    linker = RecordLinker.learned("people", records)
    linker.add_many(records)
    match = linker.matches()[0]
    shown = match._repr_html_()
    *amounts, total = (
        float(one.replace("\u2212", "-")) for one in re.findall(r">([+\u2212]?[\d.]+)(?:</strong>)?</td>", shown)
    )
    assert total == pytest.approx(match.score, abs=0.006)
    assert sum(amounts) == pytest.approx(total, abs=0.05)
    assert len(amounts) == 1 + len(match.weights)
    evidence = linker.explain(match.left, match.right)._repr_html_()
    assert re.findall("<strong>(.*?)</strong>", evidence)[1] == re.findall("<strong>(.*?)</strong>", shown)[1]


def test_texts_in_records_and_ids_only_show() -> None:
    linker = RecordLinker("people")
    for n in range(2):
        linker.add(Record(f"{HOSTILE}{n}", {"name": HOSTILE, "dob": "1980-02-03", "city": [HOSTILE, "x"]}))
    ((match,), (entity,)) = linker.matches(), linker.entities()
    near = NearDuplicates()
    near.add_many((f"{HOSTILE}{n}", TEXTS[0]) for n in range(2))
    for one in (linker, match, entity, near, linker.explain(match.left, match.right)):
        shown = one._repr_html_()
        assert Elements(shown).names <= set("p table caption thead tbody tr th td svg rect bdi strong".split())
        assert "&lt;script&gt;" in shown or "script alert" in shown, "compared values are in standard form"
        assert not {"\x1b", "\u202e"} & set(shown)


def test_a_large_collection_has_a_small_page() -> None:
    near = NearDuplicates(threshold=0.5)
    near.add_many((f"{n % 30:03}-{n}{'<' * 100}", f"{TEXTS[0]} {n % 30} {n % 30}x {n % 30}y") for n in range(600))
    assert len(near._repr_html_()) < 60_000
    assert near._repr_html_().count("<tr><td") == 5
