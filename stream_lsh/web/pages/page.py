"""A page, and the frame around its contents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stream_lsh.web.asks import Ask


@dataclass(frozen=True, slots=True)
class Page:
    """A page before it is written as HTML.

    Attributes:
        template: the name of its file, without the ending.
        title: of the browser's window.
        values: the variables of the template.
        ask: the request to the query API that the page shows; None if it shows none.
        status: of HTTP.
        section: the entry of the navigation that the page belongs to.
        refresh_s: the interval at which a script requests the contents again; 0 for never.
        changes: types of results; while the workers report their changes, the contents are requested after those only.
        changed_key: only changes with this key count; "" for all.
        passing: the page stands for a problem that may pass; a script keeps earlier contents instead.
    """

    template: str
    title: str
    values: Mapping[str, Any] = field(default_factory=dict)
    ask: Ask | None = None
    status: int = 200
    section: str = ""
    refresh_s: int = 0
    changes: tuple[str, ...] = ()
    changed_key: str = ""
    passing: bool = False


@dataclass(frozen=True, slots=True)
class PipelineName:
    """A pipeline with its kind of data, and the types of its results."""

    name: str
    kind: str
    types: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Frame:
    """The values that surround the contents of each page.

    Attributes:
        pipelines: all that are known.
        pipeline: the pipeline of the page; "" for pages of the whole application.
        path: of the page, with its query, percent-encoded.
        url: of the query API, for commands.
        needs_token: whether the query API has a token.
        as_of_ms: the time of the answers, in milliseconds since 1970.
        silent_since_ms: when the workers stopped answering; None while one answers.
        can_sign_out: whether the reader has signed in.
        form_token: of forms that change something.
    """

    pipelines: Sequence[PipelineName] = ()
    pipeline: str = ""
    path: str = "/"
    url: str = ""
    needs_token: bool = False
    as_of_ms: int = 0
    silent_since_ms: int | None = None
    can_sign_out: bool = False
    form_token: str = ""

    @property
    def json_path(self) -> str:
        """The path of the same answer as JSON."""
        path, mark, query = self.path.partition("?")
        return f"{'/index' if path == '/' else path}.json{mark}{query}"
