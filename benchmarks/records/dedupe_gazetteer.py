"""Records matched with dedupe's `Gazetteer`: the one call it has for a new record against many that are there.

It learns from labels.  Forty pairs of which it is least certain are labelled with the truth, as a person would have
done; they come from 250 things of the corpus, because to prepare for training takes gigabytes and minutes on 5,000.
Its index is a table of SQLite in a temporary file, `in_memory` makes a new, empty one for each call.  The file is put
in memory where that is possible, so that no disk is measured; nor are the processes left that it would learn with.
"""

import logging
import random
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import GET, required, version_of
from stream_lsh.records.model import Record
from tests.evaluation.clustering import components
from tests.evaluation.record_corpora import Corpus, pair_of

FIELDS = ("given_name", "surname", "date_of_birth", "soc_sec_id")
"""Of several choices of four, those with which it was both fastest and most often right."""
LABELS = 40
THINGS = 250
THRESHOLD = 0.5
"""The threshold in the documentation of `Gazetteer.search`."""

_BTREES = "6.0"
_MEMORY = "/dev/shm"  # noqa: S108 - the folder that it makes there has a name of its own
_NEW = "new"
"""The key of a record that is searched for; no indexed one has it."""


class Gazetteer:
    """A gazetteer that has learned from some labels of a corpus; nothing is indexed.

    Args:
        corpus: its truth answers forty questions.
        seed: of what is drawn; which rules are learned, and so speed and answers, depends on it, and on the run.

    Raises:
        SystemExit: dedupe is not there, or not with a BTrees that it works with.
    """

    def __init__(self, corpus: Corpus, seed: int) -> None:
        dedupe, variables = required("dedupe"), required("dedupe.variables")
        if version_of("BTrees") != _BTREES:
            raise SystemExit(
                f"got BTrees {version_of('BTrees')}, expected {_BTREES}, with later ones dedupe raises "
                f"\"'IFBucket' object has no attribute 'byValue'\": {GET}"
            )
        logging.getLogger("dedupe").setLevel(logging.ERROR)
        random.seed(seed)
        np.random.seed(seed)
        fields = [variables.String(name, has_missing=True) for name in FIELDS]
        elsewhere, tempfile.tempdir = tempfile.tempdir, _MEMORY if Path(_MEMORY).is_dir() else tempfile.tempdir
        self._peer = dedupe.Gazetteer(fields, num_cores=0)
        tempfile.tempdir = elsewhere
        self._learn(corpus)

    def index(self, records: Iterable[Record]) -> None:
        """Add records."""
        self._peer.index({record.id: _plain(record) for record in records})

    def search(self, record: Record) -> list[tuple[str, float]]:
        """The ids of the records that match, with their scores."""
        ((_, found),) = self._peer.search({_NEW: _plain(record)}, threshold=THRESHOLD, n_matches=None)
        return [(id, float(score)) for id, score in found]

    def _learn(self, corpus: Corpus) -> None:
        peer, (left, right) = self._peer, _sampled(corpus)
        with warnings.catch_warnings(), required("joblib").parallel_config(backend="sequential"):
            warnings.simplefilter("ignore")  # of its solvers, while there are few labels
            peer.prepare_training(left, right)
            for _ in range(LABELS):
                ((one, other),) = peer.uncertain_pairs()
                same = pair_of(one["id"], other["id"]) in corpus.truth
                peer.mark_pairs({"match": [(one, other)] if same else [], "distinct": [] if same else [(one, other)]})
            peer.train()
        peer.cleanup_training()


def _sampled(corpus: Corpus) -> tuple[dict[str, Any], dict[str, Any]]:
    """Some things that have two records or more: the first record of each, and the second."""
    by_id = {record.id: record for record in corpus.records}
    groups = sorted(sorted(group) for group in components(corpus.truth))
    pairs = [group[:2] for group in random.sample(groups, min(THINGS, len(groups)))]
    left, right = ({id: {**_plain(by_id[id]), "id": id} for id in side} for side in zip(*pairs, strict=True))
    return left, right


def _plain(record: Record) -> dict[str, Any]:
    return {name: record.fields.get(name) or None for name in FIELDS}
