"""Entity resolution on corpora whose truth is known: what was reached is the least that is asked for from now on.

Records come one at a time, are compared with those before them only, and no label is seen by anything but the count.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from stream_lsh.kinds.record.profiles import bundled
from stream_lsh.records.infer import infer
from stream_lsh.records.profile import Profile
from tests.evaluation.clustering import components
from tests.evaluation.linking import (
    Stream,
    figures,
    groups_of,
    learned,
    linked,
    measured_within,
    profile_for,
    profile_of,
    proposed,
    streamed,
)
from tests.evaluation.record_corpora import CORPORA, Corpus, pair_of

pytestmark = pytest.mark.corpus


def best_of(corpus: Corpus, profile: Profile) -> tuple[float, float, float]:
    """Recall of the blocking, F1 of pairs at the profile's threshold, F1 of entities."""
    found, profile = streamed(profile, corpus)
    at = figures(found, corpus, profile.match)
    return len(found.compared) / len(corpus.truth), at["pairs"]["f1"], at["entities"]["f1"]


@pytest.mark.parametrize(
    ("name", "blocking", "pairs", "clusters"),
    [
        ("febrl1", 0.999, 0.999, 0.999),
        ("febrl2", 0.998, 0.998, 0.998),
        ("febrl3", 0.998, 0.998, 0.999),
        ("febrl4", 0.999, 0.9995, 0.9995),
        ("splink_fake_1000", 0.90, 0.875, 0.95),
        ("leipzig_dblp_acm", 0.999, 0.987, 0.987),
    ],
)
def test_a_corpus_is_resolved_as_well_as_before(
    name: str, blocking: float, pairs: float, clusters: float, data_dir: Path
) -> None:
    read, kind = CORPORA[name]
    found = best_of(read(data_dir), bundled(kind))
    assert found[0] >= blocking
    assert found[1] >= pairs
    assert found[2] >= clusters


def test_fifty_thousand_records_of_historical_persons(data_dir: Path) -> None:
    read, kind = CORPORA["splink_historical_50k"]
    blocking, pairs, clusters = best_of(read(data_dir), bundled(kind))
    assert blocking >= 0.865
    assert pairs >= 0.845
    assert clusters >= 0.93


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("name", "entities", "inferred"),
    [
        ("febrl3", 0.999, 0.999),
        ("splink_fake_1000", 0.97, None),
        ("leipzig_dblp_acm", 0.988, 0.988),
        ("leipzig_abt_buy", 0.895, 0.88),
        ("rldata10000", 0.965, 0.96),
        ("cora", None, 0.87),
        ("splink_historical_50k", 0.935, None),
    ],
)
def test_files_are_linked_as_they_come(
    name: str, entities: float | None, inferred: float | None, data_dir: Path
) -> None:
    read, kind = CORPORA[name]
    corpus = read(data_dir)
    for least, profile in ((entities, bundled(kind)), (inferred, infer(corpus.records))):
        if least is None:
            continue
        linker = linked(profile, corpus.records)
        groups = groups_of(linker)
        assert measured_within(groups, corpus.truth)["f1"] >= least
        right = [
            pair_of(match.left, match.right) in corpus.truth for match in linker.matches() if match.probability >= 0.95
        ]
        assert sum(right) >= 0.9 * len(right)
        true_sizes = max(map(len, components(corpus.truth)))
        assert max(map(len, groups)) <= 3 * true_sizes


def test_versions_of_one_work_are_kept_apart(data_dir: Path) -> None:
    corpus = CORPORA["cora"][0](data_dir)
    linker = linked(profile_for(corpus, "bibliography"), corpus.records)
    assert measured_within(groups_of(linker), corpus.truth)["f1"] >= 0.89
    sure = [pair_of(match.left, match.right) for match in linker.matches() if match.probability >= 0.95]
    assert sum(pair in corpus.truth for pair in sure) >= 0.95 * len(sure)


def test_weights_set_by_hand_resolve_the_truth_set_that_they_were_set_on(data_dir: Path) -> None:
    read, kind = CORPORA["senzing_truthset"]
    corpus = read(data_dir)
    found, profile = streamed(profile_of(kind), corpus)
    assert len(found.compared) >= 0.96 * len(corpus.truth)
    assert figures(found, corpus, profile.match)["clusters"]["f1"] >= 0.96


def test_families_and_offices_are_kept_apart_by_an_inferred_profile(data_dir: Path) -> None:
    corpus = CORPORA["senzing_truthset"][0](data_dir)
    linker = linked(infer(corpus.records), corpus.records)
    assert measured_within(groups_of(linker), corpus.truth)["f1"] >= 0.73
    sure = [pair_of(match.left, match.right) for match in linker.matches() if match.probability >= 0.95]
    assert sum(pair in corpus.truth for pair in sure) >= 0.9 * len(sure)


@pytest.mark.parametrize(("name", "pairs"), [("febrl3", 0.998), ("leipzig_dblp_acm", 0.985)])
def test_a_profile_that_knows_nothing_but_the_values_does_as_well(name: str, pairs: float, data_dir: Path) -> None:
    corpus = CORPORA[name][0](data_dir)
    assert best_of(corpus, proposed(corpus))[1] >= pairs


def test_the_order_of_arrival_decides_no_candidate_but_for_caps(data_dir: Path) -> None:
    corpus = CORPORA["febrl1"][0](data_dir)
    _, keys, _, blocker = learned(bundled("people"), corpus.records)
    pairs = []
    for order in (range(len(corpus.records)), reversed(range(len(corpus.records)))):
        stream = Stream(replace(bundled("people")), blocker)
        rows = list(order)
        met = set()
        for row in rows:
            own = [key for key in keys[row].tolist() if key]
            met |= {frozenset((row, rows[other])) for other in stream.candidates(own, "")}
            stream.add((), own, "")
        pairs.append(met)
    assert pairs[0] == pairs[1]
    assert len(pairs[0]) >= 500
