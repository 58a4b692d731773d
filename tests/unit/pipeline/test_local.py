"""The five steps in a chain: the same pairs and groups for batches of any size."""

import random

import pytest

from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.model import Document
from stream_lsh.pipeline.limits import Limits
from stream_lsh.pipeline.local import LocalPipeline
from tests.evaluation import oracles
from tests.evaluation.offline import components
from tests.simulation.pipelines.scheme import NamedShingles
from tests.streamed import UNCAPPED, Pairs, Public, run


def similarity(one: Document, other: Document) -> float:
    return oracles.jaccard((one.text or "").split(), (other.text or "").split())


def pairs_of(documents: list[Document], threshold: float) -> Pairs:
    """All pairs of the newest versions."""
    newest = {document.id: document for document in documents}
    live = [newest[id] for id in sorted(newest) if newest[id].text]
    found = {(a.id, b.id): similarity(a, b) for n, a in enumerate(live) for b in live[n + 1 :]}
    return {pair: value for pair, value in found.items() if value >= threshold}


def drawn(rng: random.Random, count: int, ids: int, deletes: float = 0.15) -> list[Document]:
    documents = []
    for n in range(count):
        words = rng.sample(range(7), rng.randint(0, 4))
        text = None if rng.random() < deletes else " ".join(map(str, words))
        documents.append(Document(f"d{rng.randrange(ids)}", text, n))
    return documents


@pytest.mark.parametrize("case", range(25))
def test_updates_and_deletes_in_batches_of_any_size_end_in_the_pairs_of_the_newest_versions(case: int) -> None:
    rng = random.Random(case)
    documents, threshold = drawn(rng, 60, rng.choice((5, 12, 40))), rng.choice((0.3, 0.5, 0.75))
    expected = pairs_of(documents, threshold)
    for size in (1, 2, 7, 60):
        for presigned in (False, True):
            pipeline = LocalPipeline(NamedShingles(), threshold, UNCAPPED)
            public = run(pipeline, documents, size, sign=presigned)
            assert public.pairs == expected
            assert public.groups == components(expected)


@pytest.mark.parametrize("case", range(15))
def test_with_a_retention_the_pairs_are_those_close_enough_in_time(case: int) -> None:
    rng = random.Random(case)
    documents = [document._replace(id=f"d{n:03}") for n, document in enumerate(drawn(rng, 80, 1, deletes=0))]
    retention_ms = rng.choice((3, 10, 30))
    expected = {
        (a, b): value
        for (a, b), value in pairs_of(documents, 0.5).items()
        if abs(int(a[1:]) - int(b[1:])) <= retention_ms
    }
    for size in (1, 7, 80):
        limits = Limits(retention_ms, lateness_ms=rng.choice((0, 5)), cap_postings=0, cap_candidates=0)
        pipeline = LocalPipeline(NamedShingles(), 0.5, limits)
        assert run(pipeline, documents, size).pairs == expected, "expired pairs are not withdrawn"
        assert len(pipeline.documents) == retention_ms + limits.lateness_ms + 1


@pytest.mark.parametrize("case", range(10))
def test_with_max_documents_a_document_meets_the_newest_only(case: int) -> None:
    rng = random.Random(case)
    documents = [document._replace(id=f"d{n:03}") for n, document in enumerate(drawn(rng, 60, 1, deletes=0))]
    most = rng.choice((1, 5, 20))
    pipeline = LocalPipeline(NamedShingles(), 0.5, Limits(max_documents=most, cap_postings=0, cap_candidates=0))
    public = Public()
    for document in documents:
        run(pipeline, [document], 1, public)
        assert len(pipeline.documents) <= most
    expected = {p: v for p, v in pairs_of(documents, 0.5).items() if int(p[1][1:]) - int(p[0][1:]) <= most}
    assert public.pairs == expected


def test_with_max_documents_the_index_is_bounded_too() -> None:
    pipeline = LocalPipeline(TextScheme(0.8), 0.8, Limits(max_documents=50))
    run(pipeline, [Document(f"d{n}", f"the document of number {n}") for n in range(3_000)], 50)
    assert len(pipeline.documents) == 50
    assert pipeline.table.documents <= 50 + 1_000 + 2 * 50


def test_texts_of_a_real_scheme_give_the_same_in_batches_of_any_size() -> None:
    rng = random.Random(9)
    words = [f"w{n}" for n in range(300)]
    documents = []
    for n in range(120):
        text = rng.choices(words, k=60)
        documents.append(Document(f"a{n}", " ".join(text)))
        for m in range(rng.randrange(3)):
            copy = [rng.choice(words) if rng.random() < 0.02 * m else word for word in text]
            documents.append(Document(f"b{n}.{m}", " ".join(copy)))
    rng.shuffle(documents)
    found = [run(LocalPipeline(TextScheme(0.7), 0.7), documents, size) for size in (1, 50, 1_000)]
    assert len(found[0].pairs) > 60
    for other in found[1:]:
        assert (other.pairs, other.groups) == (found[0].pairs, found[0].groups)
    for (left, right), value in found[0].pairs.items():
        texts = {document.id: document.text or "" for document in documents}
        assert value == oracles.jaccard(*(oracles.word_windows(texts[id], 3) for id in (left, right))) >= 0.7


def test_a_query_finds_what_a_document_would_and_changes_nothing() -> None:
    pipeline = LocalPipeline(NamedShingles(), 0.5, UNCAPPED)
    run(pipeline, [Document("a", "1 2 3"), Document("b", "3 4"), Document("c", "")], 3)
    before = pipeline.settler.snapshot()
    edges = pipeline.similar("1 2")
    assert edges is not None
    assert list(zip(edges.right.ids, edges.similarity.tolist(), strict=True)) == [("a", 2 / 3)]
    assert pipeline.similar("") is pipeline.similar("6") is None
    assert pipeline.settler.snapshot() == before
    assert len(pipeline.documents) == 3


@pytest.mark.parametrize("case", range(10))
def test_a_restored_pipeline_goes_on_like_the_one_it_was_taken_from(case: int) -> None:
    rng = random.Random(case)
    documents = drawn(rng, 80, 12)
    limits = rng.choice(
        (UNCAPPED, Limits(30, 0, cap_postings=0, cap_candidates=0), Limits(None, max_documents=6, cap_postings=0))
    )
    pipeline, restored = (LocalPipeline(NamedShingles(), 0.5, limits) for _ in range(2))
    public = run(pipeline, documents[:40], 5)
    state = pipeline.snapshot()
    restored.restore([state.documents], state.ledger, (state.next_offset, state.newest_ms))
    other = Public()
    other.matches, other.members = dict(public.matches), dict(public.members)
    for start in range(40, 80, 4):
        run(pipeline, documents[start : start + 4], 4, public)
        run(restored, documents[start : start + 4], 4, other)
        assert (other.pairs, other.groups) == (public.pairs, public.groups)


def test_an_empty_batch_is_nothing() -> None:
    assert LocalPipeline(NamedShingles(), 0.5).process([]) == []
