"""Near vectors in memory: the pairs are those of all pairs, as often as promised, and none that is too far apart."""

import math
import random
from binascii import b2a_base64
from collections.abc import Callable
from operator import mul
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_lsh import ConfigError, MalformedMessage, NearestNeighbours, Neighbour, SimilarSets, UnusableDocument
from stream_lsh.errors import DamagedBytes, InputError
from stream_lsh.kinds.vector.metric import VECTOR_MEASURES, VectorMeasure
from stream_lsh.kinds.vector.scheme import VectorScheme

Vectors = dict[str, list[float]]
Distances = dict[tuple[str, str], float]


def angle(one: list[float], other: list[float]) -> float:
    """By the cosine: another way than that of the package."""
    cosine = math.fsum(map(mul, one, other)) / (math.hypot(*one) * math.hypot(*other))
    return math.degrees(math.acos(min(1.0, max(-1.0, cosine))))


def differing(one: list[float], other: list[float]) -> float:
    return float(sum(left != right for left, right in zip(one, other, strict=True)))


BETWEEN: dict[str, Callable[[list[float], list[float]], float]] = {
    "cosine": angle, "euclidean": math.dist, "hamming": differing,
}  # fmt: skip
TOLERANCE = {"cosine": 1e-5, "euclidean": 1e-9, "hamming": 0.0}
"""An arc cosine near 1 loses half of its digits."""


def as_stored(vector: Any) -> list[float]:
    found: list[float] = np.array(vector, np.float32).tolist()
    return found


def all_pairs(vectors: Vectors, measure: str, distance: float) -> Distances:
    stored = {id: as_stored(vector) for id, vector in vectors.items()}
    return {
        (left, right): found
        for left in vectors
        for right in vectors
        if left < right and (found := BETWEEN[measure](stored[left], stored[right])) <= distance
    }


def pairs_of(memory: NearestNeighbours) -> Distances:
    return {(pair.left, pair.right): pair.distance for pair in memory.pairs()}


def clouds(measure: str, chance: np.random.Generator, count: int, dimension: int) -> Vectors:
    """Vectors around a few points, some near enough to each other and some not."""
    centres: Any
    rows: Any
    if measure == "hamming":
        centres = chance.integers(0, 2, (count // 4, dimension))
        flips = chance.random((count, dimension)) < chance.choice([0.02, 0.06, 0.1], (count, 1))
        rows = centres[np.arange(count) % len(centres)] ^ flips
    else:
        centres = chance.normal(size=(count // 4, dimension))
        spread = chance.choice([0.05, 0.12, 0.25], (count, 1))
        rows = centres[np.arange(count) % len(centres)] + spread * chance.normal(size=(count, dimension))
    return {f"v{number:04}": row.tolist() for number, row in enumerate(rows)}


SETTINGS = [("cosine", 32, 15.0), ("cosine", 3, 6.0), ("euclidean", 32, 1.5), ("hamming", 128, 12)]


@pytest.mark.parametrize(("measure", "dimension", "distance"), SETTINGS)
def test_pairs_are_found_as_often_as_promised_and_none_is_too_far(
    measure: str, dimension: int, distance: float, seed: int
) -> None:
    chance, found, wanted = np.random.default_rng(seed), 0, 0
    for number in range(4):
        vectors = clouds(measure, chance, 80, dimension)
        memory = NearestNeighbours(dimension, distance, measure, seed=number)
        memory.add_many(vectors.items())
        pairs, true = pairs_of(memory), all_pairs(vectors, measure, distance)
        assert pairs.keys() <= true.keys()
        assert all(abs(pairs[pair] - true[pair]) <= TOLERANCE[measure] for pair in pairs)
        assert max(pairs.values()) <= distance
        found, wanted = found + len(pairs), wanted + len(true)
    # Each is found with a probability of at least 0.989: six standard deviations below that.
    assert wanted > 80
    assert found >= 0.989 * wanted - 6 * math.sqrt(0.989 * 0.011 * wanted)


@pytest.mark.parametrize(("measure", "dimension", "distance"), [("cosine", 16, 30.0), ("hamming", 64, 9)])
def test_pairs_at_the_distance_itself_are_found_with_the_recall(
    measure: str, dimension: int, distance: float, seed: int
) -> None:
    chance, found, count = np.random.default_rng(seed), 0, 200
    for number in range(count):
        scheme = VectorScheme(VectorMeasure(name=measure, dimension=dimension, distance=distance), seed=number)
        if measure == "hamming":
            one = chance.integers(0, 2, dimension)
            other = one.copy()
            other[chance.permutation(dimension)[: int(distance)]] ^= 1
        else:
            one, across = np.linalg.qr(chance.normal(size=(dimension, 2)))[0].T
            other = math.cos(math.radians(distance)) * one + math.sin(math.radians(distance)) * across
        rows = np.array([one, other], np.uint8 if measure == "hamming" else np.float32)
        values = scheme._hashes(rows)
        buckets = scheme._bands(values)
        found += bool((buckets[0] == buckets[1]).any())
    promised = scheme.banding.probability_at_threshold
    assert promised >= 0.989
    assert abs(found - count * promised) <= 5 * math.sqrt(count * promised * (1 - promised))


VALUES = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0])
ACTIONS = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.none() | st.lists(VALUES, min_size=3, max_size=3)), max_size=25
)


@settings(max_examples=30)
@given(ACTIONS, st.sampled_from(["cosine", "euclidean"]))
def test_any_history_ends_with_the_pairs_of_what_survived_it(actions: list[tuple[str, Any]], measure: str) -> None:
    distance = {"cosine": 20.0, "euclidean": 1.2}[measure]
    memory, live = NearestNeighbours(3, distance, measure), dict[str, list[float]]()
    for id, vector in actions:
        if vector is None:
            assert memory.remove(id) == (live.pop(id, None) is not None)
        elif measure == "euclidean" or any(vector):
            memory.add(id, vector)
            live[id] = vector
    found, true = pairs_of(memory), all_pairs(live, measure, distance + TOLERANCE[measure])
    assert found.keys() <= true.keys()
    equal = {pair for pair in true if live[pair[0]] == live[pair[1]]}
    assert found.keys() >= equal
    assert all(found[pair] == 0 for pair in equal)


def test_all_within_the_distance_of_a_vector_are_found_the_nearest_first(seed: int) -> None:
    chance = np.random.default_rng(seed)
    vectors = clouds("euclidean", chance, 200, 16)
    memory = NearestNeighbours(16, 1.0, "euclidean")
    memory.add_many(vectors.items())
    found = wanted = 0
    for vector in [*vectors.values()][:50]:
        near = memory.within(vector)
        assert near == sorted(near, key=lambda one: (one.distance, one.id))
        true = {id for id, other in vectors.items() if math.dist(as_stored(vector), as_stored(other)) <= 1.0}
        assert {one.id for one in near} <= true
        found, wanted = found + len(near), wanted + len(true)
    assert wanted > 80
    assert found >= 0.989 * wanted - 6 * math.sqrt(0.989 * 0.011 * wanted)
    assert len(memory) == 200


def test_a_vector_can_be_written_in_several_ways() -> None:
    numbers = np.array([1.5, -2.0, 0.0], "<f4")
    memory = NearestNeighbours(3, 1.0, "euclidean")
    for id, vector in (
        ("list", [1.5, -2, -0.0]),
        ("array", numbers),
        ("scalars", [*numbers]),
        ("text", b2a_base64(numbers.tobytes()).decode().strip()),
    ):
        memory.add(id, vector)
    assert [pair.distance for pair in memory.pairs()] == [0.0] * 6
    assert [cluster.members for cluster in memory.clusters()] == [("text", "scalars", "list", "array")]
    bits = NearestNeighbours(8, 1, "hamming")
    for id, value in (
        ("list", [1, 0, 1, 0, 0, 0, 0, 1]),
        ("bits", "10100001"),
        ("digits", "A1"),
        ("flags", np.array([1, 0, 1, 0, 0, 0, 0, 1], np.bool_)),
    ):
        bits.add(id, value)
    assert bits.within("a0") == [Neighbour(id, 1.0) for id in ("bits", "digits", "flags", "list")]
    assert NearestNeighbours(12, 1, "hamming").add("odd", "abc") == []


@pytest.mark.parametrize(
    ("measure", "vector", "error", "message"),
    [
        ("cosine", [0, 0, 0, -0.0], UnusableDocument, "got only zeros as `vector`"),
        ("cosine", [1e-60, 0, 0, 0], UnusableDocument, "got only zeros as `vector`"),
        ("cosine", [1, 2, 3], UnusableDocument, "got 3 values as `vector`, expected 4"),
        ("cosine", [1, 2, 3, math.nan], UnusableDocument, "infinite, not a number"),
        ("cosine", [1, 2, 3, math.inf], UnusableDocument, "infinite, not a number"),
        ("cosine", [1, 2, 3, 1e39], UnusableDocument, "beyond float32"),
        ("cosine", [1, 2, 3, 10**400], UnusableDocument, "beyond float32"),
        ("cosine", [1, 2, 3, "4"], MalformedMessage, "got '4' in `vector`, expected numbers"),
        ("cosine", [np.float32(1), 2, 3, np.True_], MalformedMessage, "got np.True_ in `vector`"),
        ("cosine", [1, 2, 3, True], MalformedMessage, "got True in `vector`"),
        ("cosine", [1, 2, 3, None], MalformedMessage, "got None in `vector`"),
        ("cosine", {"x": 1}, MalformedMessage, "got a value of type dict as `vector`"),
        ("cosine", None, MalformedMessage, "got no `vector`, expected a vector of 4 values"),
        ("cosine", "not base64!", MalformedMessage, "that is not base64"),
        ("cosine", "AACAPwAA", UnusableDocument, "got 1.5 values as `vector`, expected 4"),
        ("cosine", np.array([["a"]]), MalformedMessage, "got an array of <U1 in 2 dimensions"),
        ("euclidean", [3e38, 0, 0, 0], UnusableDocument, "too large for the `distance`"),
        ("hamming", [0, 1, 2, 1], UnusableDocument, "neither 0 nor 1"),
        ("hamming", "0121", UnusableDocument, "expected 4 of 0 and 1, or 1 hexadecimal digits"),
        ("hamming", "01", UnusableDocument, "got a string of 2 characters"),
        ("hamming", "g", UnusableDocument, "got a string of 1 characters"),
    ],
)
def test_unusable_vectors_are_rejected(measure: str, vector: Any, error: type[InputError], message: str) -> None:
    memory = NearestNeighbours(4, 1.0, measure)
    with pytest.raises(error) as caught:
        memory.add("a", vector)
    assert message in str(caught.value)
    assert caught.value.reason == "vector"
    assert "a" not in memory


def test_the_farthest_vectors_that_are_taken_can_be_signed() -> None:
    memory = NearestNeighbours(2, 1.0, "euclidean")
    reach = memory._form.reach
    for vector in ([reach, 0], [0, -reach], [reach / 2, -reach / 2]):
        assert memory.add(str(vector), np.nextafter(np.array(vector, np.float32), np.float32(0))) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1.0), "dimension: got 0, expected 1 to 65536"),
        ((4, 0.0), "distance: got 0, expected degrees, above 0 and below 180"),
        ((4, 180.0), "distance: got 180, expected degrees"),
        ((4, 4, "hamming"), "distance: got 4, expected positions, above 0 and below 4"),
        ((4, math.inf, "euclidean"), "distance: got inf, expected a length"),
        ((4, 1.0, "cosinus"), "measure: got 'cosinus', expected cosine, euclidean, hamming; did you mean 'cosine'?"),
        ((4, 179.0), "these are probabilities that a function agrees, at the distance 179: or lower that"),
        ((4, 1.0, "cosine", 2.0), "recall: got 2.0"),
    ],
)
def test_invalid_settings_are_rejected(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        NearestNeighbours(*arguments)
    assert message in str(caught.value)
    with pytest.raises(ConfigError, match="line_width: got 3, expected none, as the measure is cosine"):
        NearestNeighbours(4, 1.0, line_width=3)


@pytest.mark.parametrize("measure", VECTOR_MEASURES)
def test_the_similarity_reaches_the_least_exactly_up_to_the_distance(measure: str, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(300):
        distance = chance.uniform(0.001, 60.0) if measure != "hamming" else float(chance.randrange(1, 64))
        made = VectorMeasure(name=measure, dimension=64, distance=distance)
        at = np.array([distance, np.nextafter(distance, 0), np.nextafter(distance, 1e9), distance * chance.random()])
        similarity = made.similarity(at)
        assert ((similarity >= made.least) == (at <= distance)).all()
        assert similarity[2] == 0


@pytest.mark.parametrize(("measure", "dimension", "distance"), SETTINGS)
def test_a_file_brings_everything_back(
    measure: str, dimension: int, distance: float, tmp_path: Path, seed: int
) -> None:
    vectors = clouds(measure, np.random.default_rng(seed), 80, dimension)
    memory = NearestNeighbours(dimension, distance, measure)
    memory.add_many((id, vector, number) for number, (id, vector) in enumerate(vectors.items()))
    memory.remove("v0003")
    memory.save(tmp_path / "vectors")
    again = NearestNeighbours.load(tmp_path / "vectors")
    assert memory.pairs()
    assert (again.pairs(), again.clusters(), len(again)) == (memory.pairs(), memory.clusters(), 79)
    assert again.within(vectors["v0003"]) == memory.within(vectors["v0003"])
    with pytest.raises(DamagedBytes):
        SimilarSets.load(tmp_path / "vectors")


@pytest.mark.parametrize(("distance", "share"), [(20.0, 0.0023), (45.0, 0.228)])
def test_few_vectors_at_right_angles_become_candidates_where_the_distance_is_small(
    distance: float, share: float
) -> None:
    # As docs/guides/vectors.md has it.
    scheme = VectorScheme(VectorMeasure(name="cosine", dimension=64, distance=distance))
    assert abs(scheme.banding.probability_at(0.5) - share) <= 0.01 * share


def test_vectors_too_far_apart_in_time_are_no_neighbours() -> None:
    memory = NearestNeighbours(2, 10.0, retention_ms=1_000)
    assert memory.add("a", [1, 0], 0) == []
    assert [pair.left for pair in memory.add("b", [1, 0], 1_000)] == ["a"]
    assert [pair.left for pair in memory.add("c", [1, 0], 1_001)] == ["b"]
    assert memory.within([1, 0], 2_000) == [Neighbour("b", 0.0), Neighbour("c", 0.0)]
