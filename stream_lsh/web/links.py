"""Addresses of pages.

Ids are in the query of an address: in a path, browsers resolve `..`, also percent-encoded.
"""

from urllib.parse import quote, urlencode, urlsplit


def link(page: str, pipeline: str = "", **query: object) -> str:
    """The address of a page, with the parameters that have a value.

    Example:
        >>> link("health"), link("cluster", "news", id="a/b")
        ('/health', '/p/news/cluster?id=a%2Fb')
    """
    path = f"/p/{quote(pipeline, safe='')}/{page}" if pipeline else f"/{page}"
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given, errors='replace')}" if given else path


def outside(address: object) -> str:
    """An untrusted address if a link may lead to it: absolute, with http or https; otherwise "".

    Example:
        >>> outside("https://wire.example/1"), outside("javascript:alert(1)"), outside(None)
        ('https://wire.example/1', '', '')
    """
    if not isinstance(address, str):
        return ""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return address if parts.scheme in ("http", "https") and parts.netloc and address.isprintable() else ""
