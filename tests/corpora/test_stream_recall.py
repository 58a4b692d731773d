"""The recall that a worker reports is the one that it has, also where its caps omit half of the matches."""

import gzip
import json
from pathlib import Path

import pytest

from stream_lsh import NearDuplicates
from tests.embedded.applications import application, configured
from tests.evaluation.corpora import Pair, pair_of
from tests.unit.worker.query.client import in_loop

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

THRESHOLD = 0.5
WITHIN = 0.02


def exact_pairs(texts: dict[str, str]) -> set[Pair]:
    """All pairs from the threshold on, by the method `exact` without caps."""
    near = NearDuplicates(threshold=THRESHOLD, method="exact", max_candidates=0)
    near.add_many(texts.items())
    return {pair_of(match.left, match.right) for match in near.matches()}


@pytest.mark.parametrize(("partitions", "cap"), [(1, 100), (4, 100), (1, None)])
@in_loop
async def test_the_reported_recall_is_the_measured_one(data_dir: Path, partitions: int, cap: int | None) -> None:
    with gzip.open(data_dir / "licence_texts_3000" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = {one["id"]: one["text"] for one in map(json.loads, lines)}
    capped = "" if cap is None else f"max_candidates = {cap}"
    async with application(configured(partitions, f"threshold = {THRESHOLD}\nshadow = 0.2\n{capped}")) as app:
        await app.send([(id, {"text": text}) for id, text in texts.items()])
        found = {pair_of(value["left"], value["right"]) for _, value in await app.read("matches")}
        reported = app.worker._app.pipelines["docs"].counts.recall_monitor.recall()
    exact = exact_pairs(texts)
    measured = len(found & exact) / len(exact)
    assert found <= exact
    assert abs(reported.share - measured) < WITHIN
    assert (measured > 0.99) == (cap is None)
