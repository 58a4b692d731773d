"""The entries of the navigation."""

from collections.abc import Sequence
from typing import NamedTuple

from stream_lsh.kinds.registry import KINDS, kind_class
from stream_lsh.web.links import link
from stream_lsh.web.pages.page import PipelineName

CLUSTERS = "clusters"


class Section(NamedTuple):
    """An entry: its name, its title and its address."""

    name: str
    title: str
    address: str


def sections_of(pipeline: PipelineName | None) -> Sequence[Section]:
    """The entries on the pages of a pipeline; None for pages of the whole application."""
    return [Section("overview", "Overview", link("")), *([] if pipeline is None else _of_pipeline(pipeline))]


def home(pipeline: PipelineName) -> str:
    """The address of the first page of a pipeline."""
    return _of_pipeline(pipeline)[0].address


def has_clusters(pipeline: PipelineName) -> bool:
    """Whether the documents of a pipeline form clusters; records form entities.

    Example:
        >>> has_clusters(PipelineName("news", "text")), has_clusters(PipelineName("people", "record"))
        (True, False)
    """
    return pipeline.kind in KINDS and kind_class(pipeline.kind).clusters == CLUSTERS


def _of_pipeline(pipeline: PipelineName) -> Sequence[Section]:
    names = [(CLUSTERS, "Clusters")] if has_clusters(pipeline) else []
    return [Section(name, title, link(name, pipeline.name)) for name, title in [*names, ("search", "Search")]]
