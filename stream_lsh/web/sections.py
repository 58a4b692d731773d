"""The entries of the navigation."""

from collections.abc import Sequence
from typing import NamedTuple

from stream_lsh.web.links import link

HOME = "search"
"""The first page of a pipeline."""
_OF_PIPELINES = (("search", "Search"),)


class Section(NamedTuple):
    """An entry: its name, its title and its address."""

    name: str
    title: str
    address: str


def sections_of(pipeline: str) -> Sequence[Section]:
    """The entries on the pages of a pipeline; "" for pages of the whole application."""
    pages = _OF_PIPELINES if pipeline else ()
    return [
        Section("overview", "Overview", link("")),
        *(Section(name, title, link(name, pipeline)) for name, title in pages),
    ]
