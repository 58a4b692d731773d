"""Runs chosen agents of one worker, to place a crash between two of its outputs."""

from collections.abc import Callable

from tests.simulation.drivers.worker import Task, Worker
from tests.simulation.log.producer import Lane, is_lane


def drain(worker: Worker, runs: Callable[[Task | Lane], bool] = lambda task: True) -> None:
    """Run the tasks for which `runs` is true, until none of them can make a step."""
    while ready := [task for task in worker.ready() if runs(task)]:
        worker.step(ready[0])


def delivers_all_but(stalled: str, *agents: str) -> Callable[[Task | Lane], bool]:
    """Selects these agents, and the delivery of all messages except those of one topic."""
    return lambda task: task[1] != stalled if is_lane(task) else task[0] in agents
