"""The entries of the navigation."""

from collections.abc import Sequence
from typing import NamedTuple

from stream_lsh.web.links import link
from stream_lsh.web.pages.page import PipelineName

_OF_PIPELINE = (
    ("clusters", "Clusters", "clusters"),
    ("entities", "Entities", "entities"),
    ("mirrors", "Mirrors", "mirror-sites"),
    ("review", "Review", "reviews"),
    ("search", "Search", None),
    ("dead-letters", "Dead letters", None),
)
"""Name, title and the type of results that a pipeline needs for the entry, in the order of the navigation."""


class Section(NamedTuple):
    """An entry: its name, its title and its address."""

    name: str
    title: str
    address: str


def sections_of(pipeline: PipelineName | None) -> Sequence[Section]:
    """The entries on the pages of a pipeline; None for pages of the whole application."""
    between = [] if pipeline is None else _of_pipeline(pipeline)
    return [Section("overview", "Overview", link("")), *between, Section("health", "Health", link("health"))]


def home(pipeline: PipelineName) -> str:
    """The address of the first page of a pipeline."""
    return _of_pipeline(pipeline)[0].address


def has_clusters(pipeline: PipelineName) -> bool:
    """Whether the documents of a pipeline form clusters; records form entities.

    Example:
        >>> has_clusters(PipelineName("news", "text", frozenset({"clusters"})))
        True
    """
    return "clusters" in pipeline.types


def _of_pipeline(pipeline: PipelineName) -> Sequence[Section]:
    return [
        Section(name, title, link(name, pipeline.name))
        for name, title, needed in _OF_PIPELINE
        if needed is None or needed in pipeline.types
    ]
