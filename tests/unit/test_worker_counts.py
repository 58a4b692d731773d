"""The line of the log that says what has passed."""

from stream_lsh.pipeline.sign import SignCounts
from stream_lsh.worker.counts import Counts


def test_what_did_not_happen_is_left_out_of_what_became_of_the_documents() -> None:
    assert Counts().line() == (
        "0 documents, 0 candidates, 0 matches; dead letters: none; too late to match: 0; "
        "left out by caps: 0 buckets, 0 candidates"
    )
    counts = Counts(9, SignCounts(added=5, deleted=1, unchanged=2, expired=1), 7, 3, {"text": 2, "json": 1}, 4)
    assert counts.line() == (
        "9 documents (5 new, 1 deletes, 2 unchanged), 7 candidates, 3 matches; dead letters: json 1, text 2; "
        "too late to match: 1; left out by caps: 0 buckets, 0 candidates; late copies passed over: 4"
    )


def test_counts_of_batches_add_up() -> None:
    counts = Counts()
    counts.signed += SignCounts(added=2, expired=1)
    counts.signed += SignCounts(added=1, updated=4)
    assert counts.signed == SignCounts(added=3, updated=4, expired=1)
