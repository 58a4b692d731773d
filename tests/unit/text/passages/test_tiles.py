"""Tiles, compared with a greedy string tiling that looks at every place again and again."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.text.passages.tiles import MOST_PLACES, Tile, tiles

few_symbols = st.lists(st.integers(0, 4), max_size=14)


def hashes(symbols: list[int]) -> np.ndarray:
    return np.array(symbols, np.uint64)


def greedy(left: list[int], right: list[int], least: int) -> int:
    """How much the textbook's algorithm covers: the longest free run first, until there is none."""
    taken, taken_right, covered = set[int](), set[int](), 0
    while True:
        best = 0, 0, 0
        for i in range(len(left)):
            for j in range(len(right)):
                size = 0
                while (
                    i + size < len(left)
                    and j + size < len(right)
                    and left[i + size] == right[j + size]
                    and i + size not in taken
                    and j + size not in taken_right
                ):
                    size += 1
                best = max(best, (size, -i, -j))
        size, i, j = best[0], -best[1], -best[2]
        if size < least:
            return covered
        taken |= set(range(i, i + size))
        taken_right |= set(range(j, j + size))
        covered += size


@given(few_symbols, few_symbols, st.integers(1, 4))
def test_tiles_cover_what_greedy_string_tiling_covers(left: list[int], right: list[int], least: int) -> None:
    found = tiles(hashes(left), hashes(right), least)
    assert sum(tile.length for tile in found) == greedy(left, right, least)


@given(few_symbols, few_symbols, st.integers(1, 4))
def test_tiles_are_equal_runs_that_overlap_in_neither_text(left: list[int], right: list[int], least: int) -> None:
    found = tiles(hashes(left), hashes(right), least)
    assert all(tile.length >= least for tile in found)
    assert all(left[a : a + n] == right[b : b + n] and len(left[a : a + n]) == n for a, b, n in found)
    for places in ([(a, n) for a, _, n in found], [(b, n) for _, b, n in found]):
        covered = [place for start, size in places for place in range(start, start + size)]
        assert len(covered) == len(set(covered))
    assert found == sorted(found)


def test_a_passage_that_was_moved_is_found_where_it_is_now() -> None:
    assert tiles(hashes([1, 2, 3, 4, 5]), hashes([4, 5, 9, 1, 2, 3]), 2) == [Tile(0, 3, 3), Tile(3, 0, 2)]


def test_a_frequent_run_begins_no_passage_but_is_part_of_one() -> None:
    many = [7] * (MOST_PLACES + 1)
    assert tiles(hashes([7, 2]), hashes([*many, 1])) == []
    assert tiles(hashes([7, 1]), hashes([*many, 1])) == [Tile(0, MOST_PLACES, 2)]
    assert tiles(hashes([1, 7, 7, 2]), hashes([1, 7, 7, 2, *many])) == [Tile(0, 0, 4)]
    text = [*range(10, 50), 7] + [part for at in range(60, 80) for part in (at, 7)]
    assert tiles(hashes(text), hashes(text)) == [Tile(0, 0, len(text))]


def test_texts_without_shingles_share_nothing() -> None:
    assert tiles(hashes([]), hashes([1])) == tiles(hashes([1]), hashes([])) == []
