"""The health: for each partition of each pipeline, the worker that owns it and the messages that wait for it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stream_lsh.settings.units import counted
from stream_lsh.web.asks import Answer
from stream_lsh.web.pages.overview import ASK, pipelines_of, problems_of, workers_of
from stream_lsh.web.pages.page import Page

STEPS = {"documents": "Documents", "buckets": "Buckets", "ledger": "Ledger"}
"""The tables of a pipeline, in the order of its steps."""


class Cell(NamedTuple):
    """A partition of a table.

    Attributes:
        owner: the name of its worker; "" if it is unknown.
        missing: whether no worker answers for it.
        lag: messages that wait for its step; None if unknown.
    """

    owner: str = ""
    missing: bool = False
    lag: int | None = None


def health(urls: Sequence[str], answers: Sequence[Answer]) -> Page:
    """The page of the answers of all workers to `ASK`, in the order of their URLs."""
    workers = workers_of(urls, answers)
    pipelines = pipelines_of(answers)
    described = [answer.value for answer in answers if answer.ok]
    described.sort(key=lambda worker: bool(worker["state"] == "ready"))  # of two that name a partition, the last counts
    return Page(
        "health",
        "Health",
        {
            "problems": [*problems_of(workers, pipelines)],
            "workers": [{"row": one, "lag": _total(one.value)} for one in workers],
            "steps": STEPS,
            "pipelines": [_pipeline(one.name, one.missing_partitions, one.partitions, described) for one in pipelines],
        },
        ASK,
        section="health",
        refresh_s=2,
    )


def _pipeline(
    name: str, missing: Mapping[str, Sequence[int]], partitions: int, described: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The table of a pipeline: a row for each partition, a cell for each step that has this partition."""
    known = {place: cell for worker in described for place, cell in _owned(worker, name)}
    rows = []
    for partition in range(partitions):
        tables = [table for table in STEPS if table != "ledger" or partition == 0]
        cells = [
            Cell(missing=True) if partition in missing.get(table, ()) else known.get((table, partition), Cell())
            for table in tables
        ]
        rows.append((partition, [*cells, *[None] * (len(STEPS) - len(cells))]))
    waiting = sum(cell.lag or 0 for cell in known.values())
    return {"name": name, "rows": rows, "summary": f"{counted(waiting, 'message')} waiting"}


def _owned(worker: Mapping[str, Any], name: str) -> Iterator[tuple[tuple[str, int], Cell]]:
    """The partitions of a worker by table and number."""
    for pipeline in worker["pipelines"]:
        if pipeline["name"] == name:
            for table, owned in pipeline["owned"].items():
                lags = pipeline["lag"].get(table, [None] * len(owned))
                for partition, lag in zip(owned, lags, strict=True):
                    yield (table, partition), Cell(worker["worker"], lag=lag)


def _total(worker: Mapping[str, Any]) -> int | None:
    """The messages that wait for a worker; None if it does not report any number."""
    found = [lag for one in worker.get("pipelines", ()) for lags in one["lag"].values() for lag in lags]
    return sum(found) if found else None
