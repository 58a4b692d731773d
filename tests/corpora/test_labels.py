"""Labels improve the entities of corpora, or leave them as they are, whichever matches are labelled."""

import random
from pathlib import Path

import numpy as np
import pytest

from stream_lsh.kinds.record.in_memory import RecordLinker
from stream_lsh.records.block.blocker import blocker_of
from stream_lsh.records.reading import Reader, columns_of
from stream_lsh.records.train.learning import trained
from tests.evaluation.linking import measured_within, profile_for
from tests.evaluation.record_corpora import CORPORA

pytestmark = pytest.mark.corpus
_NOISE = 0.002
"""The loss of F1 that a few labels may cause: they move a few pairs across the threshold."""


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", ["rldata10000", "splink_fake_1000", "cora", "leipzig_abt_buy"])
def test_labels_do_not_make_entities_worse(name: str, data_dir: Path) -> None:
    read, kind = CORPORA[name]
    corpus = read(data_dir)
    profile, rows = profile_for(corpus, kind), {record.id: row for row, record in enumerate(corpus.records)}
    reader, blocker = Reader(profile), blocker_of(profile)
    values = [reader.values(record) for record in corpus.records]
    columns, keys = columns_of(values), blocker.keys(values)
    numbers = {source: number for number, source in enumerate(dict.fromkeys(one.source for one in corpus.records))}
    sources = np.array([numbers[record.source] for record in corpus.records])

    def f1(pairs: list[tuple[str, str]]) -> float:
        labels = tuple(np.array([rows[pair[side]] for pair in pairs], np.int64) for side in (0, 1))
        known = (labels[0], labels[1]) if pairs else None
        linker = RecordLinker(trained(profile, columns, keys, blocker, sources, labels=known).profile)
        linker.add_many(corpus.records)
        return measured_within([entity.members for entity in linker.entities()], corpus.truth)["f1"]

    def equal_fields(pair: tuple[str, str]) -> int:
        left, right = (values[rows[id]] for id in pair)
        return sum(bool(one) and one == other for one, other in zip(left, right, strict=True))

    truth = sorted(corpus.truth)
    without = f1([])
    easy = sorted(truth, key=equal_fields, reverse=True)[:200]
    for labels in (random.Random(20).sample(truth, 20), random.Random(200).sample(truth, 200), easy):
        assert f1(labels) >= without - _NOISE
