"""All pairs by the engine against all pairs by Python sets."""

import errno
import itertools
import os
import random
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from stream_lsh import Document
from stream_lsh.allpairs.engine import LEAST_MEMORY, Engine
from stream_lsh.allpairs.pairs import AllPairs, all_pairs
from stream_lsh.errors import ConfigError
from stream_lsh.measure.catalog import JACCARD, Measure
from stream_lsh.measure.containment import Containment
from stream_lsh.model import Match
from tests.evaluation.oracles import containment, jaccard, word_windows

MEASURES: list[Measure] = [JACCARD, Containment(1.0), Containment(2.0), Containment(7.5)]


def texts_at_random(seed: int, count: int = 60) -> dict[str, str]:
    """Short texts of few words, some of them a part of another one, a copy, or empty."""
    chance = random.Random(seed)
    texts: dict[str, str] = {}
    for number in range(count):
        words = chance.choices("abc", k=chance.choice((0, 1, 2, 5, 10, 30)))
        if texts and chance.random() < 0.4:
            words = chance.choice([*texts.values()]).split()[chance.randrange(3) :] + words[:2]
        texts[f"d{number}"] = " ".join(words)
    return texts


def brute_force(texts: dict[str, str], threshold: float, measure: Measure) -> list[tuple[str, str, float, int, int]]:
    """Every pair of Python sets."""
    sets = {id: frozenset(word_windows(text, 3)) for id, text in texts.items()}
    found = []
    for left, right in itertools.combinations(sorted(sets), 2):
        one, other = sets[left], sets[right]
        ratio = measure.size_ratio if isinstance(measure, Containment) else 0
        similarity = containment(one, other, ratio) if ratio else jaccard(one, other)
        if similarity >= threshold:
            found.append((left, right, similarity, len(one & other), len(one | other)))
    return found


def as_tuples(pairs: list[Match]) -> list[tuple[str, str, float, int, int]]:
    return [(pair.left, pair.right, pair.similarity, pair.shared, pair.union) for pair in pairs]


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.5, 0.6, 0.8, 1.0])
def test_all_pairs_are_those_of_the_brute_force(threshold: float, measure: Measure, seed: int) -> None:
    texts = texts_at_random(seed)
    expected = brute_force(texts, threshold, measure)
    documents = [Document(id, text) for id, text in texts.items()]
    assert as_tuples([*all_pairs(documents, threshold, measure=measure)]) == expected
    assert expected, "a threshold that nothing reaches shows nothing"


@pytest.mark.parametrize("rows", [1, 30, 1000])
def test_pairs_made_a_few_left_documents_at_a_time_are_the_same(rows: int, seed: int) -> None:
    texts = texts_at_random(seed, 40)
    with AllPairs(0.5, rows=rows) as pairs:
        pairs.add(Document(id, text) for id, text in texts.items())
        found = as_tuples([*pairs.matches()])
    assert found == brute_force(texts, 0.5, JACCARD)
    assert pairs.candidates >= len(found) > 0


def test_the_order_of_the_documents_changes_nothing(seed: int) -> None:
    documents = [Document(id, text) for id, text in texts_at_random(seed).items()]
    mixed = random.Random(seed).sample(documents, len(documents))
    assert [*all_pairs(mixed, 0.5)] == [*all_pairs(documents, 0.5)]


def test_rare_shingles_spare_most_pairs_the_counting() -> None:
    frame = " ".join(f"frame{number}" for number in range(20))
    documents = [
        Document(f"{number:03}", f"{frame} " + " ".join(f"own{number}x{i}" for i in range(20))) for number in range(100)
    ]
    with AllPairs(0.8) as pairs:
        pairs.add([*documents, documents[7]._replace(id="copy")])
        assert [(pair.left, pair.right) for pair in pairs.matches()] == [("007", "copy")]
    assert pairs.candidates == 1, "all share a frame, and its shingles are not among the rarest"


def test_a_later_document_replaces_the_one_before_and_one_without_a_text_deletes_it() -> None:
    same = "one two three four five six"
    given = [
        Document("a", same, 1), Document("b", same, 2), Document("c", same, 3), Document("d", same, 4),
        Document("b", "something else altogether", 5), Document("c", None, 6), Document("d", same, 7),
    ]  # fmt: skip
    assert [*all_pairs(given, 0.5)] == [Match("a", "d", 1.0, 4, 4, 1, 7)]


def test_the_sizes_of_both_documents_are_known_under_containment() -> None:
    given = [Document("a", "one two three four five"), Document("b", "one two three four five six seven")]
    [pair] = all_pairs(given, 0.9, measure=Containment(2.0))
    assert (pair.similarity, pair.left_shingles, pair.right_shingles) == (1.0, 3, 5)


def test_no_documents_and_empty_ones_have_no_pairs() -> None:
    assert [*all_pairs([], 0.5)] == []
    assert [*all_pairs([Document("a", ""), Document("b", ""), Document("c", "...")], 0.5)] == []


def test_the_given_shingles_are_compared() -> None:
    [pair] = all_pairs([Document("a", "abcab"), Document("b", "abc")], 0.5, "char:2")
    assert (pair.similarity, pair.shared, pair.union) == (2 / 3, 2, 3)


@pytest.mark.parametrize("threshold", [0, -1, 1.1, float("nan")])
def test_a_threshold_that_is_none_is_refused(threshold: float) -> None:
    with pytest.raises(ConfigError, match=r"threshold: got .*, expected a number above 0 and at most 1"):
        AllPairs(threshold)


def test_too_little_memory_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"memory: got 1,000 bytes, expected at least 67,108,864"):
        Engine(1000)


def test_without_the_engine_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ConfigError, match=r'all pairs need DuckDB: pip install "stream_lsh\[allpairs\]"'):
        AllPairs(0.5)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere.*cannot be written"):
        Engine(folder=str(tmp_path / "nowhere"))


def test_data_beyond_the_memory_are_kept_in_the_folder_and_deleted_again(tmp_path: Path) -> None:
    numbers = np.random.default_rng(1).integers(0, 1 << 63, 12_000_000, np.uint64)
    with Engine(LEAST_MEMORY, str(tmp_path), threads=1) as engine:
        engine.run("CREATE TABLE numbers (n UBIGINT)")
        engine.append("numbers", {"n": numbers})
        spilled = engine.columns("SELECT sum(size) AS bytes FROM duckdb_temporary_files()")["bytes"][0]
        assert spilled > 12_000_000 * 8 - LEAST_MEMORY
        assert len(os.listdir(tmp_path)) == 1
        total = engine.columns("SELECT bit_xor(n) AS bits FROM numbers")["bits"][0]
    assert total == np.bitwise_xor.reduce(numbers)
    assert os.listdir(tmp_path) == []


def test_too_little_memory_for_a_query_is_reported(tmp_path: Path) -> None:
    with Engine(LEAST_MEMORY, str(tmp_path)) as engine, pytest.raises(ConfigError, match="too little here; give more"):
        engine.run("CREATE TABLE one AS SELECT list(range) AS all_of_them FROM range(50000000)")


class Bell(BaseException):
    """The exception that the signal handler of a timer raises."""


def ring(*_: object) -> None:
    raise Bell


def test_a_signal_interrupts_a_query_and_leaves_the_engine_in_order() -> None:
    before = signal.signal(signal.SIGALRM, ring)
    try:
        with Engine() as engine:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(Bell):
                engine.run("CREATE TABLE never AS SELECT count(*) FROM range(1000000000) AS a, range(1000000) AS b")
            assert engine.columns("SELECT 7 AS n")["n"].tolist() == [7]
            with pytest.raises(Exception, match="never does not exist"):
                engine.run("SELECT * FROM never")
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_signal_that_comes_while_a_query_is_started_leaves_the_engine_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = threading.Thread.start

    def start_and_ring(thread: threading.Thread) -> None:
        start(thread)
        raise Bell

    never = "CREATE TABLE never AS SELECT count(*) FROM range(1000000000) AS a, range(1000000) AS b"
    for started in (start_and_ring, ring):
        with Engine() as engine:
            monkeypatch.setattr(threading.Thread, "start", started)
            with pytest.raises(Bell):
                engine.run(never)
            monkeypatch.undo()
            assert engine.columns("SELECT 7 AS n")["n"].tolist() == [7]


def test_a_full_disk_is_an_error_of_the_system(tmp_path: Path) -> None:
    with Engine(folder=str(tmp_path)) as engine:
        with pytest.raises(OSError, match="No space left") as caught:
            engine.run("COPY (SELECT range FROM range(3000000)) TO '/dev/full' (FORMAT csv)")
        assert caught.value.errno == errno.ENOSPC
