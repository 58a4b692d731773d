"""Pages as HTML: Jinja templates with filters for untrusted texts."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stream_lsh import controls
from stream_lsh.errors import ConfigError
from stream_lsh.settings.units import counted
from stream_lsh.web import texts
from stream_lsh.web.links import link, outside
from stream_lsh.web.pages.page import Frame, Page
from stream_lsh.web.sections import home, sections_of
from stream_lsh.web.static_files import address

_TEMPLATES = Path(__file__).parent / "templates"


def render(page: Page, frame: Frame) -> str:
    """The page as HTML.

    Raises:
        ConfigError: Jinja is not installed -> install the extra.
    """
    template = environment().get_template(f"{page.template}.html")
    of_page = [one for one in frame.pipelines if one.name == frame.pipeline or len(frame.pipelines) == 1]
    pipeline = of_page[0] if of_page else None
    html: str = template.render(page=page, frame=frame, sections=sections_of(pipeline), home=home, **page.values)
    # Half surrogates cannot be sent; templates replace those in texts, and this line those in attributes.
    return html.encode("utf-8", "replace").decode()


@functools.cache
def environment() -> Any:
    """The templates, which fail on undefined variables and escape all values."""
    jinja2 = _library()
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(_filters(jinja2.utils.markupsafe.Markup))
    templates.globals.update(link=link, outside=outside, static=address, counted=counted)
    return templates


def _filters(markup: Any) -> dict[str, Callable[..., Any]]:
    def foreign(text: object, most: int = controls.SHORT) -> Any:
        """An untrusted text on one line, with its own writing direction."""
        return markup("<bdi>{}</bdi>").format(controls.one_line(text, most))

    def moment(ms: float) -> Any:
        """A time in UTC, which a script replaces with local time."""
        return markup('<time datetime="{}">{}</time>').format(texts.moment(ms), texts.shown_moment(ms))

    return {
        "foreign": foreign,
        "moment": moment,
        "line": controls.one_line,
        "whole": controls.whole_text,
        "field": texts.field_text,
        "count": texts.count,
        "rate": texts.rate,
        "similarity": texts.similarity,
        "signed": texts.signed,
        "short_moment": texts.short_moment,
        "span": texts.span,
        "numbers": texts.numbers,
    }


def _library() -> Any:
    try:
        import jinja2  # noqa: PLC0415 - optional
    except ImportError:
        raise ConfigError('web pages need Jinja2: pip install "stream_lsh[web]"') from None
    return jinja2


def require() -> None:
    """Return if the library is installed; raises ConfigError otherwise."""
    _library()
