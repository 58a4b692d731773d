"""Records of a whole file matched with dedupe: `RecordLink` for two clean sources, `Dedupe` for all others.

It learns from labels.  The pairs of which it is least certain are labelled with the truth, as a person would have done.
They come from a sample of large files: on all 5,000 records of FEBRL 2 the preparation exceeded a memory of 23 GB.
It compares all columns: strings, or texts where values are long.
"""

import logging
import random
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.peers import required
from stream_lsh.records.model import Record
from tests.evaluation.clustering import components
from tests.evaluation.linking import measured_within
from tests.evaluation.record_corpora import Corpus, pair_of

LABELS = 60
THRESHOLD = 0.5
"""The default of `partition` and `join`."""
_THINGS, _OTHERS = 250, 500
"""The sample: all records of some things that have two records or more, and some other records."""
_LONG = 50
"""Characters of a value, on average, from which a column is text."""


def dedupe_f1(corpus: Corpus, seed: int) -> float:
    """F1 within the entities that dedupe finds at its default threshold, with `LABELS` labels."""
    dedupe = required("dedupe")
    logging.getLogger("dedupe").setLevel(logging.ERROR)
    random.seed(seed)
    np.random.seed(seed)
    sources = list(dict.fromkeys(record.source for record in corpus.records))
    lengths = _lengths(corpus.records)
    tables = [_table(corpus.records, lengths)]
    if corpus.clean:
        tables = [_table((one for one in corpus.records if one.source == source), lengths) for source in sources]
    peer = (dedupe.RecordLink if corpus.clean else dedupe.Dedupe)(_variables(lengths), num_cores=0)
    with warnings.catch_warnings(), required("joblib").parallel_config(backend="sequential"):
        warnings.simplefilter("ignore")  # of its solvers, while there are few labels
        peer.prepare_training(*_sampled(corpus, tables))
        for _ in range(LABELS):
            ((one, other),) = peer.uncertain_pairs()
            same = pair_of(one["id"], other["id"]) in corpus.truth
            peer.mark_pairs({"match": [(one, other)] if same else [], "distinct": [] if same else [(one, other)]})
        peer.train()
        groups = _groups(peer, tables)
    peer.cleanup_training()
    return measured_within(groups, corpus.truth)["f1"]


def _groups(peer: Any, tables: Sequence[dict[str, Any]]) -> list[list[str]]:
    """The entities with two records or more."""
    if len(tables) == 1:
        return [list(ids) for ids, _ in peer.partition(tables[0], threshold=THRESHOLD) if len(ids) > 1]
    return [list(ids) for ids, _ in peer.join(*tables, threshold=THRESHOLD)]


def _sampled(corpus: Corpus, tables: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records to learn from."""
    groups = sorted(sorted(group) for group in components(corpus.truth))
    chosen = {id for group in random.sample(groups, min(_THINGS, len(groups))) for id in group}
    others = [record.id for record in corpus.records if record.id not in chosen]
    chosen.update(random.sample(others, min(_OTHERS, len(others))))
    return [{id: record for id, record in table.items() if id in chosen} for table in tables]


def _lengths(records: Iterable[Record]) -> dict[str, float]:
    """The columns with values, and their mean length."""
    lengths: dict[str, list[int]] = {}
    for record in records:
        for name, value in record.fields.items():
            if value:
                lengths.setdefault(name, []).append(len(str(value)))
    return {name: float(np.mean(each)) for name, each in lengths.items()}


def _variables(lengths: Mapping[str, float]) -> list[Any]:
    kinds = required("dedupe.variables")
    return [(kinds.Text if each >= _LONG else kinds.String)(name, has_missing=True) for name, each in lengths.items()]


def _table(records: Iterable[Record], columns: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The records of a source by id; dedupe rejects empty values."""
    return {one.id: {"id": one.id, **{name: one.fields.get(name) or None for name in columns}} for one in records}
