"""Applications, each with a small case: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, chapter 3."""

import re
from collections import Counter
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from stream_lsh import (
    DuplicateCode,
    Match,
    NearDuplicates,
    NearestNeighbours,
    PartialCopies,
    Record,
    RecordLinker,
    SimilarSets,
)
from stream_lsh.kinds.set.grid_scheme import GridScheme
from stream_lsh.ledger.sites.mirrors import PagePair, Sites, inside
from stream_lsh.lsh.families.lengths import about_equal
from stream_lsh.measure.distances import distance
from stream_lsh.text.page import read_page

SENTENCES = (
    "the old bridge over the river was closed to all traffic on monday because the engineers found cracks in it",
    "a man who had crossed the bridge every morning for forty years claimed that he had never heard it groan like that",
    "the council will meet on friday to decide whether the bridge can be repaired or has to be replaced by a new one",
)
ARTICLE = ". ".join(SENTENCES)
OTHER = "the team won the cup for the first time in a century and the whole town was on its feet until the next day"


# Mirror pages and mirror sites


def test_sites_of_which_one_has_the_pages_of_the_other_within_frames_are_mirrors_in_that_direction() -> None:
    pages = {
        "full.example/bridge": ARTICLE,
        "full.example/cup": OTHER,
        "copy.example/7": f"home news sport {ARTICLE} imprint contact",
    }
    near = NearDuplicates(0.8, measure="containment")
    (match,) = near.add_many(list(pages.items()))
    sites = Sites()
    for page in pages:
        sites.add_pages(page.partition("/")[0], 1)
    sites.add(page_pair(match, 0.8))
    pair = sites.pair("copy.example", "full.example")
    assert (pair.left_pages, pair.right_pages) == (1, 2)
    assert (pair.left_share, pair.right_share) == (1.0, 0.5)


def page_pair(match: Match, threshold: float) -> PagePair:
    assert match.left_shingles is not None
    assert match.right_shingles is not None
    left, right = (page.partition("/")[0] for page in (match.left, match.right))
    held = [inside(match.shared, size, threshold) for size in (match.left_shingles, match.right_shingles)]
    return PagePair(match.left, match.right, left, right, *held)


# Articles from one source


def page(menu: str, article: str) -> str:
    return f"<html><body><nav>{menu}</nav><article><h1>News</h1><p>{article}</p></article></body></html>"


def test_articles_of_one_agency_in_different_pages_are_one_story() -> None:
    pages = {
        "herald": page("Home Sport Weather Jobs Cars", ARTICLE),
        "post": page("Subscribe Login Local World Opinion Puzzles", ARTICLE),
        "times": page("Home Sport Weather Jobs Cars", OTHER),
    }
    near = NearDuplicates(0.5, "stopword:en")
    near.add_many([(name, read_page(html, "page").text) for name, html in pages.items()])
    assert [set(cluster.members) for cluster in near.clusters()] == [{"herald", "post"}]


def test_documents_of_very_different_lengths_are_no_candidates() -> None:
    lengths = np.array([len(ARTICLE), len(ARTICLE)]), np.array([len(ARTICLE) - 20, len(OTHER)])
    assert about_equal(*lengths, 1 / 0.8).tolist() == [True, False]


# Plagiarism


@pytest.mark.parametrize(
    ("change", "least"),
    [
        (lambda text: text.replace("bridge", "viaduct"), 0.5),
        (lambda text: ". ".join(reversed(text.split(". "))), 0.8),
        (lambda text: f"{OTHER}. {text.split('. ')[1]}. {OTHER[::-1]}", 0.3),
    ],
    ids=["replaced words", "reordered sentences", "a part"],
)
def test_copies_with_changes_are_found_with_the_passages_of_both(change: Callable[[str], str], least: float) -> None:
    copied = change(ARTICLE)
    essays = PartialCopies(least_share=0.2, least_shared=10)
    essays.add("original", ARTICLE, source=True)
    essays.add("essay", copied)
    essays.add("honest", "what I did on my holidays was mostly to sleep and to swim and to read what came along")
    (found,) = essays.find()
    assert {found.left, found.right} == {"original", "essay"}
    assert found.share >= least
    passages = essays.passages(found, least_words=6)
    assert passages
    for one in passages:
        here, there = words(copied[one.left_start : one.left_end]), words(ARTICLE[one.right_start : one.right_end])
        assert (here & there).total() >= one.units >= 6


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


# Duplicate code


@pytest.mark.parametrize(("names", "similar"), [(False, True), (True, False)])
def test_a_function_that_was_renamed_is_a_copy_unless_names_count(names: bool, similar: bool) -> None:
    code = DuplicateCode(least_tokens=15, names=names)
    code.add(
        "bill.py",
        "def total(items):\n    result = 0\n    for one in items:\n        result += one.value\n    return result",
    )
    code.add("cart.py", "def add_up(xs):  # of prices\n    s = 0\n    for x in xs: s += x.price\n    return s")
    assert [(match.left.name, match.right.name) for match in code.matches()] == [("total", "add_up")] * similar


# Customers and products, users and pages


def test_customers_who_bought_the_same_are_similar() -> None:
    baskets = SimilarSets(threshold=0.5)
    sets = {"ann": [1, 2, 3, 4], "bob": [2, 3, 4, 5], "cid": [5, 6], "dan": []}
    (match,) = baskets.add_many(list(sets.items()))
    assert (match.left, match.right, match.similarity) == ("ann", "bob", 3 / 5)


def test_ratings_are_bags() -> None:
    ratings = SimilarSets(threshold=0.4, bag=True)
    (match,) = ratings.add_many([("ann", [*"abcc"]), ("bob", [*"aacccc"])])
    assert match.similarity == 3 / 7


# Nearest neighbours


def test_all_within_a_distance_of_a_vector_and_all_pairs_within_it(seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(60, 8)).astype(np.float32)
    vectors[30:] = vectors[:30] + 0.05 * vectors[30:]
    apart = distance("angle")
    near = NearestNeighbours(8, distance=15)
    near.add_many([(f"{row:02}", vector) for row, vector in enumerate(vectors)])
    wanted = [(a, b) for a, b in combinations(range(60), 2) if apart(vectors[a], vectors[b]) <= 15]
    found = [(int(pair.left), int(pair.right)) for pair in near.pairs()]
    assert set(found) <= set(wanted)
    assert len(found) >= 0.9 * len(wanted) >= 20
    assert [one.id for one in near.within(vectors[0])][:2] == ["00", "30"]


# Entity resolution


def test_records_of_one_person_score_high_and_of_others_low() -> None:
    linker = RecordLinker("people")
    linker.add(Record("1", {"given_name": "Jane", "surname": "Doe", "dob": "1980-02-03", "city": "Leeds"}))
    linker.add(Record("2", {"given_name": "Anna", "surname": "Smith", "dob": "1990-05-02", "city": "York"}))
    (match,) = linker.add(Record("3", {"name": "Jane Doe", "date_of_birth": "1980-02-03", "town": "Leeds"}))
    assert (match.left, match.right) == ("1", "3")
    assert match.probability > 0.99
    assert [sorted(entity.members) for entity in linker.entities()] == [["1", "3"]]


# Fingerprints


def test_1024_triples_find_a_print_of_the_same_finger_and_leave_others_alone() -> None:
    scheme = GridScheme(1000)
    assert scheme.functions == 1024
    assert round(scheme.promise(0.2, 0.8), 3) == 0.985
    assert round(scheme.promise(0.2, 0.2), 3) == 0.063


def test_one_print_against_many_and_many_against_many(seed: int) -> None:
    chance = np.random.default_rng(seed)
    fingers = [chance.choice(1000, 200, replace=False) for _ in range(40)]
    rest = [np.setdiff1d(np.arange(1000), finger) for finger in fingers]
    again = [
        np.concatenate((chance.choice(finger, 170, replace=False), chance.choice(others, 30, replace=False)))
        for finger, others in zip(fingers, rest, strict=True)
    ]
    prints = SimilarSets(threshold=0.4, squares=1000)
    prints.add_many([(f"{number:02}", finger.tolist()) for number, finger in enumerate(fingers)])
    assert prints.matches() == []
    asked = [[found.id for found in prints.query(one.tolist())] for one in again]
    right = sum(found == [f"{number:02}"] for number, found in enumerate(asked))
    assert right >= 36
    assert all(found in ([], [f"{number:02}"]) for number, found in enumerate(asked))
    prints.add_many([(f"{number:02} again", one.tolist()) for number, one in enumerate(again)])
    pairs = {(match.left, match.right) for match in prints.matches()}
    assert pairs <= {(f"{number:02}", f"{number:02} again") for number in range(40)}
    assert len(pairs) >= 36
