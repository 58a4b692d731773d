"""Step 4: exact similarities against Python sets, and which pairs are answered."""

import math
import random
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from zlib import crc32

import numpy as np
import pytest

from stream_lsh.arrays import I64
from stream_lsh.kinds.shingled.comparer import ShingleSets
from stream_lsh.kinds.shingled.scheme import TextScheme
from stream_lsh.ledger.edges import Edges
from stream_lsh.measure.containment import Containment
from stream_lsh.model import Document, make_ref
from stream_lsh.pipeline.batches import CANDIDATE, RECHECK, Signatures
from stream_lsh.pipeline.compare import Criteria
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.verify import verify, verify_in_steps
from tests.evaluation import oracles
from tests.simulation.pipelines.scheme import NamedShingles
from tests.unit.pipeline.makers import asked, signed


class Numbers(NamedShingles):
    """Texts of any numbers; the signature is that of the first six."""

    def sign(self, texts: Sequence[str]) -> Signatures:
        """The digest is one of the whole set."""
        sets = [sorted({int(word) for word in text.split()}) for text in texts]
        values = super().sign([" ".join(map(str, numbers[:6])) for numbers in sets]).values
        digests = [crc32(repr(numbers).encode()) if numbers else 0 for numbers in sets]
        return Signatures(values, np.array(digests, np.uint64))


SCHEME = Numbers()
NEW = 1_000_000

Answer = dict[tuple[str, str], tuple[float, int, int]]


def table_of(scheme: NamedShingles | TextScheme, documents: list[Document], partition: int = 0) -> DocumentTable:
    table = DocumentTable(scheme.slots)
    signed(table, scheme, 0, documents, partition=partition)
    return table


def answers(edges: Edges | None) -> Answer:
    if edges is None:
        return {}
    rows = zip(edges.left.ids, edges.right.ids, edges.similarity, edges.shared, edges.union, strict=True)
    return {(new, old): (float(j), int(shared), int(union)) for new, old, j, shared, union in rows}


def compare(
    new: str, old: str, criteria: Criteria, kind: int = CANDIDATE, times: tuple[int, int] = (0, 0)
) -> tuple[float, int, int] | None:
    """The answer of verify for one pair of texts of the scheme without chance."""
    table = table_of(SCHEME, [Document("old", old, times[1])])
    batch = asked(SCHEME, [(NEW, Document("new", new, times[0]))], [(0, 0, kind)])
    return answers(verify(batch, table, criteria, ShingleSets(SCHEME))).get(("new", "old"))


# -- exactness


@pytest.mark.parametrize("shingles", ["char:3", "word:2"])
@pytest.mark.parametrize("case", range(12))
def test_similarities_are_those_of_python_sets(shingles: str, case: int) -> None:
    rng = random.Random(case)
    scheme = TextScheme(0.5, shingles)
    words = [
        "ab",
        "zürich",
        "naïve",
        "日本語",
        "😀",
        "İß",
        "один",
        "два",
        "e\u0301",
        "\ud800",
        "x\0y",
        "Σας",
        "foo",
        "42",
    ]

    def text() -> str:
        return " ".join(rng.choice(words) for _ in range(rng.choice((0, 1, 3, 30))))

    def shingle_set(text: str) -> set[object]:
        normal = unicodedata.normalize("NFC", text)
        return set(oracles.char_windows(normal, 3) if shingles == "char:3" else oracles.word_windows(normal, 2))

    old = [Document(f"o{n}", text()) for n in range(25)]
    new = [Document(f"n{n}", text() if n % 3 else old[n].text) for n in range(15)]
    table = table_of(scheme, old)
    pairs = [(n, o, RECHECK) for n in range(15) for o in range(25)]
    rng.shuffle(pairs)
    batch = asked(scheme, [(NEW + n, document) for n, document in enumerate(new)], pairs)
    edges = verify(batch, table, Criteria(0.5), ShingleSets(scheme, rng.choice((0, 200, 1 << 20))))
    found = answers(edges)
    assert len(found) == len(pairs)
    for one in new:
        for other in old:
            a, b = shingle_set(one.text or ""), shingle_set(other.text or "")
            union = len(a | b)
            assert found[one.id, other.id] == (len(a & b) / union if union else 0.0, len(a & b), union)
    as_candidates = asked(
        scheme, [(NEW + n, document) for n, document in enumerate(new)], [(n, o, CANDIDATE) for n, o, _ in pairs]
    )
    matches = answers(verify(as_candidates, table, Criteria(0.5), ShingleSets(scheme)))
    assert matches == {pair: answer for pair, answer in found.items() if answer[0] >= 0.5}
    assert matches


def test_a_text_is_read_once_and_only_while_its_set_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme, read = TextScheme(0.5, "char:3"), list[int]()
    texts = DocumentTable.texts

    def noted(table: DocumentTable, rows: I64) -> list[str]:
        read.extend(rows.tolist())
        return texts(table, rows)

    monkeypatch.setattr(DocumentTable, "texts", noted)
    table = table_of(scheme, [Document(f"o{n}", f"the same long text but for {n}") for n in range(6)])
    batch = asked(
        scheme,
        [(NEW + n, Document(f"n{n}", f"the same long text but for {n + 3}")) for n in range(6)],
        [(n, o, RECHECK) for n in range(6) for o in range(6)],
    )
    compared = ShingleSets(scheme)
    first = answers(verify(batch, table, Criteria(0.5), compared))
    assert sorted(read) == [*range(6)]
    steps = verify_in_steps(batch, table, Criteria(0.5), compared)
    assert {pair: found for step in steps for pair, found in answers(step).items()} == first
    assert len(read) == 6


@pytest.mark.parametrize("case", range(4))
def test_similarities_of_many_near_duplicates_are_those_of_python_sets(case: int) -> None:
    rng, scheme = random.Random(case), TextScheme(0.5, "word:1")
    texts = list[str]()
    for _ in range(3):
        base = [str(rng.randrange(1_000_000)) for _ in range(rng.choice((150, 600)))]
        for _ in range(30):
            changed = rng.sample(range(len(base)), rng.randrange(1, len(base) // 5))
            of_text = {place: str(rng.randrange(1_000_000)) for place in changed}
            texts.append(" ".join(of_text.get(place, word) for place, word in enumerate(base)))
    documents = [Document(f"d{number}", text) for number, text in enumerate(texts)]
    table, compared = table_of(scheme, documents), ShingleSets(scheme, rng.choice((0, 20_000, 1 << 20)))
    words = [set(text.split()) for text in texts]
    order = rng.sample(range(90), 90)
    for start in range(0, 90, 15):
        new = [(NEW + at, documents[at]._replace(id=f"n{at}")) for at in order[start : start + 15]]
        pairs = [(row, old, RECHECK) for row in range(15) for old in range(90)]
        found = answers(verify(asked(scheme, new, pairs), table, Criteria(0.5), compared))
        expected = {
            (f"n{at}", f"d{old}"): (len(words[at] & words[old]), len(words[at] | words[old]))
            for at in order[start : start + 15]
            for old in range(90)
        }
        assert found == {pair: (shared / union, shared, union) for pair, (shared, union) in expected.items()}


@pytest.mark.parametrize("union", [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 30, 49, 100])
def test_a_pair_exactly_at_the_threshold_is_a_match(union: int) -> None:
    for shared in range(1, union + 1):
        texts = [" ".join(map(str, range(shared))), " ".join(map(str, range(union)))]
        threshold = shared / union
        for new, old in (texts, texts[::-1]):
            assert compare(new, old, Criteria(threshold)) == (threshold, shared, union)
            assert compare(new, old, Criteria(math.nextafter(threshold, 2))) is None


@pytest.mark.parametrize("percent", range(1, 101))
def test_a_threshold_is_met_as_the_user_wrote_it(percent: int) -> None:
    exact = Fraction(percent, 100)
    for scale in (1, 2, 3, 7):
        shared, union = exact.numerator * scale, exact.denominator * scale
        texts = [" ".join(map(str, range(n))) for n in (shared, union)]
        assert compare(texts[0], texts[1], Criteria(float(f"{percent / 100:.2f}"))) is not None


def test_many_old_documents_of_one_new_one_are_counted_like_few() -> None:
    rng = random.Random(1)
    old = [Document(str(n), " ".join(map(str, rng.sample(range(30), rng.randint(1, 20))))) for n in range(700)]
    table = table_of(SCHEME, old)
    new = [(NEW + n, Document(f"n{n}", " ".join(map(str, range(n, n + 12))))) for n in range(3)]
    batch = asked(SCHEME, new, [(n, o, CANDIDATE) for o in range(700) for n in range(3)])
    found = answers(verify(batch, table, Criteria(0.25), ShingleSets(SCHEME, 500)))
    expected = {}
    for _, one in new:
        for other in old:
            a, b = set((one.text or "").split()), set((other.text or "").split())
            if len(a & b) / len(a | b) >= 0.25:
                expected[one.id, other.id] = (len(a & b) / len(a | b), len(a & b), len(a | b))
    assert found == expected
    assert len(found) > 50


# -- pairs that are compared


def test_the_estimate_spares_candidates_and_not_rechecks() -> None:
    # One of six slots agrees.
    new, old = "1 2 3 4 5 6", "1 12 13 14 15 16"
    assert compare(new, old, Criteria(0.01, least_matching=2)) is None
    assert compare(new, old, Criteria(0.01, least_matching=1)) == (1 / 11, 1, 11)
    assert compare(new, old, Criteria(0.01, least_matching=2), RECHECK) == (1 / 11, 1, 11)


def test_a_recheck_is_answered_below_the_threshold_too() -> None:
    assert compare("1 2", "3 4", Criteria(0.5), RECHECK) == (0.0, 0, 4)
    assert compare("1 2", "2 3", Criteria(0.5), RECHECK) == (1 / 3, 1, 3)


def test_identical_documents_are_known_without_the_text_of_the_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [Document("old", "1 2 3")]
    table = table_of(SCHEME, documents)
    batch = asked(SCHEME, [(NEW, Document("new", "1 2 3"))], [(0, 0, CANDIDATE)])
    monkeypatch.setattr(table, "texts", lambda rows: [0 / 0 for _ in rows])  # none may be asked for
    assert answers(verify(batch, table, Criteria(1.0, 6), ShingleSets(SCHEME))) == {("new", "old"): (1.0, 3, 3)}


def test_equal_digests_of_different_signatures_are_no_proof_of_equality() -> None:
    class Colliding(Numbers):
        """All digests are equal."""

        def sign(self, texts: Sequence[str]) -> Signatures:
            """All digests are equal."""
            return Signatures(super().sign(texts).values, np.full(len(texts), 5, np.uint64))

    scheme = Colliding()
    table = table_of(scheme, [Document("old", "1 2 3")])
    batch = asked(scheme, [(NEW, Document("new", "1 2 4"))], [(0, 0, CANDIDATE)])
    assert answers(verify(batch, table, Criteria(0.1), ShingleSets(scheme))) == {("new", "old"): (0.5, 2, 4)}


@pytest.mark.parametrize(("new", "old"), [("", "1"), ("1", ""), ("", "")])
def test_an_empty_document_is_similar_to_nothing(new: str, old: str) -> None:
    union = 0 if new == old else 1
    assert compare(new, old, Criteria(0.0001)) is None
    assert compare(new, old, Criteria(0.0001), RECHECK) == (0.0, 0, union)


# -- containment


@pytest.mark.parametrize("union", [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 30])
def test_a_contained_document_is_a_match_up_to_the_ratio_of_sizes(union: int) -> None:
    whole = " ".join(map(str, range(union)))
    for shared in range(1, union + 1):
        part, ratio = " ".join(map(str, range(shared))), union / shared
        for new, old in ((part, whole), (whole, part)):
            assert compare(new, old, Criteria(0.99, measure=Containment(ratio))) == (1.0, shared, union)
            if shared < union:
                less = Criteria(0.01, measure=Containment(math.nextafter(ratio, 1)))
                assert compare(new, old, less) is None
                assert compare(new, old, less, RECHECK) == (0.0, shared, union), "answered: it is no match any more"


def test_a_pair_exactly_at_the_threshold_of_containment_is_a_match() -> None:
    for size in range(1, 12):
        for shared in range(1, size + 1):
            one, other = (" ".join(map(str, numbers)) for numbers in (range(size), range(size - shared, 2 * size)))
            threshold, measure = shared / size, Containment(3.0)
            answer = (threshold, shared, 2 * size)
            assert compare(one, other, Criteria(threshold, measure=measure)) == answer
            assert compare(one, other, Criteria(math.nextafter(threshold, 2), measure=measure)) is None


def test_containment_returns_the_number_of_shingles_of_the_new_document() -> None:
    table = table_of(SCHEME, [Document("old", "1 2 3 4 5"), Document("same", "1 2 3"), Document("far", "7")])
    batch = asked(SCHEME, [(NEW, Document("new", "1 2 3"))], [(0, n, RECHECK) for n in range(3)])
    edges = verify(batch, table, Criteria(0.5, measure=Containment()), ShingleSets(SCHEME))
    assert edges is not None
    assert edges.shingles is not None
    assert edges.shingles.tolist() == [3, 3, 3]
    plain = verify(batch, table, Criteria(0.5), ShingleSets(SCHEME))
    assert plain is not None
    assert plain.shingles is None


# -- event time


@pytest.mark.parametrize(
    ("one", "other"), [(0, 100), (-50, 50), ((1 << 63) - 1, (1 << 63) - 101), (-(1 << 62), -(1 << 62) + 100)]
)
def test_a_pair_as_far_apart_as_the_retention_is_a_match_and_one_further_is_not(one: int, other: int) -> None:
    for times in ((one, other), (other, one)):
        assert compare("1 2", "1 2", Criteria(0.5, 0, 100), times=times) == (1.0, 2, 2)
        assert compare("1 2", "1 2", Criteria(0.5, 0, 99), times=times) is None
        assert compare("1 2", "1 2", Criteria(0.5, 0, 99), RECHECK, times) == (0.0, 0, 0), "too far apart: answered 0"
        assert compare("1 2", "1 2", Criteria(0.5), times=times) == (1.0, 2, 2)


@pytest.mark.parametrize("times", [(-(1 << 62), (1 << 63) - 1), (-(1 << 62), (1 << 62) + 1)])
def test_distances_beyond_an_int64_are_far(times: tuple[int, int]) -> None:
    for new, old in (times, times[::-1]):
        assert compare("1", "1", Criteria(0.5, 0, (1 << 62)), times=(new, old)) is None
        assert compare("1", "1", Criteria(0.5, 0, (1 << 62)), RECHECK, (new, old)) == (0.0, 0, 0)
        assert compare("1", "1", Criteria(0.5, 0, 1 << 64), times=(new, old)) is not None


# -- versions


@pytest.mark.parametrize("kind", [CANDIDATE, RECHECK])
def test_a_stale_old_ref_is_not_answered(kind: int) -> None:
    table = table_of(SCHEME, [Document("a", "1"), Document("b", "1")])
    signed(table, SCHEME, 2, [Document("a", "1 2"), Document("b", None)])
    new = [(NEW, Document("new", "1"))]
    for old in (0, 1, 3, 77):
        assert verify(asked(SCHEME, new, [(0, old, kind)]), table, Criteria(0.1), ShingleSets(SCHEME)) is None
    found = verify(asked(SCHEME, new, [(0, 0, kind), (0, 2, kind)]), table, Criteria(0.1), ShingleSets(SCHEME))
    assert answers(found) == {("new", "a"): (0.5, 1, 2)}


@pytest.mark.parametrize("kind", [CANDIDATE, RECHECK])
def test_a_version_is_not_compared_with_itself(kind: int) -> None:
    table = table_of(SCHEME, [Document("a", "1")])
    batch = asked(SCHEME, [(0, Document("a", "1"))], [(0, 0, kind)])
    assert verify(batch, table, Criteria(0.1), ShingleSets(SCHEME)) is None


def test_an_edge_carries_both_ends_in_full() -> None:
    table = table_of(SCHEME, [Document("\ud800\0", "1 2", -5)], partition=40_000)
    old, new = make_ref(40_000, 0), make_ref(65_535, 9)
    batch = asked(SCHEME, [(new, Document("n", "1", 7))], [(0, old, CANDIDATE)])
    edges = verify(batch, table, Criteria(0.5), ShingleSets(SCHEME))
    assert edges is not None
    digests = SCHEME.sign(["1", "1 2"]).digests.tolist()
    for ends, expected in (
        (edges.left, (["n"], new, 7, digests[0])),
        (edges.right, (["\ud800\0"], old, -5, digests[1])),
    ):
        assert (list(ends.ids), int(ends.refs[0]), int(ends.times[0]), int(ends.digests[0])) == expected
    assert [str(c.dtype) for c in (edges.similarity, edges.shared, edges.union)] == ["float64", "uint32", "uint32"]
