"""HTML to text: the article of a page, or all of its visible text, and its metadata.

Parser and heuristics are those of Resiliparse (ADR 0020), an optional library: the extra `html`.  The first page loads
it.

Source: J. Bevendorff, S. Gupta, J. Kiesel and B. Stein, An empirical comparison of web content extraction algorithms,
SIGIR 2023.
"""

import functools
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from stream_lsh.errors import ConfigError
from stream_lsh.spelling import suggestion
from stream_lsh.text.page_source import decoded, encodable, parseable

if TYPE_CHECKING:
    from resiliparse.parse.html import DocumentNode, HTMLTree

Mode = Literal["main", "page"]

DEEPEST = 256
"""The most nested elements.  Deeper pages have no main text: searching it takes time quadratic in the depth."""
_DEEP = " > ".join("*" * DEEPEST)
_UNSEEN = ["[hidden]", '[style*="display:none" i]', '[style*="display: none" i]', "dialog:not([open])"]
_TAG = re.compile(r"<(?:!--|!doctype|/?[a-z])", re.IGNORECASE)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Page(NamedTuple):
    """The content of a page.  Strings have no white space at their ends, and single spaces within.

    Attributes:
        title: the headline for other sites (`og:title`), else `<title>`, else the first `<h1>`; or "".
        text: the text in one line; "" if there is none, as on a page that scripts fill.
        site: the name of the site (`og:site_name`), or "".
        published_ms: the time of publication, ms since the epoch; None unless the page gives the time of day and a time
            zone.
        url: the canonical address of the page, `http` or `https` and absolute, or "".
    """

    title: str
    text: str
    site: str = ""
    published_ms: int | None = None
    url: str = ""


class _Library(NamedTuple):
    parse: Any
    extract: Any
    codec_of: Any


def read_page(html: str | bytes, mode: Mode = "main") -> Page:
    """Extract the text and the metadata of a page.

    A heuristic finds the main text by names of tags and classes; some boilerplate stays, and sometimes a short list is
    lost.  If it finds nothing (a page of one line, a page of navigation only), and on pages with more than 256 nested
    elements, the text is that of mode `page`: every page with visible text has a text.

    Args:
        html: the page.  The encoding of bytes is detected as in browsers: byte order mark, `<meta charset>`, UTF-8,
            windows-1252.  Lone surrogates of a str become U+FFFD.
        mode: `main`, the article without navigation, advertisements and comments; or `page`, all visible text including
            navigation, without scripts, templates, `noscript`, and content hidden by attribute or inline style.

    Guarantees:
        a function of its arguments: no clock, no network, and no exception for any page.  It is thread-safe.
    Cost:
        linear in the length of the page, for hostile ones too; some 8 ms for an ordinary page of 30 KB.

    Raises:
        ConfigError: Resiliparse is not installed -> install the extra `html`; an unknown mode.

    Example:
        >>> html = "<title>Flood</title><nav><a href=/>Home</a></nav><main><h1>Flood</h1><p>The river rose.</p></main>"
        >>> page = read_page(html)
        >>> page.title, page.text
        ('Flood', 'Flood The river rose.')
        >>> read_page(html, "page").text
        'Home Flood The river rose.'
    """
    if mode not in get_args(Mode):
        problem = f"mode of a page: got {mode!r}, expected one of {', '.join(get_args(Mode))}"
        raise ConfigError(f"{problem}{suggestion(mode, get_args(Mode))}")
    library = _library()
    source = encodable(html) if isinstance(html, str) else decoded(html, library.codec_of)
    tree = library.parse(parseable(source.removeprefix("\ufeff")))
    document = tree.document
    text = ""
    if mode == "main" and document.query_selector(_DEEP) is None:
        text = _text(library, tree, main=True)
    return Page(
        _attribute(document, ('meta[property="og:title" i]', "content"))
        or _line(tree.title)
        or _line(_first_text(document, "h1")),
        text or _text(library, tree, main=False),
        _attribute(document, ('meta[property="og:site_name" i]', "content")),
        _published(document),
        _url(document),
    )


def require() -> None:
    """Check that pages can be read; raises ConfigError if the library is missing."""
    _library()


def has_tags(text: str) -> bool:
    """Whether a text could be HTML: it contains the beginning of a tag or a comment.

    Example:
        >>> has_tags("1 < 2, and all is well <3"), has_tags("<p>All is well"), has_tags("All is <em>well</em>")
        (False, True, True)
    """
    return _TAG.search(text) is not None


def page_source(source: bytes) -> str:
    """Decode the bytes of a page; raises as `read_page` does.

    Example:
        >>> page_source('<meta charset="latin1"><p>caf\u00e9'.encode("latin1"))[-4:]
        'caf\u00e9'
    """
    return decoded(source, _library().codec_of)


@functools.cache
def _library() -> _Library:
    try:
        from resiliparse.extract.html2text import extract_plain_text  # noqa: PLC0415 - optional
        from resiliparse.parse.encoding import map_encoding_to_html5  # noqa: PLC0415 - optional
        from resiliparse.parse.html import HTMLTree  # noqa: PLC0415 - optional
    except ImportError:
        raise ConfigError('reading HTML needs Resiliparse: pip install "stream_lsh[html]"') from None
    return _Library(HTMLTree.parse, extract_plain_text, map_encoding_to_html5)


def _text(library: _Library, tree: "HTMLTree", *, main: bool) -> str:
    # `preserve_formatting` would indent nested lists: 500 KB of them became 3 GB.
    return _line(
        library.extract(
            tree,
            preserve_formatting=False,
            main_content=main,
            list_bullets=False,
            alt_texts=False,
            comments=False,
            skip_elements=_UNSEEN,
        )
    )


def _line(text: str | None) -> str:
    return " ".join((text or "").split())


def _first_text(document: "DocumentNode", selector: str) -> str | None:
    element = document.query_selector(selector)
    return None if element is None else element.text


def _attribute(document: "DocumentNode", *places: tuple[str, str]) -> str:
    """The first nonempty attribute of the page among these selectors with names of attributes."""
    for selector, name in places:
        element = document.query_selector(selector)
        value = "" if element is None else _line(element.getattr(name))
        if value:
            return value
    return ""


def _published(document: "DocumentNode") -> int | None:
    declared = _attribute(
        document,
        ('meta[property="article:published_time" i]', "content"),
        ('meta[itemprop="datePublished" i]', "content"),
        ('time[itemprop="datePublished" i]', "datetime"),
    )
    try:
        moment = datetime.fromisoformat(declared)
    except ValueError:
        return None
    # A time without a zone is ambiguous, and the order of publication depends on it.
    return None if moment.tzinfo is None else (moment - _EPOCH) // timedelta(milliseconds=1)


def _url(document: "DocumentNode") -> str:
    declared = _attribute(document, ('link[rel~="canonical" i]', "href"), ('meta[property="og:url" i]', "content"))
    return declared if declared.lower().startswith(("http://", "https://")) else ""
