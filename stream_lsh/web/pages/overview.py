"""The overview: one verdict, the workers, and the pipelines with their missing partitions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stream_lsh.settings.units import counted
from stream_lsh.web.asks import Answer, Ask
from stream_lsh.web.pages.activity import Activity
from stream_lsh.web.pages.page import Page
from stream_lsh.web.texts import numbers

ASK = Ask()
_STATES = {
    "ready": "ready",
    "joining": "joining the group",
    "recovering": "recovering its state",
    "stopping": "stopping",
}


class Worker(NamedTuple):
    """A row of the table of workers.

    Attributes:
        url: of its query API.
        state: in words.
        good: whether it answers queries.
        detail: the reason that it does not answer.
        value: its description; empty if it does not answer.
    """

    url: str
    state: str
    good: bool
    detail: str
    value: Mapping[str, Any]


class Pipeline(NamedTuple):
    """A row of the table of pipelines, with the missing partitions by table."""

    name: str
    kind: str
    partitions: int
    missing_partitions: Mapping[str, Sequence[int]]

    @property
    def missing(self) -> list[tuple[str, str]]:
        """The same as text."""
        return [(table, numbers([*partitions])) for table, partitions in self.missing_partitions.items()]


def overview(urls: Sequence[str], answers: Sequence[Answer], activities: Sequence[Activity] = ()) -> Page:
    """The page of the answers of all workers to `ASK`, in the order of their URLs, and of the activity of pipelines."""
    workers, pipelines = workers_of(urls, answers), pipelines_of(answers)
    problems = [*problems_of(workers, pipelines)]
    well = f"{counted(len(workers), 'worker')}, {counted(len(pipelines), 'pipeline')}, every partition has an owner"
    return Page(
        "overview",
        "Overview",
        {"workers": workers, "pipelines": pipelines, "problems": problems, "well": well, "activities": activities},
        ASK,
        section="overview",
        refresh_s=2,
    )


def workers_of(urls: Sequence[str], answers: Sequence[Answer]) -> list[Worker]:
    """The rows of the workers."""
    return [_worker(url, answer) for url, answer in zip(urls, answers, strict=True)]


def _worker(url: str, answer: Answer) -> Worker:
    if not answer.ok:
        return Worker(url, "not responding", False, str(answer.value.get("detail", "")), {})
    state = answer.value["state"]
    return Worker(url, _STATES.get(state, state), state == "ready", "", answer.value)


def pipelines_of(answers: Iterable[Answer]) -> list[Pipeline]:
    """The pipelines as a ready worker describes them, or any worker if none is ready."""
    values = sorted((one.value for one in answers if one.ok), key=lambda value: value["state"] != "ready")
    if not values:
        return []
    return [Pipeline(one["name"], one["kind"], one["partitions"], one["missing"]) for one in values[0]["pipelines"]]


def problems_of(workers: Sequence[Worker], pipelines: Sequence[Pipeline]) -> Iterator[str]:
    """The problems, in a sentence each."""
    silent = [worker for worker in workers if not worker.value]
    if len(silent) == len(workers):
        yield "No worker is responding"
        return
    if silent:
        yield f"{len(silent)} of {counted(len(workers), 'worker')} {_be(silent)} not responding"
    yield from (
        f"Worker {worker.value['worker']} is {worker.state}" for worker in workers if worker.value and not worker.good
    )
    for pipeline in pipelines:
        for table, missing in pipeline.missing:
            yield f"{pipeline.name}: {table} {missing} unavailable"


def _be(several: Sequence[object]) -> str:
    return "is" if len(several) == 1 else "are"
