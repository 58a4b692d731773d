"""The table of the demo lists missing and wrong pairs."""

import json

from stream_lsh.demo.exact import all_pairs
from stream_lsh.demo.report import Result, report
from stream_lsh.demo.schedule import PUBLISHED, Event
from stream_lsh.demo.tally import News, Tally
from tests.evaluation.oracles import jaccard, word_windows

TEXTS = {
    "a": "one two three four five six",
    "b": "one two three four five seven",
    "c": "Eins zwei DREI vier fünf",
    "d": "eins zwei drei\n\nvier fu\u0308nf",
    "e": "",
    "f": "",
}
TRUTH = {("a", "b"): 3 / 5, ("c", "d"): 1.0}


def match(tally: Tally, pair: str, similarity: float, sent_ms: int = 0, seen_ms: float = 0) -> None:
    value = {"similarity": similarity, "left_time": sent_ms, "right_time": 0}
    tally.match(json.dumps(list(pair)).encode(), json.dumps(value).encode(), seen_ms)


def cluster(tally: Tally, id: str, *members: str) -> None:
    tally.cluster(id.encode(), json.dumps({"size": len(members), "members": members}).encode() if members else None)


def result(tally: Tally, *, compared: bool = True) -> Result:
    events = [Event(PUBLISHED, id, text) for id, text in TEXTS.items()]
    return Result(events, tally, 12_345, TRUTH if compared else None, 1.0, 0.6, 30, 400, 2.0)


def found(**similarities: float) -> Tally:
    tally = Tally()
    for pair, similarity in similarities.items():
        match(tally, pair, similarity)
    return tally


def test_all_pairs_are_those_of_the_definition() -> None:
    for threshold in (0.1, 0.6, 0.61):
        pairs = {pair: similarity for of_one in all_pairs(TEXTS, threshold) for pair, similarity in of_one.items()}
        assert pairs == {pair: similarity for pair, similarity in TRUTH.items() if similarity >= threshold}
    assert jaccard(word_windows(TEXTS["a"], 3), word_windows(TEXTS["b"], 3)) == TRUTH["a", "b"]


def test_correct_pairs_are_neither_missed_nor_wrong() -> None:
    for compared in (True, False):
        right = result(found(ab=0.6, cd=1.0), compared=compared)
        assert (right.missed, right.wrong) == (0, 0)
        assert "MISSED" not in "\n".join(report(right))


def test_missing_and_wrong_pairs_are_counted_and_reported() -> None:
    for compared in (True, False):
        bad = result(found(ab=0.7, ac=0.8), compared=compared)
        assert (bad.missed, bad.wrong) == (int(compared), 2)
        assert ("1 MISSED" in "\n".join(report(bad))) == compared


def test_lines_of_the_table_fit_a_terminal() -> None:
    assert max(map(len, report(result(found(ab=0.7))))) <= 80


def test_the_delay_of_a_pair_counts_from_its_later_document_while_documents_are_paced() -> None:
    tally = Tally()
    tally.timed_before_ms = 50
    match(tally, "ab", 0.7, sent_ms=20, seen_ms=100)
    match(tally, "ac", 0.7, sent_ms=60, seen_ms=100)
    assert tally.delays_ms == [80]
    assert (tally.delay_ms(0.5), Tally().delay_ms(0.5)) == (80, 0)


def test_news_report_growth_and_removal_and_wait_for_their_pair() -> None:
    tally = found(ab=0.7)
    cluster(tally, "a", "b", "a")
    assert tally.news() == [News("new", 0.7, ("b", "a"))]
    cluster(tally, "a", "c", "b", "a")
    assert tally.news() == []
    match(tally, "bc", 0.8)
    assert tally.news() == [News("3 now", 0.8, ("c", "b"))]
    cluster(tally, "a", "c", "b", "a")
    assert tally.news() == []
    cluster(tally, "a")
    assert tally.news() == [News("gone", None, ("a",))]
    cluster(tally, "a")
    assert (tally.news(), tally.sizes) == ([], {})
