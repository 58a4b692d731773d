"""The entries of the navigation."""

from collections.abc import Sequence
from typing import NamedTuple

from stream_lsh.web.links import link


class Section(NamedTuple):
    """An entry: its name, its title and its address."""

    name: str
    title: str
    address: str


def sections_of(pipeline: str) -> Sequence[Section]:
    """The entries on the pages of a pipeline; "" for pages of the whole application."""
    return [Section("overview", "Overview", link(""))]


HOME = ""
"""The first page of a pipeline; "" while no page is of one pipeline."""
