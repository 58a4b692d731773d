"""The expected results for the remaining documents, and their differences from the published ones."""

import asyncio
import time
from collections.abc import Iterable, Sequence

import numpy as np

from stream_lsh.config import Config
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.shingled.comparer import MakesSets
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.model import Document
from tests.kafka.pipelines import expected, published
from tests.patience import PATIENCE

Pairs = dict[tuple[str, str], float]


class Truth:
    """The expected results.

    Args:
        wanted: the pairs that the in-memory pipeline finds among the remaining documents.
        documents: these.
        scheme: makes the shingles.
        threshold: of a match.
    """

    def __init__(self, wanted: Pairs, documents: Sequence[Document], scheme: MakesSets, threshold: float) -> None:
        assert wanted
        self._wanted, self._scheme, self._threshold = wanted, scheme, threshold
        self._texts = {one.id: one.text or "" for one in documents}

    def faults(self, pairs: Pairs, groups: set[frozenset[str]]) -> list[str]:
        """The missing, wrong and different results; empty if all are correct.

        A pair that the bands do not find may be published: older versions were candidates, and each later version was
        compared again.  Then it has to be true.
        """
        faults = [f"missing: {pair} {similarity}" for pair, similarity in self._wanted.items() if pair not in pairs]
        for pair, similarity in pairs.items():
            exact = self.similarity(*pair)
            if similarity != exact or exact < self._threshold:
                faults.append(f"wrong: {pair} {similarity}, not {exact}")
        components = components_of(pairs)
        faults += [f"missing group: {sorted(group)}" for group in components - groups]
        return faults + [f"wrong group: {sorted(group)}" for group in groups - components]

    def similarity(self, left: str, right: str) -> float:
        """The exact one of what is left, 0 where one of the two is not."""
        if not {left, right} <= self._texts.keys():
            return 0.0
        one, other = self._scheme.shingle_sets([self._texts[left], self._texts[right]])
        shared = len(np.intersect1d(one, other))
        return shared / max(1, one.size + other.size - shared)


def components_of(pairs: Iterable[tuple[str, str]]) -> set[frozenset[str]]:
    group: dict[str, set[str]] = {}
    for left, right in pairs:
        joined = group.get(left, {left}) | group.get(right, {right})
        group |= dict.fromkeys(joined, joined)
    return {frozenset(one) for one in group.values()}


async def settled(config: Config, documents: Sequence[Document]) -> list[str]:
    """The faults of the published results, once there are none, or patience ends; `documents` remain in the end."""
    pipeline = config.pipelines[0]
    truth = Truth(
        expected(config, list(documents))[0],
        documents,
        as_kind(pipeline.kind, TextKind).scheme(),
        pipeline.kind.least,
    )
    end = time.monotonic() + PATIENCE
    while True:
        faults = truth.faults(*await published(config))
        if not faults or time.monotonic() > end:
            return faults
        await asyncio.sleep(2.0)
