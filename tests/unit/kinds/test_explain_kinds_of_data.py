"""Why two sets, two fingerprints or two vectors are together or not."""

import json
import math

import pytest

from stream_lsh.cli.output.terminal import Screen
from stream_lsh.cli.reports.explanation import as_json, as_text
from stream_lsh.kinds.comparison import PairwiseScheme
from stream_lsh.kinds.explain import Evidence, Explanation, Reason, Settings, explain
from stream_lsh.kinds.set.content import items_text
from stream_lsh.kinds.set.grid_scheme import GridScheme
from stream_lsh.kinds.set.scheme import set_scheme
from stream_lsh.kinds.vector.messages import VectorForm
from stream_lsh.kinds.vector.metric import VectorMeasure
from stream_lsh.kinds.vector.scheme import VectorScheme
from stream_lsh.ledger.graph.paths import Link
from stream_lsh.model import Document
from stream_lsh.pipeline.limits import Limits

MEASURE = VectorMeasure(name="cosine", dimension=2, distance=20.0)
VECTORS = VectorScheme(MEASURE)


def explained(
    scheme: PairwiseScheme, threshold: float, one: str | None, other: str | None, match: float = 0
) -> Explanation:
    """Of two that are in the same cluster if they are published as a match."""
    documents = {"a": Document("a", one), "b": Document("b", other)}
    clusters = {"a": "a", "b": "a"} if match else {}
    evidence = Evidence(documents, clusters, [Link("a", "b", match)] if match else [], {})
    return explain("a", "b", evidence, Settings(scheme, threshold, Limits()))


def words(explanation: Explanation) -> str:
    return "\n".join(as_text(explanation, Screen(), full=False))


def vector(*numbers: float) -> str:
    return VectorForm(2, "cosine").text(numbers, "vector")


def test_sets_are_explained_by_shared_and_differing_items() -> None:
    found = explained(set_scheme("lsh", 0.5), 0.5, items_text("abc"), items_text("abd"), 0.5)
    assert found.reason == Reason.MATCH
    assert found.comparison is not None
    assert (found.comparison.shared, found.comparison.union, found.comparison.bands) == (2, 4, 35)
    assert "[-c" in words(found)
    assert "{+d" in words(found)


def test_prints_are_explained_by_the_functions_that_hold_of_both() -> None:
    scheme = GridScheme(30, functions=500, size=2)
    found = explained(scheme, 0.6, items_text(range(10)), items_text(range(8)), 0.8)
    assert found.comparison is not None
    assert (found.reason, found.comparison.similarity) == (Reason.MATCH, 0.8)
    compared = found.comparison
    assert compared.matching >= compared.met > 0
    assert compared.slots == compared.bands == 500
    expected = 1 - (1 - math.comb(8, 2) / math.comb(30, 2)) ** 500
    assert compared.probability == pytest.approx(expected)
    apart = explained(scheme, 0.6, items_text(range(5)), items_text(range(20, 25)))
    assert apart.comparison is not None
    assert (apart.reason, apart.comparison.met, apart.comparison.probability) == (Reason.BELOW, 0, 0.0)


def test_vectors_are_explained_by_their_distance_and_bands() -> None:
    found = explained(VECTORS, MEASURE.least, vector(1, 0), vector(9, 1), 0.96)
    assert found.reason == Reason.MATCH
    text = words(found)
    assert "distance    6.34019; the maximum of a match is 20" in text
    assert f"of {VECTORS.banding.bands} in common" in text
    assert "characters" not in text
    assert "shingles" not in text
    value = json.loads(as_json(found))
    assert round(value["comparison"]["distance"], 5) == 6.34019
    assert value["documents"][0]["shingles"] is None


def test_vectors_that_are_too_far_apart_are_explained() -> None:
    found = explained(VECTORS, MEASURE.least, vector(1, 0), vector(0, 1))
    assert found.reason == Reason.BELOW
    assert "Not in the same cluster: they are farther apart than the maximum distance of a match, 20." in words(found)
    gone = explained(VECTORS, MEASURE.least, vector(1, 0), None)
    assert gone.reason == Reason.DELETED
    assert vector(1, 0) not in words(gone)


def test_equal_vectors_are_explained() -> None:
    found = explained(VECTORS, MEASURE.least, vector(1, 0), vector(1, 0), 1.0)
    assert "In the same cluster: they are the same vector." in words(found)
