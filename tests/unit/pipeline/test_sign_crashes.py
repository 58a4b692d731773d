"""Step 1: index and settle receive the same, whatever the crashes and whatever the batches."""

import itertools
import random
from collections.abc import Iterator

import pytest

from stream_lsh.model import Document
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.sign import Signed
from tests.unit.pipeline.makers import signed
from tests.unit.pipeline.signing import SCHEME, Posted, buckets_of, new_table, posted


def cuts(count: int) -> Iterator[list[tuple[int, int]]]:
    """Every way of cutting `count` messages into batches."""
    for inner in itertools.product((False, True), repeat=count - 1):
        borders = [0, *(at + 1 for at, cut in enumerate(inner) if cut), count]
        yield list(itertools.pairwise(borders))


HISTORIES = [
    ["1", "2", "3"],
    ["1", None, "2", "1"],
    ["1", "1", "2", "2"],
    ["1", "", "2", None],
    ["1 2", "2 1", None, None],
    [None, "1", None, "1"],
]


class Delivered:
    """The messages that index and settle received, over crashes."""

    def __init__(self) -> None:
        self.posted: Posted = {}
        self.retired: Posted = {}
        self.last_retired: dict[int, bool] = {}
        self.retirements: dict[str, tuple[int, bool]] = {}

    def take(self, result: Signed) -> None:
        for ref, buckets in posted(result, retired=True).items():
            assert self.retired.setdefault(ref, buckets) == buckets
            self.last_retired[ref] = True
        for ref, buckets in posted(result).items():
            assert self.posted.setdefault(ref, buckets) == buckets, "a version has the same buckets every time"
            self.last_retired[ref] = False
        for retirement in result.retirements:
            before = self.retirements.get(retirement.id, (-1, False))
            self.retirements[retirement.id] = max(before, (retirement.ref, retirement.deleted))


def replaces(documents: list[Document], offset: int) -> bool:
    """Whether a message retires a version: the one before it of its id, repeats aside, was not a delete."""
    text: str | None = None
    for document in documents[:offset]:
        if document.id == documents[offset].id:
            text = document.text
    return text is not None


def check(documents: list[Document], delivered: Delivered, table: DocumentTable) -> None:
    """All that was ever posted and is not the newest version is retired; the newest is in, with its own buckets."""
    for ref, buckets in [*delivered.posted.items(), *delivered.retired.items()]:
        assert buckets == buckets_of(documents[ref].text or "")
    newest: dict[str, int] = {}
    for offset, document in enumerate(documents):
        known = newest.get(document.id)
        if (known is None and document.text is None) or (known is not None and documents[known].text == document.text):
            continue
        newest[document.id] = offset
    for id, offset in newest.items():
        version = table.version(id)
        assert version is not None
        assert (version.ref, version.live) == (offset, documents[offset].text is not None)
        if replaces(documents, offset):
            assert delivered.retirements[id] == (offset, documents[offset].text is None)
    expected = {offset for offset in newest.values() if documents[offset].text}
    left_in = {ref for ref, retired in delivered.last_retired.items() if not retired}
    assert left_in == expected


@pytest.mark.parametrize("history", HISTORIES)
def test_any_batches_and_any_crash_have_the_same_result(history: list[str | None]) -> None:
    documents = [Document("a", text, 10) for text in history]
    documents.insert(2, Document("b", "7 8", 10))
    count = len(documents)
    for first in cuts(count):
        for crash, sent in itertools.product(range(len(first)), (0, 1)):
            log, before = [], Delivered()
            table = new_table()
            for begin, end in first[: crash + 1]:
                result = signed(table, SCHEME, begin, documents[begin:end])
                log += [result.record] if result.record is not None else []
                if end <= first[crash][0] or sent:
                    before.take(result)
            for start in {0, first[crash][0]}:
                for second in cuts(count - start):
                    recovered, delivered = new_table(), Delivered()
                    delivered.posted, delivered.retired = dict(before.posted), dict(before.retired)
                    delivered.last_retired, delivered.retirements = (
                        dict(before.last_retired),
                        dict(before.retirements),
                    )
                    for record in log:
                        recovered.apply(record)
                    for begin, end in second:
                        delivered.take(signed(recovered, SCHEME, start + begin, documents[start + begin : start + end]))
                    check(documents, delivered, recovered)


@pytest.mark.parametrize("case", range(150))
def test_random_histories_with_many_crashes_end_the_same(case: int) -> None:
    rng = random.Random(case)
    documents = [
        Document(rng.choice("abc"), rng.choice((None, "", "1", "2", "3 4", "1 2 3"))) for _ in range(rng.randint(4, 20))
    ]
    table, delivered, log = new_table(), Delivered(), []
    position = committed = 0
    while position < len(documents):
        end = min(len(documents), position + rng.randint(1, 5))
        result = signed(table, SCHEME, position, documents[position:end])
        log += [result.record] if result.record is not None else []
        crashes = rng.random() < 0.4
        if not crashes or rng.random() < 0.3:
            delivered.take(result)
        if crashes:
            table = new_table()
            for record in log:
                table.apply(record)
            position = committed
        else:
            position = end
            if rng.random() < 0.5:
                committed = end
    check(documents, delivered, table)
