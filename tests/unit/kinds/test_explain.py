"""Why two documents are in the same cluster or not: from evidence that is made by hand."""

from dataclasses import replace
from typing import Any

import pytest

from stream_lsh.kinds.comparison import Comparison
from stream_lsh.kinds.explain import Evidence, Explanation, Reason, Settings, explain
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.ledger.clusters.guards.choice import Guards
from stream_lsh.ledger.graph.paths import Link
from stream_lsh.lsh.scurve import candidate_probability
from stream_lsh.measure.containment import Containment
from stream_lsh.model import Document
from stream_lsh.pipeline.limits import Limits
from tests.evaluation.oracles import jaccard, word_windows

ONE = "one two three four five six seven eight nine ten eleven twelve"
LIKE = ONE.replace("twelve", "thirteen")
UNLIKE = "nothing of all that is shown here has been shown before by others"
SCHEME = TextScheme(0.5, "word:2")
FREE = Settings(SCHEME, 0.5, Limits())


def compare(one: str, other: str, scheme: TextScheme) -> Comparison:
    found = scheme.explain(one, other).comparison
    assert found is not None
    return found


def explained(
    one: str | None = ONE,
    other: str | None = LIKE,
    *,
    clusters: str = "",
    links: str = "",
    settings: Settings = FREE,
    times: tuple[int, int] = (1, 1),
    **more: Any,
) -> Explanation:
    """About a and b; clusters such as "a:x b:x", links such as "ac:0.9"."""
    documents = {id: Document(id, text, at) for id, text, at in zip("ab", (one, other), times, strict=True)}
    member_of = dict(entry.split(":") for entry in clusters.split())
    pairs = [Link(entry[0], entry[1], float(entry[3:])) for entry in links.split()]
    evidence = Evidence(documents, member_of, pairs, more.pop("digests", {}), **more)
    return explain("a", "b", evidence, settings)


def steps(explanation: Explanation) -> str:
    path = explanation.path
    return "" if path is None else path[0].left + "".join(link.right for link in path)


def test_a_comparison_follows_the_definitions() -> None:
    found = compare(ONE, LIKE, SCHEME)
    left, right = word_windows(ONE, 2), word_windows(LIKE, 2)
    assert (found.shared, found.union) == (len({*left} & {*right}), len({*left} | {*right}))
    assert found.similarity == jaccard(left, right)
    signatures = SCHEME.sign([ONE, LIKE])
    agree = (signatures.values[0] == signatures.values[1]).tolist()
    banding = SCHEME.banding
    rows = [agree[start : start + banding.rows] for start in range(0, banding.slots_used, banding.rows)]
    assert (found.matching, found.slots) == (sum(agree), len(agree))
    assert (found.met, found.bands) == (sum(map(all, rows)), banding.bands)
    assert found.probability == candidate_probability(found.similarity, banding.bands, banding.rows)
    assert not found.identical


def test_a_text_without_shingles_meets_nothing_and_is_identical_to_nothing() -> None:
    for one, other in (("", ""), ("", ONE), ("!", "?")):
        found = compare(one, other, SCHEME)
        assert (found.similarity, found.met, found.matching, found.identical) == (0.0, 0, 0, False)


def test_the_same_shingles_in_other_numbers_are_similar_and_not_identical() -> None:
    assert compare("a b a b", "a b a b a b", SCHEME).similarity == 1
    assert not compare("a b a b", "a b a b a b", SCHEME).identical
    assert compare("A b, c", "a B c!", SCHEME).identical


@pytest.mark.parametrize(
    ("links", "reason", "path"),
    [
        ("ab:0.8", Reason.MATCH, "ab"),
        ("ac:0.9 cb:0.9", Reason.CHAIN, "acb"),
        ("ac:0.9 bc:0.9 ab:0.8", Reason.MATCH, "acb"),  # a match, and a stronger chain beside it
        ("ax:0.9 xb:0.9", Reason.PAST, "axb"),  # x is no member any more
        ("ax:0.9 xb:0.9 ac:0.5 cb:0.5", Reason.CHAIN, "acb"),
        ("ao:0.9 ob:0.9", Reason.PAST, ""),  # o is in another cluster
        ("", Reason.PAST, ""),
    ],
)
def test_the_reason_for_one_cluster_is_found(links: str, reason: Reason, path: str) -> None:
    found = explained(clusters="a:q b:q c:q o:r", links=links)
    assert found.together
    assert (found.reason, steps(found)) == (reason, path)


def test_identical_documents_next_to_each_other_in_time_are_linked() -> None:
    digests = {"a": (7, 0), "c": (7, 50), "d": (7, 100), "e": (0, 0), "f": (0, 0)}
    near = replace(FREE, limits=Limits(retention_ms=60))
    assert steps(explained(clusters="a:q b:q c:q d:q", links="db:0.6", digests=digests, settings=near)) == "acdb"
    far = replace(FREE, limits=Limits(retention_ms=49))
    assert explained(clusters="a:q b:q c:q d:q", links="db:0.6", digests=digests, settings=far).reason == Reason.PAST
    assert explained(clusters="a:q b:q e:q f:q", links="ae:0.9 fb:0.9", digests=digests).path is None  # no shingles
    assert steps(explained(other=ONE, clusters="a:q b:q")) == "ab"


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ({"one": None}, Reason.DELETED),
        ({"other": ""}, Reason.EMPTY),
        ({"clusters": "b:q", "links": "ab:0.9", "expired": {"a"}}, Reason.EXPIRED),
        ({"expired": {"a"}}, Reason.EXPIRED),
        ({"links": "ac:0.9 cb:0.9", "clusters": "a:q b:r c:q", "settings": "guarded"}, Reason.GUARD),
        ({"settings": "guarded"}, Reason.CAPPED),
        ({"times": (0, 101)}, Reason.APART),
        ({"other": UNLIKE}, Reason.BELOW),
        ({"other": UNLIKE, "expired": {"a"}, "waiting": 3}, Reason.BELOW),
        ({"waiting": 3}, Reason.UNSETTLED),
        ({}, Reason.CAPPED),
    ],
)
def test_the_reason_for_two_clusters_is_found(case: dict[str, Any], reason: Reason) -> None:
    guarded = case.pop("settings", None) == "guarded"
    settings = replace(FREE, limits=Limits(retention_ms=100, guards=Guards(strong_links=guarded)))
    found = explained(settings=settings, **case)
    assert (found.reason, found.together) == (reason, False)
    assert found.waiting == case.get("waiting", 0)


def test_sets_too_unlike_in_size_for_containment_are_a_reason_of_their_own() -> None:
    measure = Containment(2.0)
    scheme = TextScheme(0.5, "word:2", measure=measure)
    settings = replace(FREE, scheme=scheme)
    words = [f"w{number}" for number in range(40)]
    part, twice, more = (" ".join(words[:count]) for count in (11, 21, 22))
    assert compare(part, twice, scheme).similarity == 1.0
    assert compare(part, twice, SCHEME).similarity == 0.5
    found = explained(one=part, other=more, settings=settings)
    assert (found.reason, found.comparison and found.comparison.similarity) == (Reason.SIZES, 0.0)
    assert explained(one=part, other=twice, settings=settings).reason == Reason.CAPPED
    assert explained(one=part, other=UNLIKE, settings=settings).reason == Reason.BELOW


def test_a_text_that_is_not_known_is_not_compared() -> None:
    found = explain("a", "b", Evidence({"a": Document("a", ONE)}, {"b": "q"}, [], {}), FREE)
    assert (found.reason, found.comparison, found.sides[1].document) == (Reason.ABSENT, None, None)
    found = explain(
        "a", "b", Evidence({"a": Document("a", ONE)}, {"a": "q", "b": "q"}, [Link("a", "b", 0.8)], {}), FREE
    )
    assert (found.reason, found.sides[0].passages[0].shared) == (Reason.MATCH, False)


def test_signatures_that_differ_too_much_are_a_reason_of_their_own() -> None:
    """One slot in a thousand pairs agrees so rarely: a scheme that asks for more stands for them."""

    class Strict(TextScheme):
        def least_matching(self, threshold: float) -> int:
            return self.slots

    assert explained(settings=Settings(Strict(0.5, "word:2"), 0.5, Limits())).reason == Reason.ESTIMATE
