"""A running application finds for a document that is not stored what the class in memory finds."""

import asyncio
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
NOW_MS = 1_714_521_600_000
PATH = "/v1/pipelines/docs/similar"


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
    """Vectors in all directions."""
    middle = len(WORDS) / 2
    return [[number - middle for number in numbers] for numbers in families(seed, count, 16, 3)]


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


def strangers(count: int) -> list[dict[str, Any]]:
    """The same with random names: only records of one person resemble each other, however many records there are."""
    rng, known = random.Random(6), list[dict[str, str]]()

    def name(syllables: int) -> str:
        return "".join(rng.choice("bdfgklmnprstvw") + rng.choice("aeiou") for _ in range(syllables))

    for number in range(count):
        if known and rng.random() < 0.5:
            fields = {**rng.choice(known), "city": name(3)}
        else:
            fields = {
                "given_name": name(2),
                "surname": name(3),
                "date_of_birth": f"{rng.randint(1930, 2005)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
                "email": f"{name(4)}{number}@example.org",
                "city": name(3),
            }
        known.append(fields)
    return [{"fields": fields} for fields in known]


def queries_of(values: Sequence[Any], count: int) -> list[Any]:
    """Some stored values and others that resemble them: every second value is not stored."""
    return [*values[: count // 2], *values[-count // 2 :]]


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


def _texts(count: int, keys: str, **settings: Any) -> Case:
    memory = NearDuplicates(**settings)
    return Case(keys, memory, "text", texts(1, count), lambda text: dicts(memory.query(text)))


def _sets(keys: str, values: Sequence[Any], **settings: Any) -> Case:
    memory = SimilarSets(**settings)
    return Case(keys, memory, "items", values, lambda items: dicts(memory.query(items)))


def _vectors(count: int, keys: str, similarity: Callable[[float], float], **settings: Any) -> Case:
    memory = NearestNeighbours(16, **settings)

    def within(vector: list[float]) -> list[dict[str, Any]]:
        return [{**one, "similarity": similarity(one["distance"])} for one in dicts(memory.within(vector))]

    return Case(keys, memory, "vector", points(3, count), within)


def _records(count: int) -> Case:
    memory = RecordLinker("people")

    def search(record: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {
                "id": one.id,
                "probability": one.probability,
                "review": one.probability < memory.profile.match,
                "evidence": {
                    "measure": "weighted",
                    "score": one.score,
                    "weights": dict(one.weights),
                    "rules": list(one.rules),
                },
            }
            for one in memory.search(record["fields"])
        ]

    return Case("kind = 'record'\nprofile = 'people'", memory, "record", strangers(count), search)


CASES: dict[str, Callable[[int], Case]] = {
    "text": lambda count: _texts(count, "threshold = 0.5", threshold=0.5),
    "containment": lambda count: _texts(
        count, "threshold = 0.6\nmeasure = 'containment'", threshold=0.6, measure="containment"
    ),
    "exact": lambda count: _texts(count, "threshold = 0.6\nmethod = 'exact'", threshold=0.6, method="exact"),
    "set": lambda count: _sets("kind = 'set'\nthreshold = 0.5", baskets(2, count), threshold=0.5),
    "bag": lambda count: _sets(
        "kind = 'set'\nbag = true\nthreshold = 0.5", [*families(2, count, 30, 8)], threshold=0.5, bag=True
    ),
    "grid": lambda count: _sets(
        "kind = 'set'\nfamily = 'grid'\nthreshold = 0.5\ngrid.squares = 2000",
        baskets(2, count),
        threshold=0.5,
        squares=2_000,
    ),
    "cosine": lambda count: _vectors(
        count, "kind = 'vector'\ndimension = 16\ndistance = 20.0", lambda d: 1 - d / 180, distance=20.0
    ),
    "euclidean": lambda count: _vectors(
        count,
        "kind = 'vector'\nmeasure = 'euclidean'\ndimension = 16\ndistance = 900.0",
        lambda d: 1 / (1 + d),
        distance=900.0,
        measure="euclidean",
    ),
    "record": _records,
}
"""By name, with a number of values."""


@pytest.mark.parametrize(
    ("name", "partitions", "processes"), [*((name, 4, 2) for name in CASES), ("text", 1, 1), ("text", 7, 3)]
)
@in_loop
async def test_the_matches_are_those_of_the_class_in_memory(name: str, partitions: int, processes: int) -> None:
    case = CASES[name](DOCUMENTS + QUERIES)
    stored = [*enumerate(case.values[:DOCUMENTS])]
    for at, value in stored:
        case.add(f"d{at}", value)
    async with application(configured(partitions, case.keys), processes) as running:
        await running.send((f"d{at}", case.message(value)) for at, value in stored)
        found = 0
        for at, value in enumerate(queries_of(case.values, QUERIES)):
            query = {case.member: value, "limit": 1_000}
            answer = await running.clients[at % processes].post(PATH, query)
            assert answer.status == 200, answer.value
            assert answer.value["matches"] == case.of_memory(value)
            assert (answer.value["complete"], answer.value["capped"], answer.value["missing"]) == (True, False, {})
            found += len(answer.value["matches"])
    assert found > QUERIES // 2


@in_loop
async def test_a_query_has_options_and_changes_nothing() -> None:
    values = texts(1, 300)
    memory = NearDuplicates(threshold=0.5)
    memory.add_many((f"d{at}", text) for at, text in enumerate(values))
    best = max(values, key=lambda text: len(memory.query(text)))
    async with application(configured(4, "threshold = 0.5"), 2) as running:
        await running.send((f"d{at}", {"text": text}) for at, text in enumerate(values))
        post, counts = running.clients[0].post, running.worker.counts
        before = repr(counts)
        all_found = dicts(memory.query(best))
        answer = await post(PATH, {"text": best, "limit": 2})
        assert answer.value["matches"] == all_found[:2]
        answer = await post(PATH, {"text": best, "limit": 1_000, "threshold": 0.8})
        assert answer.value["matches"] == [one for one in all_found if one["similarity"] >= 0.8] != all_found
        answer = await post(PATH, {"text": "", "partial": "allow", "stale": "allow", "time": None})
        assert (answer.value["matches"], answer.value["compared"], answer.value["complete"]) == ([], 0, True)
        again = [await post(PATH, {"text": best, "limit": 1_000}) for _ in range(20)]
        assert all(one.value["matches"] == all_found for one in again)
        assert repr(counts) == before


@in_loop
async def test_queries_that_run_together_do_not_mix_their_texts() -> None:
    values = texts(1, 300)
    memory = NearDuplicates(threshold=0.5)
    memory.add_many((f"d{at}", text) for at, text in enumerate(values))
    async with application(configured(4, "threshold = 0.5"), 2) as running:
        await running.send((f"d{at}", {"text": text}) for at, text in enumerate(values))
        for start in range(0, 120, 12):
            some = values[start : start + 12]
            queries = [
                running.clients[at % 2].post(PATH, {"text": text, "limit": 1_000}) for at, text in enumerate(some)
            ]
            for text, answer in zip(some, await asyncio.gather(*queries), strict=True):
                assert answer.value["matches"] == dicts(memory.query(text))


@in_loop
async def test_a_process_without_its_partitions_is_missing_from_the_answer() -> None:
    values = texts(1, 200)
    async with application(configured(4, "threshold = 0.5"), 2) as running:
        await running.send((f"d{at}", {"text": text}) for at, text in enumerate(values))
        whole = (await running.clients[0].post(PATH, {"text": values[0]})).value["matches"]
        running.shares[1].lost = True
        for asked in running.clients:
            answer = await asked.post(PATH, {"text": values[0]})
            assert (answer.status, answer.problem, answer.headers["Retry-After"]) == (503, "not-now", "1")
            assert answer.value["missing"] == {"buckets": [1, 3]}
            answer = await asked.post(PATH, {"text": values[0], "partial": "allow"})
            assert (answer.status, answer.value["complete"]) == (200, False)
            assert answer.value["missing"]["buckets"] == [1, 3]
            ids = {match["id"] for match in whole}
            assert {match["id"] for match in answer.value["matches"]} <= ids
        running.shares[1].lost = False
        answer = await running.clients[1].post(PATH, {"text": values[0]})
        assert (answer.value["matches"], answer.value["complete"]) == (whole, True)


@in_loop
async def test_many_copies_are_capped_and_the_answer_shows_it() -> None:
    text = texts(1, 1)[0]
    keys = "threshold = 0.5\nmax_candidates = 20"
    async with application(configured(4, keys), 2) as running:
        await running.send((f"copy{at}", {"text": text}) for at in range(300))
        answer = await running.clients[0].post(PATH, {"text": text, "limit": 1_000})
        assert answer.value["capped"]
        assert 0 < answer.value["compared"] < 300
        assert {match["similarity"] for match in answer.value["matches"]} == {1.0}


HOSTILE: Sequence[tuple[bytes, str, str | None]] = (
    (b"", "malformed", None),
    (b"[]", "malformed", None),
    (b'{"text": "a"', "malformed", None),
    (b'{"text": "\xff"}', "malformed", None),
    (b'{"text": "a", "text2": 1}', "malformed", None),
    (b'{"items": ["a"]}', "wrong-kind", None),
    (b"{}", "malformed", None),
    (b'{"text": "a", "limit": 0}', "malformed", None),
    (b'{"text": "a", "limit": true}', "malformed", None),
    (b'{"text": "a", "threshold": 0.1}', "malformed", None),
    (b'{"text": "a", "threshold": "high"}', "malformed", None),
    (b'{"text": "a", "partial": true}', "malformed", None),
    (b'{"text": "a", "stale": ["allow"]}', "malformed", None),
    (b'{"text": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", "malformed", None),
    (b'{"text": 7}', "unusable", "text"),
    (b'{"text": null}', "unusable", "text"),
    (b'{"text": {"a": [1e999]}}', "unusable", "text"),
    (b'{"text": "a", "time": "yesterday"}', "unusable", "time"),
    (b'{"text": "a", "time": 99999999999999}', "unusable", "time"),
    (b'{"text": "' + b"a" * 524_300 + b'"}', "unusable", "size"),
    (b'{"text": "' + b"a" * 600_000 + b'"}', "too-large", None),
)


@in_loop
async def test_a_hostile_query_is_a_problem() -> None:
    async with application(configured(1, "")) as running:
        for body, problem, reason in HOSTILE:
            headers = {"Content-Type": "application/json"}
            answer = await running.clients[0].send("POST", PATH, data=body, headers=headers)
            assert (answer.problem, answer.value.get("reason")) == (problem, reason), body[:60]
        answer = await running.clients[0].post(PATH, {"text": "\ud800 a text with half of a pair"})
        assert (answer.status, answer.value["matches"]) == (200, [])
        answer = await running.clients[0].post("/v1/pipelines/others/similar", {"text": "a"})
        assert answer.problem == "unknown-pipeline"


@in_loop
async def test_a_query_with_a_time_finds_what_the_retention_allows() -> None:
    values, hour = texts(1, 240), 3_600_000
    memory = NearDuplicates(threshold=0.5, retention_ms=hour)
    times = [NOW_MS + at * hour // len(values) for at in range(len(values))]
    memory.add_many((f"d{at}", text, time) for at, (text, time) in enumerate(zip(values, times, strict=True)))
    async with application(configured(4, "threshold = 0.5", "1h"), 2) as running:
        await running.send(
            (f"d{at}", {"text": text, "time": time}) for at, (text, time) in enumerate(zip(values, times, strict=True))
        )
        fewer = 0
        for text in values[:60]:
            time_ms = NOW_MS + 3 * hour // 2
            answer = await running.clients[0].post(PATH, {"text": text, "time": time_ms, "limit": 1_000})
            assert answer.value["matches"] == dicts(memory.query(text, time_ms))
            whole = await running.clients[0].post(PATH, {"text": text, "limit": 1_000})
            assert whole.value["matches"] == dicts(memory.query(text))
            fewer += len(answer.value["matches"]) < len(whole.value["matches"])
    assert fewer > 20
