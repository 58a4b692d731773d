"""Gather compares pairs whose old document is on its worker, and sends the others to verify; no pair is lost."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

import pytest

from stream_lsh.model import Document, make_ref, ref_partition
from stream_lsh.pipeline.agents.effects import TURN, Effect, Send
from stream_lsh.pipeline.agents.gather import gather_agent
from stream_lsh.pipeline.agents.inputs import Input
from stream_lsh.pipeline.agents.state import DocumentsState, Shared, StepCounts
from stream_lsh.pipeline.agents.verify import verify_agent
from stream_lsh.pipeline.batches import CandidatesFrame, EdgesFrame, VerificationsFrame
from stream_lsh.pipeline.documents.table import DocumentTable
from stream_lsh.pipeline.gather import Forwarded
from stream_lsh.pipeline.watermarks import Relay
from stream_lsh.wire.outgoing import frames_of
from tests.simulation.pipelines.scheme import NamedShingles
from tests.unit.pipeline.makers import candidates, signed

PARTITIONS, DOCUMENTS = 3, 6
SCHEME = NamedShingles()

Pair = tuple[int, int]


class Workers:
    """The documents of all partitions; all of them match each other.

    Attributes:
        held: the partitions of the worker that gathers for partition 0.
    """

    def __init__(self, *held: int) -> None:
        self.shared = Shared(SCHEME, SCHEME.criteria(0.5, None), SCHEME.comparer(), StepCounts())
        self.states = {partition: self._state(partition) for partition in range(PARTITIONS)}
        self.held = {partition: self.states[partition] for partition in held}

    def _state(self, partition: int) -> DocumentsState:
        table, relays = DocumentTable(SCHEME.slots), (Relay(partition, PARTITIONS), Relay(partition, PARTITIONS))
        documents = [Document(f"{partition}-{number}", "1 2 3", number) for number in range(DOCUMENTS)]
        signed(table, SCHEME, 0, documents, partition=partition)
        return DocumentsState(table, Forwarded(), *relays)

    def lose(self, partition: int, *, comes_back: bool) -> None:
        """A partition is assigned to another worker; then possibly here again, where it is not recovered yet."""
        self.states[partition] = self._state(partition)
        left = self.held.pop(partition)
        left.table = DocumentTable(SCHEME.slots)
        if comes_back:
            self.held[partition] = replace(left, table=DocumentTable(SCHEME.slots))

    def gather(self, pairs: Iterable[Pair]) -> Iterator[Effect]:
        """The effects of gather, without the acknowledgement."""
        asked = Input(0, [CandidatesFrame(candidates([*pairs]))], 1, 1)
        effects = gather_agent(self.shared, self.states[0], lambda: dict(self.held), asked)
        return (effect for effect in effects if isinstance(effect, Send) or effect is TURN)

    def edges(self, effects: Iterable[Effect]) -> set[Pair]:
        """The pairs of the edges that result from effects, with the work of verify on other workers."""
        found = set[Pair]()
        for effect in effects:
            if not isinstance(effect, Send):
                continue
            if isinstance(effect.frame, EdgesFrame):
                edges = effect.frame.edges
                assert edges is not None
                found |= {*zip(edges.left.refs.tolist(), edges.right.refs.tolist(), strict=True)}
            for target, frame in frames_of(effect, PARTITIONS):
                if isinstance(frame, VerificationsFrame):
                    found |= self.edges(verify_agent(self.shared, self.states[target], Input(target, [frame], 1, 1)))
        return found


def pairs_of(count: int, seed: int) -> list[Pair]:
    """Pairs of new documents of partition 0 with old ones of any."""
    rng = random.Random(seed)
    new = [make_ref(0, offset) for offset in range(DOCUMENTS)]
    old = [make_ref(partition, offset) for partition in range(PARTITIONS) for offset in range(DOCUMENTS)]
    return sorted({(rng.choice(new), rng.choice(old)) for _ in range(count)} - {(ref, ref) for ref in new})


@pytest.fixture
def many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each partition of old documents is a step, followed by a turn of other agents."""
    monkeypatch.setattr("stream_lsh.pipeline.agents.gather._FEW", 0)


@pytest.mark.parametrize("held", [(), (0,), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("old", range(PARTITIONS))
def test_a_pair_goes_to_verify_only_if_its_old_document_is_on_another_worker(old: int, held: tuple[int, ...]) -> None:
    workers, pair = Workers(*held), (make_ref(0, 1), make_ref(old, 2))
    effects = [*workers.gather([pair])]
    assert {effect.step for effect in effects if isinstance(effect, Send)} == (
        {"edges"} if old in held else {"verifications"}
    )
    assert workers.edges(effects) == {pair}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("held", [(), (0,), (0, 1), (0, 1, 2)])
def test_pairs_of_a_batch_take_different_ways(held: tuple[int, ...], seed: int) -> None:
    workers, pairs = Workers(*held), pairs_of(60, seed)
    assert workers.edges(workers.gather(pairs)) == {*pairs}
    assert not workers.edges(workers.gather(pairs)), "they have been sent before"


@pytest.mark.usefixtures("many_steps")
@pytest.mark.parametrize("comes_back", [False, True])
@pytest.mark.parametrize("lost", [1, 2])
@pytest.mark.parametrize("after", range(1, 4))
def test_no_pair_is_lost_when_a_partition_leaves_between_two_steps(lost: int, after: int, comes_back: bool) -> None:
    workers, pairs = Workers(0, 1, 2), pairs_of(60, after)
    effects = workers.gather(pairs)  # which begins with the first effect
    before = [*islice(effects, after)]
    workers.lose(lost, comes_back=comes_back)
    assert workers.edges([*before, *effects]) == {*pairs}


def test_a_partition_that_arrives_after_an_agent_began_is_not_used_by_it() -> None:
    workers, pairs = Workers(0, 1), pairs_of(60, 1)
    effects = workers.gather(pairs)
    sent = [next(effects)]  # the pairs of partition 2
    workers.held[2] = replace(workers.states[2], table=DocumentTable(SCHEME.slots))
    sent += effects
    assert workers.edges(sent) == {*pairs}
    frame = sent[0].frame if isinstance(sent[0], Send) else None
    assert isinstance(frame, VerificationsFrame)
    assert frame.verifications is not None
    assert {*map(ref_partition, frame.verifications.old.tolist())} == {2}


@pytest.mark.parametrize(("few", "turns"), [(0, PARTITIONS), (256, 0)])
def test_others_have_their_turn_between_two_steps_unless_there_are_few_pairs(
    few: int, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stream_lsh.pipeline.agents.gather._FEW", few)
    effects = [*Workers(0, 1, 2).gather(pairs_of(60, 1))]
    assert effects.count(TURN) == turns
    assert len(effects) == turns + 1, "the edges of all partitions are one frame"
