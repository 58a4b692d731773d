"""Batches divided: in order, nothing lost, and no version retires more than its record has room for."""

from hypothesis import given
from hypothesis import strategies as st

from stream_lsh.model import Document, make_ref
from stream_lsh.pipeline.dividing import divided
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.sign import Arrivals
from stream_lsh.retention import Horizon
from tests.simulation.pipelines.scheme import NamedShingles
from tests.unit.pipeline.signing import sign

SCHEME = NamedShingles()


def new_table() -> DocumentTable:
    return DocumentTable(SCHEME.slots)


def documents(ids: str) -> list[Document]:
    """Each in a version of its own."""
    return [Document(id, f"{number} {number + 1}", number) for number, id in enumerate(ids)]


def retired(arrivals: Arrivals, table: DocumentTable) -> int:
    """How many versions one of the new ones retires at most; they are in the table then."""
    record = sign(arrivals, table, SCHEME, Horizon()).record
    counts = [] if record is None else [int((record.retired_rows == row).sum()) for row in range(len(record))]
    return max(counts, default=0)


def test_a_batch_without_repetitions_is_not_divided() -> None:
    arrivals = Arrivals(0, range(4), documents("abcd"))
    assert divided(arrivals, new_table(), 1) == [arrivals]


def test_versions_of_one_id_are_divided_where_there_are_too_many() -> None:
    arrivals = Arrivals(0, range(7), documents("aabaaab"))
    assert [len(part.documents) for part in divided(arrivals, new_table(), 2)] == [3, 2, 2]
    assert divided(arrivals, new_table(), 5) == [arrivals]


def test_a_version_that_is_read_again_and_a_newer_one_are_in_different_parts() -> None:
    table, all_of_them = new_table(), documents("aaaabaa")
    assert retired(Arrivals(0, range(4), all_of_them[:4]), table) == 3
    again = Arrivals(0, range(7), all_of_them)
    assert [len(part.documents) for part in divided(again, table, 200)] == [5, 2]
    for part in divided(again, table, 200):
        assert retired(part, table) <= 2
    assert table.version("a").ref == make_ref(0, 6)  # type: ignore[union-attr]


@given(st.text("abc", min_size=1, max_size=40), st.integers(1, 6), st.data())
def test_no_version_retires_more_than_most_after_any_crashes(ids: str, most: int, data: st.DataObject) -> None:
    table, all_of_them, begin = new_table(), documents(ids), 0
    for _ in range(6):  # lives, each of which reads from the acknowledged offset, in batches of its own
        at = begin
        while at < len(ids):
            stop = data.draw(st.integers(at + 1, len(ids)))
            arrivals = Arrivals(0, range(at, stop), all_of_them[at:stop])
            parts = divided(arrivals, table, most)
            assert [one for part in parts for one in part.documents] == arrivals.documents
            assert [one for part in parts for one in part.offsets] == [*arrivals.offsets]
            for part in parts:
                assert retired(part, table) <= most
            at = stop
            if data.draw(st.booleans()):
                break
        if data.draw(st.booleans()):
            begin = at
    newest = {id: make_ref(0, number) for number, id in enumerate(ids[:at])}
    assert all(table.version(id).ref >= ref for id, ref in newest.items())  # type: ignore[union-attr]
