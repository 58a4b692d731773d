"""Checks the summaries of clusters in a pipeline with stories against the live documents."""

from collections.abc import Sequence
from typing import Any

from stream_lsh.config import Config
from stream_lsh.config.model import PipelineConfig
from stream_lsh.model import Document
from tests.chaos.checker import Checker

_FIRST = 10
"""The longest of this many members, in order of time, is the representative."""


class StoryChecker(Checker):
    """The checks of texts, and of the summary of every cluster."""

    def __init__(self, config: Config, pipeline: PipelineConfig, stream: Sequence[Document]) -> None:
        super().__init__(config, pipeline, stream)
        self._live = first_of_repeats(stream)

    async def _clusters(self, members: dict[str, str]) -> None:
        await super()._clusters(members)
        of: dict[str, list[Document]] = {}
        for id, cluster in members.items():
            if id in self._live:
                of.setdefault(cluster, []).append(self._live[id])
        wrong = list[str]()
        for key, value in (await self._compacted(self._pipeline.clusters_topic)).items():
            true = _story(of.get(key.decode(), []))
            published = {name: value.get(name) for name in true}
            if published != true:
                wrong.append(f"{key.decode()} is published as {published}, true is {true}")
        self._say("summaries are wrong", wrong)


def first_of_repeats(stream: Sequence[Document], span_ms: int | None = None) -> dict[str, Document]:
    """The live documents; a repetition of text and metadata within a stretch of event time keeps that of the first."""
    live = dict[str, Document]()
    for one in stream:
        before = live.pop(one.id, None)
        if one.text is not None:
            repeats = before is not None and (one.text, one.about) == (before.text, before.about)
            if before is not None and span_ms is not None:
                repeats &= one.time_ms // span_ms == before.time_ms // span_ms
            live[one.id] = before if before is not None and repeats else one
    return live


def _story(documents: Sequence[Document]) -> dict[str, Any]:
    ordered = sorted(documents, key=lambda one: (one.time_ms, one.id))
    if not ordered:
        return {}
    fullest = max(ordered[:_FIRST], key=lambda one: len(one.text or ""))
    outlets = dict[str, list[int]]()
    for one in ordered:
        if one.about.source:
            outlets.setdefault(one.about.source, []).append(one.time_ms)
    sources = [{"source": name, "first_time": times[0], "documents": len(times)} for name, times in outlets.items()]
    first = ordered[0]
    return {
        "representative": fullest.id,
        "headline": fullest.about.title,
        "sources": sources,
        "source_count": len(sources),
        "first": {"id": first.id, "source": first.about.source, "time": first.time_ms},
    }
