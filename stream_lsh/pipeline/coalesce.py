"""Coalesces several frames of one step: a step costs as much for a few rows as for a hundred.

A worker processes all waiting messages at once, so batches grow with the load and a lone document does not wait.  The
steps index, gather and verify coalesce frames; settle does not, because its outputs and its record belong to one
message (docs/internals/adr/0002; `settle.flights` merges its outputs).
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate

import numpy as np

from stream_lsh.ledger.edges import concatenated
from stream_lsh.model import concatenate
from stream_lsh.pipeline.batches import (
    BandsFrame,
    Candidates,
    CandidatesFrame,
    EdgesFrame,
    Frame,
    Postings,
    Verifications,
    VerificationsFrame,
)
from stream_lsh.retention import Horizon


def furthest_horizon(frames: Iterable[BandsFrame] | Iterable[CandidatesFrame]) -> Horizon | None:
    """The maximum of the horizons, element by element; None if no frame has one."""
    furthest: Horizon | None = None
    for frame in frames:
        if frame.horizon is not None:
            furthest = frame.horizon if furthest is None else furthest.max(frame.horizon)
    return furthest


def coalesced_postings(batches: Iterable[Postings | None]) -> list[Postings]:
    """Postings in as few batches as the order allows: one that retires versions begins a new batch.

    `index` removes retired versions before it inserts new ones.  If a version were inserted after its retirement,
    its retirement would be lost, and with it the neighbours that it makes.
    """
    runs: list[list[Postings]] = []
    for batch in batches:
        if batch is None:
            continue
        if not runs or batch.retired.any():
            runs.append([batch])
        else:
            runs[-1].append(batch)
    return [_postings(run) for run in runs]


def _postings(run: Sequence[Postings]) -> Postings:
    if len(run) == 1:
        return run[0]
    starts = _starts(len(batch) for batch in run)
    return Postings(
        np.concatenate([batch.refs for batch in run]),
        np.concatenate([batch.times for batch in run]),
        np.concatenate([batch.retired for batch in run]),
        np.concatenate([batch.rows + start for batch, start in zip(run, starts, strict=True)]),
        np.concatenate([batch.buckets for batch in run]),
    )


def coalesced_candidates(batches: Iterable[Candidates | None]) -> Candidates | None:
    """All pairs in one batch, None if there are none."""
    some = [batch for batch in batches if batch is not None]
    if len(some) < 2:
        return some[0] if some else None
    return Candidates(
        np.concatenate([batch.new for batch in some]),
        np.concatenate([batch.old for batch in some]),
        np.concatenate([batch.kinds for batch in some]),
    )


def coalesced_verifications(batches: Iterable[Verifications | None]) -> Verifications | None:
    """All new documents and their pairs in one batch, None if there are none; a document may occur twice."""
    some = [batch for batch in batches if batch is not None]
    if len(some) < 2:
        return some[0] if some else None
    starts = _starts(batch.refs.size for batch in some)
    return Verifications(
        refs=np.concatenate([batch.refs for batch in some]),
        times=np.concatenate([batch.times for batch in some]),
        digests=np.concatenate([batch.digests for batch in some]),
        ids=[id for batch in some for id in batch.ids],
        texts=[text for batch in some for text in batch.texts],
        signatures=np.concatenate([batch.signatures for batch in some]),
        rows=np.concatenate([batch.rows + start for batch, start in zip(some, starts, strict=True)]),
        old=np.concatenate([batch.old for batch in some]),
        kinds=np.concatenate([batch.kinds for batch in some]),
        abouts=concatenate((batch.abouts, batch.refs.size) for batch in some),
    )


def _starts(sizes: Iterable[int]) -> list[int]:
    """The first row of each batch after concatenation."""
    return list(accumulate(sizes, initial=0))[:-1]


def coalesced_frames(frames: Sequence[Frame]) -> list[Frame]:
    """The frames of one step, with the rows of consecutive frames in one; frames with other fields stay unchanged.

    The rows of a frame may be for several partitions.
    """
    runs: list[list[Frame]] = []
    for frame in frames:
        if runs and _has_rows_only(frame) and _has_rows_only(runs[-1][-1]):
            runs[-1].append(frame)
        else:
            runs.append([frame])
    return [frame for run in runs for frame in (run if len(run) == 1 else _joined(run))]


def _has_rows_only(frame: Frame) -> bool:
    match frame:
        case BandsFrame(_, None, None, None, None) | CandidatesFrame(_, None, None) | VerificationsFrame(_, None):
            return True
        case EdgesFrame((), _, None, None, ()):
            return True
    return False


def _joined(run: Sequence[Frame]) -> list[Frame]:
    """The rows of several frames of one step."""
    postings = [frame.postings for frame in run if isinstance(frame, BandsFrame)]
    candidates = coalesced_candidates(frame.candidates for frame in run if isinstance(frame, CandidatesFrame))
    asked = coalesced_verifications(frame.verifications for frame in run if isinstance(frame, VerificationsFrame))
    edges = [frame.edges for frame in run if isinstance(frame, EdgesFrame) and frame.edges is not None]
    joined: list[Frame] = [BandsFrame(postings=batch) for batch in coalesced_postings(postings)]
    joined += [] if candidates is None else [CandidatesFrame(candidates)]
    joined += [] if asked is None else [VerificationsFrame(asked)]
    joined += [EdgesFrame(edges=concatenated(edges))] if edges else []
    return joined
