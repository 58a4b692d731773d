"""The order of records: no effect where values are counted first, and a bounded, fading effect in a stream."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log2
from pathlib import Path

import pytest

from stream_lsh.kinds.record.in_memory import RecordLinker, learned_from
from stream_lsh.records.model import Record
from stream_lsh.records.profile import Profile, comparison_names
from tests.evaluation.linking import groups_of, measured_within, profile_for
from tests.evaluation.record_corpora import CORPORA, Corpus, Pair

pytestmark = [pytest.mark.corpus, pytest.mark.timeout(1800)]
_DIGIT = 0.002
"""Evidence is stored with three decimal digits."""
ORDERS = 3


def corpus_of(name: str, data_dir: Path) -> tuple[Corpus, Profile]:
    """A corpus, with a profile that was trained on it."""
    read, kind = CORPORA[name]
    corpus = read(data_dir)
    return corpus, learned_from(profile_for(corpus, kind), corpus.records)


def shuffled(records: Sequence[Record], order: int) -> list[Record]:
    """The records in another order; order 0 is the given one."""
    return random.Random(order).sample(records, len(records)) if order else [*records]


def weights_of(linker: RecordLinker) -> dict[Pair, Mapping[str, float]]:
    """The weight of each comparison, of all pairs that were compared."""
    return {(one.left, one.right): one.weights for one in (*linker.matches(), *linker.reviews())}


@pytest.mark.parametrize("name", ["splink_fake_1000", "leipzig_abt_buy", "cora"])
def test_any_order_gives_the_same_results_if_values_are_counted_first(name: str, data_dir: Path) -> None:
    corpus, profile = corpus_of(name, data_dir)
    results = []
    for order in range(ORDERS):
        linker = RecordLinker(profile, max_candidates=0)
        linker.count_first(corpus.records)
        linker.add_many(shuffled(corpus.records, order))
        results.append((linker.matches(), linker.reviews(), {frozenset(group) for group in groups_of(linker)}))
    assert len(results[0][0]) >= 500
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize(("name", "spread"), [("splink_fake_1000", 0.01), ("rldata10000", 0.005)])
def test_the_order_of_arrival_changes_a_weight_by_no_more_than_the_bound(
    name: str, spread: float, data_dir: Path
) -> None:
    corpus, profile = corpus_of(name, data_dir)
    every = replace(profile, review=0.0)
    streams, f1 = [], []
    for order in range(ORDERS):
        linker = RecordLinker(every, max_candidates=0)
        for start in range(0, len(corpus.records), 50):
            linker.add_many(shuffled(corpus.records, order)[start : start + 50])
        streams.append(linker)
        f1.append(measured_within(groups_of(linker), corpus.truth)["f1"])
    assert max(f1) - min(f1) <= spread, f1
    weights = [weights_of(linker) for linker in streams]
    assert all(each.keys() == weights[0].keys() for each in weights)
    changed = 0
    for at, comparison in zip(comparison_names(every), every.comparisons, strict=True):
        # A rare value adds 2 bits at most, and a frequent one subtracts log2(1 / u) at most.
        bound = 2 - log2(comparison.u[0]) if comparison.term_frequency else 0.0
        for pair in weights[0]:
            own = [each[pair].get(at, 0.0) for each in weights]
            assert max(own) - min(own) <= bound + _DIGIT
            changed += max(own) - min(own) > _DIGIT
    assert changed >= 100


@pytest.mark.parametrize(("name", "most"), [("splink_fake_1000", 5), ("cora", 30)])
def test_the_matches_of_a_stream_approach_those_of_a_file(name: str, most: int, data_dir: Path) -> None:
    corpus, profile = corpus_of(name, data_dir)
    file = RecordLinker(profile, max_candidates=0)
    file.count_first(corpus.records)
    file.add_many(corpus.records)
    expected = {(match.left, match.right) for match in file.matches()}
    for order in range(ORDERS):
        stream, records = RecordLinker(profile, max_candidates=0), shuffled(corpus.records, order)
        for start in range(0, len(records), 50):
            stream.add_many(records[start : start + 50])
        assert len({(match.left, match.right) for match in stream.matches()} ^ expected) <= most, order
        counted = [pair.union for record in records for pair in stream._ledger.pairs_of(record.id)]
        assert min(counted) >= len(records) / 2 - 50, order


def test_records_that_return_are_scored_by_the_values_of_all_records(data_dir: Path) -> None:
    corpus, profile = corpus_of("splink_fake_1000", data_dir)
    streams = [RecordLinker(replace(profile, review=0.0), max_candidates=0) for _ in range(ORDERS)]
    for order, linker in enumerate(streams):
        linker.add_many(shuffled(corpus.records, order))
    first = [weights_of(linker) for linker in streams]
    for order, linker in enumerate(streams):
        linker.add_many(shuffled(corpus.records, 7 * order + 1))
    assert [weights_of(linker) for linker in streams] == first  # equal records are no change
    for order, linker in enumerate(streams):
        for record in shuffled(corpus.records, 5 * order + 2):
            linker.remove(record.id)
            linker.add(record)
    again = [weights_of(linker) for linker in streams]
    assert first[0] != first[1]
    assert all(each == again[0] for each in again)
    groups = [{*map(frozenset, groups_of(linker))} for linker in streams]
    assert all(each == groups[0] for each in groups)
