"""Several messages as one: the same pairs as one after the other, and never a retirement before its insertion."""

import random
from dataclasses import replace

import numpy as np
import pytest

from stream_lsh.ledger.edges import Edges, Ends
from stream_lsh.model import NO_ABOUT, About
from stream_lsh.pipeline.batches import (
    BandsFrame,
    Candidates,
    CandidatesFrame,
    EdgesFrame,
    Frame,
    Mark,
    Postings,
    Verifications,
    VerificationsFrame,
    Watermarks,
)
from stream_lsh.pipeline.coalesce import (
    coalesced_candidates,
    coalesced_frames,
    coalesced_postings,
    coalesced_verifications,
    furthest_horizon,
)
from stream_lsh.pipeline.index import index
from stream_lsh.pipeline.watermarks import Relay
from stream_lsh.retention import Horizon
from tests.unit.pipeline.test_index import pairs, postings, table


def messages(rng: random.Random) -> list[Postings]:
    """Postings of some sign agents: new versions, repeated messages, retirements of versions sent before."""
    sent, known = list[Postings](), list[tuple[int, list[int]]]()
    for number in range(rng.randint(2, 8)):
        new = [(number * 10 + row, [rng.randrange(1, 12) for _ in range(3)]) for row in range(rng.randint(0, 3))]
        gone = [one for one in known if rng.random() < 0.2]
        sent.append(postings([(ref, True, buckets) for ref, buckets in gone] + [(ref, False, b) for ref, b in new]))
        known = [one for one in known if one not in gone] + new
        if rng.random() < 0.2:
            sent.append(sent[-1])
    return sent


@pytest.mark.parametrize("case", range(60))
def test_joined_postings_lead_to_the_pairs_and_the_table_that_they_lead_to_one_by_one(case: int) -> None:
    rng = random.Random(case)
    sent = messages(rng)
    alone, together = table(cap_postings=case % 3), table(cap_postings=case % 3)
    one_by_one = set().union(*(pairs(index(batch, alone)) for batch in sent))
    joined = set().union(*(pairs(index(batch, together)) for batch in coalesced_postings(sent)))
    assert joined == one_by_one
    assert len(together) == len(alone)


def test_a_batch_begins_with_every_message_that_retires() -> None:
    first, second, third = postings([(1, False, [2])]), postings([(2, False, [2])]), postings([(1, True, [2])])
    batches = coalesced_postings([first, None, second, third, first])
    assert [batch.refs.tolist() for batch in batches] == [[1, 2], [1, 1]]
    assert [batch.retired.tolist() for batch in batches] == [[False, False], [True, False]]
    assert batches[0].rows.tolist() == [0, 1]


def verifications(refs: list[int], rows: list[int], old: list[int]) -> Verifications:
    size = len(refs)
    return Verifications(
        refs=np.array(refs, np.uint64),
        times=np.array(refs, np.int64) * 10,
        digests=np.array(refs, np.uint64) + np.uint64(1),
        ids=[f"id {ref}" for ref in refs],
        texts=[f"text {ref}" for ref in refs],
        signatures=np.arange(size * 4, dtype=np.uint32).reshape(size, 4),
        rows=np.array(rows, np.int64),
        old=np.array(old, np.uint64),
        kinds=np.zeros(len(rows), np.uint8),
    )


def test_joined_verifications_keep_every_pair_with_its_document() -> None:
    abouts = [About("Title"), About("Other")]
    without_abouts = verifications([6, 7], [1, 0], [3, 4])
    parts = [replace(verifications([5, 6], [0, 1, 1], [1, 1, 2]), abouts=abouts), without_abouts]
    joined = coalesced_verifications([None, *parts])
    assert joined is not None

    def pairs_of(batch: Verifications) -> list[tuple[int, str, str, int]]:
        return [
            (int(batch.refs[row]), batch.ids[row], batch.texts[row], int(old))
            for row, old in zip(batch.rows.tolist(), batch.old.tolist(), strict=True)
        ]

    assert pairs_of(joined) == [pair for part in parts for pair in pairs_of(part)]
    assert joined.signatures.shape == (4, 4)
    assert joined.abouts == [*abouts, NO_ABOUT, NO_ABOUT]
    twice = coalesced_verifications([without_abouts, without_abouts])
    assert twice is not None
    assert not twice.abouts


def test_joined_candidates_keep_their_order_and_a_single_batch_is_not_copied() -> None:
    one = Candidates(np.array([3], np.uint64), np.array([1], np.uint64), np.array([0], np.uint8))
    two = Candidates(np.array([4, 5], np.uint64), np.array([1, 2], np.uint64), np.array([1, 0], np.uint8))
    joined = coalesced_candidates([one, None, two])
    assert joined is not None
    assert (joined.new.tolist(), joined.old.tolist(), joined.kinds.tolist()) == ([3, 4, 5], [1, 1, 2], [0, 1, 0])
    assert coalesced_candidates([None, one]) is one
    assert coalesced_verifications([]) is None is coalesced_candidates([None])


def test_the_furthest_horizon_is_taken_element_by_element() -> None:
    frames = [BandsFrame(horizon=Horizon(5, (1, 9))), BandsFrame(), BandsFrame(horizon=Horizon(7, (3, 2)))]
    assert furthest_horizon(frames) == Horizon(7, (3, 9))
    assert furthest_horizon([BandsFrame()]) is None


def test_the_last_new_one_of_several_watermarks_is_passed_on() -> None:
    words = [Watermarks(0, (Mark(0, time_ms, False, 0),)) for time_ms in (5, 8, 8)]
    assert Relay(3, 1).take_all([words[0], None, *words[1:]]) == [Watermarks(3, (Mark(0, 8, False, 0),))]
    assert Relay(3, 2).take_all(words) == []


def candidates(*refs: int) -> Candidates:
    column = np.array(refs, np.uint64)
    return Candidates(column, column, np.zeros(len(refs), np.uint8))


def edges(*refs: int, evidence: bool = False) -> Edges:
    ids, column, floats = [f"id {ref}" for ref in refs], np.array(refs, np.uint64), np.zeros(len(refs))
    ends = Ends(ids, column, np.array(refs, np.int64), column)
    counts = np.ones(len(refs), np.uint32)
    return Edges(ends, ends, floats, counts, counts, evidence=[f"because {ref}" for ref in refs] if evidence else ())


def test_consecutive_rows_of_a_step_become_one_frame_and_never_pass_marks() -> None:
    marks = CandidatesFrame(watermarks=Watermarks(0, (Mark(0, 5, False, 0),)))
    both = CandidatesFrame(candidates(7), marks.watermarks)
    sent: list[Frame] = [CandidatesFrame(candidates(ref)) for ref in (1, 2, 3)]
    joined = coalesced_frames([*sent[:2], marks, sent[2], CandidatesFrame(candidates(4, 5)), both, sent[0]])
    rows = [frame.candidates.new.tolist() if frame.candidates else [] for frame in joined]  # type: ignore[union-attr]
    assert rows == [[1, 2], [], [3, 4, 5], [7], [1]]
    assert [frame.watermarks is not None for frame in joined] == [False, True, False, True, False]
    assert coalesced_frames(sent[:1])[0] is sent[0]
    assert coalesced_frames([]) == []


def test_frames_of_every_step_are_joined_and_a_retirement_begins_a_frame() -> None:
    new, gone = postings([(1, False, [2])]), postings([(1, True, [2])])
    bands = coalesced_frames([BandsFrame(new), BandsFrame(new), BandsFrame(gone)])
    assert [frame.postings.refs.tolist() for frame in bands if isinstance(frame, BandsFrame) and frame.postings] == [
        [1, 1],
        [1],
    ]
    parts = [verifications([5], [0], [1]), verifications([6], [0], [2])]
    (asked,) = coalesced_frames([VerificationsFrame(part) for part in parts])
    assert isinstance(asked, VerificationsFrame)
    assert asked.verifications is not None
    assert (asked.verifications.ids, asked.verifications.rows.tolist()) == (["id 5", "id 6"], [0, 1])
    (found,) = coalesced_frames([EdgesFrame(edges=edges(1, 2)), EdgesFrame(edges=edges(3, evidence=True))])
    assert isinstance(found, EdgesFrame)
    assert found.edges is not None
    assert (found.edges.left.ids, found.edges.evidence) == (["id 1", "id 2", "id 3"], ["", "", "because 3"])
