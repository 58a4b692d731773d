"""A running application finds for a document that is not stored what the class in memory finds."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import pytest

from stream_lsh import NearDuplicates, NearestNeighbours, Record, RecordLinker, SimilarSets
from stream_lsh.kinds.in_memory import InMemory
from tests.embedded.applications import application, configured
from tests.unit.worker.query.client import in_loop

WORDS = [f"word{number}" for number in range(2_000)]
DOCUMENTS, QUERIES = 400, 60


def families(seed: int, count: int, size: int, changes: int) -> Iterator[list[int]]:
    """Lists of numbers, of which some differ from earlier ones in few places."""
    rng, known = random.Random(seed), list[list[int]]()
    for _ in range(count):
        if known and rng.random() < 0.6:
            numbers = list(rng.choice(known))
            for _ in range(rng.randrange(changes)):
                numbers[rng.randrange(size)] = rng.randrange(len(WORDS))
        else:
            numbers = [rng.randrange(len(WORDS)) for _ in range(size)]
        known.append(numbers)
        yield numbers


def texts(seed: int, count: int) -> list[str]:
    return [" ".join(WORDS[number] for number in numbers) for numbers in families(seed, count, 40, 8)]


def baskets(seed: int, count: int) -> list[list[int]]:
    return [sorted(set(numbers)) for numbers in families(seed, count, 30, 8)]


def points(seed: int, count: int) -> list[list[float]]:
    return [[float(number) for number in numbers] for numbers in families(seed, count, 16, 3)]


def people(count: int) -> list[dict[str, Any]]:
    """Records of persons, of which some are those of an earlier one with another value."""
    given, surnames = ["ann", "bob", "cleo", "dora", "emil"], ["lee", "ray", "stone", "baker", "hill", "frost"]
    rng, known = random.Random(5), list[dict[str, str]]()
    for number in range(count):
        if known and rng.random() < 0.5:
            fields = {**rng.choice(known), "city": rng.choice(["york", "hull", "leeds"])}
        else:
            fields = {
                "given_name": rng.choice(given) + rng.choice("aeiou"),
                "surname": rng.choice(surnames) + rng.choice(["", "son", "s"]),
                "date_of_birth": f"19{number % 90 + 10}-0{number % 9 + 1}-1{number % 10}",
                "email": f"{number}@example.org",
                "city": "york",
            }
        known.append(fields)
    return [{"fields": fields} for fields in known]


def queries_of(values: Sequence[Any]) -> list[Any]:
    """Some stored values and others that resemble them: every second value is not stored."""
    return [*values[: QUERIES // 2], *values[-QUERIES // 2 :]]


class Case(NamedTuple):
    """A pipeline, its class in memory, and values."""

    keys: str
    memory: InMemory
    member: str
    values: Sequence[Any]
    of_memory: Callable[[Any], list[dict[str, Any]]]

    def add(self, id: str, value: Any) -> None:
        """Store a value in memory."""
        memory: Any = self.memory
        memory.add(Record(id, value["fields"])) if self.member == "record" else memory.add(id, value)

    def message(self, value: Any) -> dict[str, Any]:
        """The same as a message."""
        return dict(value) if self.member == "record" else {self.member: value}


def dicts(rows: Iterable[Any]) -> list[dict[str, Any]]:
    return [row._asdict() for row in rows]


def _texts(keys: str, **settings: Any) -> Case:
    memory, values = NearDuplicates(**settings), texts(1, DOCUMENTS + QUERIES)
    return Case(keys, memory, "text", values, lambda text: dicts(memory.query(text)))


def _sets(keys: str, values: Sequence[Any], **settings: Any) -> Case:
    memory = SimilarSets(**settings)
    return Case(keys, memory, "items", values, lambda items: dicts(memory.query(items)))


def _vectors(keys: str, similarity: Callable[[float], float], **settings: Any) -> Case:
    memory, values = NearestNeighbours(16, **settings), points(3, DOCUMENTS + QUERIES)

    def within(vector: list[float]) -> list[dict[str, Any]]:
        return [{**one, "similarity": similarity(one["distance"])} for one in dicts(memory.within(vector))]

    return Case(keys, memory, "vector", values, within)


def _records() -> Case:
    memory, values = RecordLinker("people"), people(DOCUMENTS + QUERIES)

    def search(record: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {
                "id": one.id,
                "probability": one.probability,
                "review": one.probability < memory.profile.match,
                "evidence": {"score": one.score, "weights": dict(one.weights), "rules": list(one.rules)},
            }
            for one in memory.search(record["fields"])
        ]

    return Case("kind = 'record'\nprofile = 'people'", memory, "record", values, search)


CASES: dict[str, Callable[[], Case]] = {
    "text": lambda: _texts("threshold = 0.5", threshold=0.5),
    "containment": lambda: _texts("threshold = 0.6\nmeasure = 'containment'", threshold=0.6, measure="containment"),
    "exact": lambda: _texts("threshold = 0.6\nmethod = 'exact'", threshold=0.6, method="exact"),
    "set": lambda: _sets("kind = 'set'\nthreshold = 0.5", baskets(2, DOCUMENTS + QUERIES), threshold=0.5),
    "bag": lambda: _sets(
        "kind = 'set'\nbag = true\nthreshold = 0.5", [*families(2, DOCUMENTS + QUERIES, 30, 8)], threshold=0.5, bag=True
    ),
    "grid": lambda: _sets(
        "kind = 'set'\nfamily = 'grid'\nthreshold = 0.5\ngrid.squares = 2000",
        baskets(2, DOCUMENTS + QUERIES),
        threshold=0.5,
        squares=2_000,
    ),
    "cosine": lambda: _vectors(
        "kind = 'vector'\ndimension = 16\ndistance = 20.0", lambda d: 1 - d / 180, distance=20.0
    ),
    "euclidean": lambda: _vectors(
        "kind = 'vector'\nmeasure = 'euclidean'\ndimension = 16\ndistance = 900.0",
        lambda d: 1 / (1 + d),
        distance=900.0,
        measure="euclidean",
    ),
    "record": _records,
}


@pytest.mark.parametrize(
    ("name", "partitions", "processes"), [*((name, 4, 2) for name in CASES), ("text", 1, 1), ("text", 7, 3)]
)
@in_loop
async def test_the_matches_are_those_of_the_class_in_memory(name: str, partitions: int, processes: int) -> None:
    case = CASES[name]()
    stored = [*enumerate(case.values[:DOCUMENTS])]
    for at, value in stored:
        case.add(f"d{at}", value)
    async with application(configured(partitions, case.keys), processes) as running:
        await running.send((f"d{at}", case.message(value)) for at, value in stored)
        found = 0
        for at, value in enumerate(queries_of(case.values)):
            query = {case.member: value, "limit": 1_000}
            answer = await running.clients[at % processes].post("/v1/pipelines/docs/similar", query)
            assert answer.status == 200, answer.value
            assert answer.value["matches"] == case.of_memory(value)
            assert (answer.value["complete"], answer.value["capped"], answer.value["missing"]) == (True, False, {})
            found += len(answer.value["matches"])
    assert found > QUERIES // 2
