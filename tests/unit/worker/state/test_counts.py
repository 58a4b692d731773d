"""The line of the log with the counts of a worker."""

from collections import Counter

from stream_lsh.pipeline.sign import SignCounts
from stream_lsh.worker.state.counts import Counts


def test_outcomes_of_no_document_are_left_out() -> None:
    assert Counts().line() == (
        "0 documents, 0 candidates, 0 matches; dead letters: none; too late to match: 0; "
        "left out by caps: 0 buckets, 0 candidates"
    )
    counts = Counts(
        documents=9,
        signed=SignCounts(added=5, deleted=1, unchanged=2, expired=1),
        candidates=7,
        matches=3,
        dead_letters={"text": 2, "json": 1},
        late_copies=4,
    )
    assert counts.line() == (
        "9 documents (5 new, 1 deletes, 2 unchanged), 7 candidates, 3 matches; dead letters: json 1, text 2; "
        "too late to match: 1; left out by caps: 0 buckets, 0 candidates; late copies passed over: 4"
    )


def test_counts_of_batches_add_up() -> None:
    counts = Counts()
    counts.signed += SignCounts(added=2, expired=1)
    counts.signed += SignCounts(added=1, updated=4)
    assert counts.signed == SignCounts(added=3, updated=4, expired=1)


def test_the_rules_that_make_blocks_too_large_are_named_the_worst_first() -> None:
    by_block = Counter({"town": 3, "surname:soundex": 40, "email": 1, "postcode": 2})
    counts = Counts(documents=100, capped_postings=46, capped_by_block=by_block)
    assert "left out by caps: 46 buckets (surname:soundex: 40, town: 3, postcode: 2), 0 candidates" in counts.line()


def test_buckets_without_names_are_only_counted() -> None:
    counts = Counts(capped_postings=5, capped_by_block=Counter({"": 5}))
    assert "left out by caps: 5 buckets, 0 candidates" in counts.line()
