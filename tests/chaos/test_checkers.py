"""The checkers of profiles find what is missing, wrong or stale, without a broker."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from stream_lsh import NearDuplicates
from stream_lsh.config import parse
from stream_lsh.model import About, Document
from stream_lsh.retention import Horizon
from tests.chaos.expiry import ExpiryChecker
from tests.chaos.profiles import PROFILES, RETENTION_MS
from tests.chaos.queries import Queries
from tests.chaos.records import Decided, RecordChecker, people
from tests.chaos.stories import first_of_repeats
from tests.kafka.truth import Pairs

TEXT = "the same story of many words that two outlets print on the same day, number"
CONFIG = parse("[pipeline]\nsource='s'\nname='n'\nretention='6h'\nlateness='6h'\nthreshold=0.5\n", "x", {})


def checker(stream: list[Document], horizon: Horizon, published: Pairs) -> ExpiryChecker:
    class Offline(ExpiryChecker):
        async def _published_pairs(self) -> Pairs:
            return published

    found = Offline(CONFIG, CONFIG.pipelines[0], stream)
    found._set_horizon(horizon)
    return found


def faults(stream: list[Document], horizon: Horizon, published: Pairs) -> tuple[int, int, int]:
    found = checker(stream, horizon, published)
    asyncio.run(found._matches())
    verdict = found._verdict
    return len(verdict.missing), len(verdict.wrong), len(verdict.stale)


def stream() -> list[Document]:
    documents = [Document(f"d{number}", f"{TEXT} {number}", 0) for number in range(200)]
    return list(PROFILES["retention"].parts[0].stream(documents, 1, 200.0))


def test_event_time_passes_several_retentions_in_order() -> None:
    times = [one.time_ms for one in stream()]
    assert times == sorted(times)
    assert times[-1] - times[0] > 4 * RETENTION_MS


def test_pairs_that_are_missing_or_wrong_are_found_beside_those_that_have_expired() -> None:
    fed = stream()
    horizon = Horizon(fed[-1].time_ms - 2 * RETENTION_MS)
    true = checker(fed, horizon, {})
    wanted = true._true_pairs(list(true._live.values()))
    expired = {pair for pair in wanted if {*pair} & true._expired}
    assert 0 < len(expired) < len(wanted)
    assert faults(fed, horizon, wanted) == (0, 0, 0)
    first, last = min(expired), max(wanted.keys() - expired)
    assert faults(fed, horizon, {pair: of for pair, of in wanted.items() if pair not in (first, last)}) == (2, 0, 0)
    assert faults(fed, horizon, {**wanted, ("d0", "d199"): 0.9}) == (0, 1, 0)
    assert faults(fed, horizon, {**wanted, last: 0.51}) == (0, 0, 1)


def test_a_pair_is_none_if_one_end_was_stored_after_the_other_had_expired() -> None:
    fed = stream()
    found = checker(fed, Horizon(fed[-1].time_ms - 2 * RETENTION_MS), {})
    left, right = sorted(max(found._true_pairs(list(found._live.values()))), key=lambda id: found._live[id].time_ms)
    time_ms, day_ms = found._live[left].time_ms, 86_400_000
    found._stored_ms = {left: 0, right: day_ms}
    found._reached = [(0, time_ms), (day_ms, time_ms + 2 * RETENTION_MS)]
    assert not found._partner_had_expired((left, right))
    found._reached = [*found._reached, (day_ms + 1_000, time_ms + 2 * RETENTION_MS + 1)]
    assert found._partner_had_expired((left, right))
    found._reached = [*found._reached[:2], (2 * day_ms, time_ms + 2 * RETENTION_MS + 1)]
    assert not found._partner_had_expired((left, right)), "the other one was stored long before"


def test_pairs_that_the_bands_do_not_find_are_not_missing() -> None:
    fed = []
    for number in range(2_000):
        words = [f"w{number}x{place}" for place in range(80)]
        # 39 of 77 shingles in common.
        fed += [
            Document(f"{number}a", " ".join(words[:60]), 0),
            Document(f"{number}b", " ".join(words[:41] + words[60:79]), 0),
        ]
    horizon = Horizon(-1)
    found = checker(fed, horizon, {})
    true = found._true_pairs(fed)
    candidates = found._candidates(true, fed)
    assert len(true) == 2_000
    assert 0 < 2_000 - len(candidates) < 40
    assert faults(fed, horizon, {pair: true[pair] for pair in candidates}) == (0, 0, 0)
    assert faults(fed, horizon, {}) == (len(candidates), 0, 0)


def test_decisions_and_updates_count_for_the_records_that_are_expected() -> None:
    fed = people(200, 1)
    linker = RecordChecker(CONFIG, CONFIG.pipelines[0], fed)._linker()
    assert linker.matches()
    assert linker.reviews()
    match = linker.matches()[0]
    apart = [*fed, Decided(match.right, match.left, "different")]
    matches = RecordChecker(CONFIG, CONFIG.pipelines[0], apart)._linker().matches()
    assert (match.left, match.right) not in [(one.left, one.right) for one in matches]


def test_a_repetition_of_text_and_metadata_keeps_its_first_event_time() -> None:
    first = Document("a", "one text", 5, About("title", "wire"))
    stream = [first, first._replace(time_ms=6), Document("b", "x", 1), first._replace(time_ms=7)]
    assert first_of_repeats(stream)["a"].time_ms == 5
    other = first._replace(time_ms=8, about=About("another title", "wire"))
    assert first_of_repeats([*stream, other])["a"] == other
    assert first_of_repeats([*stream, first._replace(text=None), first._replace(time_ms=9)])["a"].time_ms == 9


def test_answers_that_are_wrong_or_short_are_found() -> None:
    pipeline = parse("[pipeline]\nsource='s'\nname='n'\nretention=0\nthreshold=0.5\n", "x", {}).pipelines[0]
    fed = [Document(f"d{number}", f"{TEXT} {number}", 0) for number in range(3)]
    right = NearDuplicates(threshold=0.5)
    right.add_many(fed)
    whole: dict[str, Any] = {"complete": True, "capped": False}
    whole["matches"] = [{"id": one.id, "similarity": one.similarity} for one in right.query(fed[0].text or "")]
    assert len(whole["matches"]) == 3

    def failures(*answers: dict[str, Any], firm_seconds: float = 0.0, stream: Sequence[Document] = fed) -> int:
        queries = Queries(pipeline, stream, ["a"], firm_seconds)
        for answer in answers:
            queries._check("d0", answer, time.monotonic())
        return len(queries.failures)

    short = {**whole, "matches": whole["matches"][:2]}
    assert failures(whole, whole) == 0
    assert failures(short, whole) == 0, "nothing is expected before an answer has contained it"
    assert failures(whole, short) == 1
    assert failures(whole, short, firm_seconds=60.0) == 0
    assert failures(whole, {**short, "complete": False}, {**short, "capped": True}) == 0
    assert failures(whole, short, stream=[*fed, fed[2]._replace(text=None)]) == 0, "it may have been deleted"
    assert failures({**whole, "matches": [{"id": "d1", "similarity": 0.51}]}) == 1
