"""Labels improve the entities of corpora, or leave them as they are, whichever matches are labelled."""

import random
from pathlib import Path

import numpy as np
import pytest

from stream_lsh.kinds.record.in_memory import RecordLinker
from stream_lsh.records.block.blocker import blocker_of
from stream_lsh.records.reading import Reader, columns_of
from stream_lsh.records.train.learning import trained
from tests.evaluation.linking import measured_within, profile_for, proposed
from tests.evaluation.record_corpora import CORPORA

pytestmark = pytest.mark.corpus


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("name", "inferred", "noise"),
    [
        ("rldata10000", False, 0.002),
        ("splink_fake_1000", False, 0.002),
        ("cora", False, 0.002),
        ("leipzig_abt_buy", False, 0.002),
        ("senzing_truthset", True, 0.02),  # of 159 records, one pair is .006
    ],
)
def test_labels_do_not_make_entities_worse(name: str, *, inferred: bool, noise: float, data_dir: Path) -> None:
    """The noise is the loss of F1 that labels may cause when they move a few pairs across the threshold."""
    read, kind = CORPORA[name]
    corpus = read(data_dir)
    profile = proposed(corpus) if inferred else profile_for(corpus, kind)
    rows = {record.id: row for row, record in enumerate(corpus.records)}
    reader, blocker = Reader(profile), blocker_of(profile)
    values = [reader.values(record) for record in corpus.records]
    columns, keys = columns_of(values), blocker.keys(values)
    numbers = {source: number for number, source in enumerate(dict.fromkeys(one.source for one in corpus.records))}
    sources = np.array([numbers[record.source] for record in corpus.records])

    def f1(pairs: list[tuple[str, str]]) -> float:
        labels = tuple(np.array([rows[pair[side]] for pair in pairs], np.int64) for side in (0, 1))
        known = (labels[0], labels[1]) if pairs else None
        linker = RecordLinker(trained(profile, columns, keys, blocker, sources, labels=known).profile)
        linker.count_first(corpus.records)
        linker.add_many(corpus.records)
        return measured_within([entity.members for entity in linker.entities()], corpus.truth)["f1"]

    def equal_fields(pair: tuple[str, str]) -> int:
        left, right = (values[rows[id]] for id in pair)
        return sum(bool(one) and one == other for one, other in zip(left, right, strict=True))

    truth = sorted(corpus.truth)
    without = f1([])
    easy = sorted(truth, key=equal_fields, reverse=True)[:200]
    samples = [random.Random(count).sample(truth, min(count, len(truth))) for count in (20, 200)]
    for labels in (*samples, easy):
        assert f1(labels) >= without - noise
