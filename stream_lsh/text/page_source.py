"""The source of a page before parsing: decodes bytes, and removes input that would crash a parser or take it hours.

Sources: HTML Living Standard, sections 13.2.3.2 (encoding sniffing) and 13.2.5.6 to 13.2.5.39 (tags and attributes).
"""

import re
from collections.abc import Callable

MOST_ATTRIBUTES = 250
"""The most attributes of a tag.  The parser searches duplicates linearly: 100,000 attributes take a minute."""
MOST_NAMES = 10_000
"""The most names of tags and attributes on a page.  The parser's table of them does not grow: 100,000 take seconds."""
MOST_ROOTS = 50
"""The most `<html>` and `<body>` tags together: attributes of a further one are added to those of the first."""

_HEAD = 4096
"""The bytes in which a page declares its encoding.  Browsers read 1,024 bytes; some pages declare it later."""
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_META_CHARSET = re.compile(
    rb"""\A\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"']*) | <meta[\s/][^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]+)""",
    re.IGNORECASE | re.VERBOSE,
)
_WIDER = {"shift_jis": "cp932", "euc_kr": "cp949", "gbk": "gb18030", "iso8859-11": "cp874"}
"""The supersets that browsers use for these names."""

_EXPANDING = {"&nGt;": "\u226b\u20d2", "&nLt;": "\u226a\u20d2"}
"""The only two references of HTML whose UTF-8 form is longer than their source."""
_SPACE = r"[\t\n\f\r ]"
_ATTRIBUTE = (
    rf"[\t\n\f\r /]*+([^\t\n\f\r />][^\t\n\f\r />=]*+)"
    rf"""(?:{_SPACE}*+={_SPACE}*+(?:"[^"]*+"?|'[^']*+'?|[^\t\n\f\r >]*+))?+"""
)
_NAMES = re.compile(_ATTRIBUTE)
_COMMON = (
    r"/?(?:[a-zA-Z][a-zA-Z0-9]?|article|code|div|img|pre|section|small|span|strong|table|tbody)"
    r"""(?: (?:alt|class|content|height|href|id|name|rel|role|src|style|title|width)="[^"<>]*+"){0,9}+"""
    r"[ /]*+>"
)
"""Harmless tags, nearly all tags of nearly all pages: they are not checked one by one."""
_TAG = re.compile(
    rf"(?=<(?!{_COMMON})/?([a-zA-Z][^\t\n\f\r />]*+(?:{_ATTRIBUTE}){{0,{MOST_ATTRIBUTES}}}+)({_ATTRIBUTE})?+)"
)
_ROOT = re.compile(r"<(?:html|body)[\t\n\f\r />]", re.IGNORECASE)
_SCRIPT = re.compile(r"<script(?=[\t\n\f\r />]).*?(?:</script|\Z)", re.IGNORECASE | re.DOTALL)
_ANY_TAG = re.compile(
    r"<(/?)(?:(script|style|template|noscript|title)(?=[\t\n\f\r />])|[a-zA-Z!?])[^>]*+(?:>|\Z)", re.IGNORECASE
)


def decoded(source: bytes, codec_of: Callable[[str], str]) -> str:
    """Decode a page by its byte order mark, by its declared encoding, as UTF-8, or as windows-1252.

    Bytes that are invalid in the encoding become U+FFFD, as in a browser.  A page without a declaration, or with an
    unknown one, is UTF-8 if all of it is valid, and windows-1252 if not.

    Args:
        source: the bytes of the page.
        codec_of: returns Python's name of a declared encoding; `utf-8` for unknown names.
    """
    for mark, codec in _MARKS:
        if source.startswith(mark):
            return source[len(mark) :].decode(codec, "replace")
    declared = _META_CHARSET.search(_COMMENT.sub(b"", source[:_HEAD]))
    name = (declared[1] or declared[2] or b"").decode("ascii", "replace").lower() if declared else ""
    # A declaration of UTF-16 that is readable as ASCII is wrong.
    codec = "utf-8" if name.startswith("utf") else codec_of(name)
    if codec != "utf-8" or name.startswith("utf"):
        return source.decode(_WIDER.get(codec, codec), "replace")
    try:
        return source.decode()
    except UnicodeDecodeError:
        return source.decode("cp1252", "replace")


def encodable(source: str) -> str:
    """The same text with surrogate pairs joined, and lone surrogates as U+FFFD."""
    try:
        source.encode()
    except UnicodeEncodeError:
        return source.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return source


def parseable(source: str) -> str:
    """The page itself, or a part of it if a parser would take too long for its length.

    Fault (Resiliparse 2.0.1, lexbor): the parser decodes a character reference in the memory of its source.  A longer
    result overwrites the following text; 10,000 of them crash the process with a segmentation fault.  So this function
    replaces these references by their characters before parsing.

    Minified scripts look like tags that never end, so a page gets a second check without the content of its scripts.
    If it still exceeds the limits, nearly all tags are removed, except those that mark unread content.

    Cost:
        linear: a page with many tags that begin within tags counts as one that exceeds the limits.

    Example:
        >>> parseable("<p class=lead>Rain.</p>")
        '<p class=lead>Rain.</p>'
        >>> parseable("<p" + "".join(f" a{n}" for n in range(251)) + ">Rain.</p><script defer>x</script>")
        ' Rain. <script></script>'
    """
    for reference, characters in _EXPANDING.items():
        source = source.replace(reference, characters)
    if not _overladen(source):
        return source
    source = _SCRIPT.sub("<script></script", source)
    if not _overladen(source):
        return source
    return _ANY_TAG.sub(lambda tag: f"<{tag[1]}{tag[2]}>" if tag[2] else " ", source)


def _overladen(source: str) -> bool:
    """Whether a page exceeds a limit anywhere that a parser may see a tag, including comments and quoted values."""
    if sum(1 for _ in _ROOT.finditer(source)) > MOST_ROOTS:
        return True
    names, budget = set[str](), 16 * len(source)
    for tag in _TAG.finditer(source):
        budget -= len(tag[1])
        names.update(_NAMES.findall(tag[1]))
        if tag.end(3) >= 0 or budget < 0 or len(names) > MOST_NAMES:
            return True
    return False
