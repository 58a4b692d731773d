"""The activity of a pipeline, as the overview shows it: rates as charts and by the minute, and hot buckets."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stream_lsh.web.asks import Answer, Ask
from stream_lsh.web.drawings.series import Series, series
from stream_lsh.web.pages.page import PipelineName
from stream_lsh.web.texts import numbers, rate, span

_LEAST_PLACES = 30
"""Samples that fill a chart: a shorter series begins further to the right."""
_MOST_POSTINGS = 1_000
"""Documents of a bucket up to which the workers count."""
_TITLES = {"documents": "Documents", "matches": "Matches", "dead_letters": "Dead letters"}


class Chart(NamedTuple):
    """The rate of one kind of message: its name and title, and its chart."""

    name: str
    title: str
    series: Series


class Bucket(NamedTuple):
    """A hot bucket.

    Attributes:
        name: what its documents have in common.
        documents: their number, as text.
        left_out: probes that read it only up to the cap.
        example: one of the documents; None if none is stored any more.
        excerpt: its title, or the beginning of its text.
    """

    name: str
    documents: str
    left_out: int
    example: Mapping[str, Any] | None
    excerpt: str


class Activity(NamedTuple):
    """The activity of one pipeline.

    Attributes:
        pipeline: its name and kind.
        charts: of the rates; empty if no worker counts them.
        span: the length of time that the charts show, as text.
        minutes: minutes ago, and the mean rates in that minute as text, newest first.
        buckets: the hottest first.
        problem: the reason that the activity is unknown or incomplete; "" without one.
    """

    pipeline: PipelineName
    charts: Sequence[Chart] = ()
    span: str = ""
    minutes: Sequence[tuple[int, Sequence[str]]] = ()
    buckets: Sequence[Bucket] = ()
    problem: str = ""


def ask(pipeline: PipelineName) -> Ask:
    """The request for the activity."""
    return Ask(("pipelines", pipeline.name, "activity"))


def activity(pipeline: PipelineName, answer: Answer) -> Activity:
    """The activity in an answer."""
    if not answer.ok:
        return Activity(pipeline, problem=f"Rates are unavailable: {answer.value.get('title', '')}")
    value, rates = answer.value, answer.value["rates"]
    missing = ", ".join(f"{table} {numbers(partitions)}" for table, partitions in value["missing"].items())
    problem = f"Rates and hot buckets are incomplete: {missing} unavailable" if missing else ""
    buckets = [_bucket(one) for one in value["hot_buckets"]]
    if rates is None:
        return Activity(pipeline, buckets=buckets, problem=problem or "No worker reports rates")
    count = len(rates["documents"])
    drawn = {name: series(rates[name], max(count, _LEAST_PLACES)) for name in _TITLES}
    charts = [Chart(name, _TITLES[name], one) for name, one in drawn.items() if one is not None]
    return Activity(pipeline, charts, span(count * rates["interval_ms"]), [*_minutes(rates)], buckets, problem)


def _minutes(rates: Mapping[str, Any]) -> Iterator[tuple[int, Sequence[str]]]:
    """The mean rates of each whole or begun minute, newest first."""
    step, count = 60_000 // rates["interval_ms"], len(rates["documents"])
    for ago, end in enumerate(range(count, 0, -step)):
        parts = [rates[name][max(0, end - step) : end] for name in _TITLES]
        yield ago, [rate(sum(part) / len(part)) for part in parts]


def _bucket(value: Mapping[str, Any]) -> Bucket:
    example = value["example"] or {}
    name = value["rule"] or ("identical content" if value["identical"] else "a band")
    more = " or more" if value["postings"] >= _MOST_POSTINGS else ""
    excerpt = str(example.get("title") or example.get("text") or "")
    return Bucket(name, f"{value['postings']:,}{more}", value["left_out"], value["example"], excerpt)
