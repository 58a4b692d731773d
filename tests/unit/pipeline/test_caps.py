"""The caps of a pipeline in memory: omitted pairs are counted, and by default there are none within a budget."""

import random
from dataclasses import replace

import pytest

from stream_lsh.index import prober
from stream_lsh.model import Document
from stream_lsh.pipeline import local
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.local import LocalPipeline
from tests.evaluation import oracles
from tests.evaluation.offline import components
from tests.simulation.pipelines.scheme import NamedShingles
from tests.streamed import Pairs, run

THRESHOLD = 0.5
COUNT = 240


def groups(count: int = COUNT, seed: int = 1) -> list[Document]:
    """Texts of one vocabulary: every bucket is large, and the groups of similar texts are mixed in it."""
    rng = random.Random(seed)
    documents = []
    for number in range(count):
        group = rng.randrange(4)
        words = [10 * group + word for word in rng.sample(range(6), 4)] + [60, 50 + rng.randrange(3)]
        documents.append(Document(f"d{number:03}", " ".join(map(str, sorted(words)))))
    return documents


def words_of(document: Document) -> list[str]:
    return (document.text or "").split()


def brute_force(documents: list[Document]) -> Pairs:
    found = {
        (a.id, b.id): oracles.jaccard(words_of(a), words_of(b)) for n, a in enumerate(documents) for b in documents[:n]
    }
    return {(b, a): value for (a, b), value in found.items() if value >= THRESHOLD}


def candidates_of(documents: list[Document]) -> int:
    """Pairs that share a word, hence a bucket."""
    sets = [set(words_of(document)) for document in documents]
    return sum(not one.isdisjoint(other) for n, one in enumerate(sets) for other in sets[:n])


def test_without_a_setting_every_pair_is_found() -> None:
    documents = groups()
    expected = brute_force(documents)
    pipeline = LocalPipeline(NamedShingles(), THRESHOLD, Limits.of(None, None, Limits().guards))
    public = run(pipeline, documents, 50)
    assert public.pairs == expected
    assert public.groups == components(expected)
    assert (pipeline.counts.capped_candidates, pipeline.counts.recall_under_caps) == (0, 1.0)


@pytest.mark.parametrize("most", [1, 5, 20])
def test_omitted_pairs_are_counted_and_the_recall_is_estimated(most: int) -> None:
    documents = groups()
    pipeline = LocalPipeline(NamedShingles(), THRESHOLD, Limits(cap_postings=most, cap_candidates=most))
    public = run(pipeline, documents, 30)
    counts, recall = pipeline.counts, len(public.pairs) / len(brute_force(documents))
    assert 0 < counts.capped_candidates == candidates_of(documents) - counts.candidates
    assert recall < 0.9
    assert counts.recall_under_caps == pytest.approx(recall, abs=0.03)


def test_the_caps_apply_when_the_free_candidates_are_spent() -> None:
    documents = groups()
    limits = Limits(cap_postings=3, cap_candidates=3, free_candidates=2_000, free_pairs=10**6)
    pipeline = LocalPipeline(NamedShingles(), THRESHOLD, limits)
    public = run(pipeline, documents, 10)
    first = brute_force(documents[:60])
    assert first.items() <= public.pairs.items()
    counts = pipeline.counts
    assert 2_000 < counts.candidates < 6_000
    assert counts.capped_candidates == candidates_of(documents) - counts.candidates
    assert counts.recall_under_caps == pytest.approx(len(public.pairs) / len(brute_force(documents)), abs=0.03)


def test_the_caps_apply_while_too_many_pairs_are_kept() -> None:
    documents = groups()
    limits = Limits(cap_postings=3, cap_candidates=3, free_candidates=10**9, free_pairs=500)
    pipeline = LocalPipeline(NamedShingles(), THRESHOLD, limits)
    public = run(pipeline, documents, 10)
    assert brute_force(documents[:40]).items() <= public.pairs.items()
    assert len(public.pairs) < 500 + 3 * COUNT + 10 * COUNT
    assert pipeline.counts.capped_candidates > 0


def test_memory_is_bounded_without_an_effect_on_the_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = groups()
    documents += [replace_text(documents[number]) for number in range(0, COUNT, 7)]
    limits = [Limits(cap_postings=0, cap_candidates=0), Limits(cap_postings=9, cap_candidates=20)]
    at_once = [LocalPipeline(NamedShingles(), THRESHOLD, each) for each in limits]
    expected = [run(pipeline, documents, 60).pairs for pipeline in at_once]
    monkeypatch.setattr(prober, "MOST_KEYS", 64)
    monkeypatch.setattr(local, "_AT_ONCE", 10)
    in_pieces = [LocalPipeline(NamedShingles(), THRESHOLD, each) for each in limits]
    assert [run(pipeline, documents, 60).pairs for pipeline in in_pieces] == expected
    omitted = [pipeline.counts.capped_candidates for pipeline in at_once]
    assert [pipeline.counts.capped_candidates for pipeline in in_pieces] == omitted


def replace_text(document: Document) -> Document:
    return document._replace(text=(document.text or "")[3:])


def test_without_credit_the_number_of_omitted_pairs_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_CREDIT", 1 << 15)
    documents = groups(600)
    pipeline = LocalPipeline(NamedShingles(), THRESHOLD, Limits(cap_postings=20, cap_candidates=20))
    run(pipeline, documents, 10)
    assert not pipeline.table.prober.omitted.is_exact
    omitted = candidates_of(documents) - pipeline.counts.candidates
    assert pipeline.counts.capped_candidates == pytest.approx(omitted, rel=0.15)


def test_a_query_is_compared_with_all_documents_even_when_the_budget_is_spent() -> None:
    documents = groups()
    limits = Limits(cap_postings=3, cap_candidates=3, free_candidates=1, free_pairs=10**6)
    pipeline = LocalPipeline(NamedShingles(), THRESHOLD, limits)
    run(pipeline, documents, 10)
    query = documents[0].text or ""
    similar = pipeline.similar(query)
    expected = [one.id for one in documents if oracles.jaccard(query.split(), words_of(one)) >= THRESHOLD]
    assert similar is not None
    assert sorted(similar.right.ids) == expected
    capped = LocalPipeline(NamedShingles(), THRESHOLD, replace(limits, free_candidates=0))
    run(capped, documents, 10)
    before = capped.counts.capped_candidates
    capped.similar(query)
    assert capped.counts.capped_candidates > before
