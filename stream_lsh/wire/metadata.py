"""The metadata of a document for stories: its title, its outlet, and its length.

    title    as given; else the first line of the text that is not blank.  At most 200 characters
    source   as given; else the host of the URL, in lower case, without port, user and `www.`; of a URL without a
             scheme, the part before the first slash.  At most 100 characters
    length   characters of the text

Both are stripped, with white space collapsed.
"""

import re
from urllib.parse import urlsplit

from stream_lsh.model import About

_MOST_TITLE, _MOST_SOURCE = 200, 100
_LINE = re.compile(r"\S[^\r\n]*")


def about_of(text: str, title: str = "", source: str = "", url: str = "") -> About:
    r"""The metadata of a text.

    Guarantees:
        no string raises an error; title and source of a result, given again, are unchanged.

    Example:
        >>> about_of("Fire in  the port\nTwo ships burn.", url="https://www.example.org:443/a?b")
        About(title='Fire in the port', source='example.org', length=33)
    """
    shown = _short(title, _MOST_TITLE)
    if not shown and (line := _LINE.search(text)) is not None:
        shown = _short(line.group(), _MOST_TITLE)
    return About(shown, _short(source, _MOST_SOURCE) or _short(_host(url), _MOST_SOURCE), len(text))


def _short(text: str, most: int) -> str:
    # `most` words have at least `most` characters: the rest of a long line need not be split.
    return " ".join(text.split(None, most)[:most])[:most].rstrip()


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        if not parts.scheme and not parts.netloc:
            parts = urlsplit(f"//{url}")
        return (parts.hostname or "").removeprefix("www.")
    except ValueError:  # it looks like a host but is invalid
        return ""
