"""The files that pages refer to: style, script, icon and third-party libraries.

Each address contains the digest of its file, so a browser caches the file until a new version gets a new address.
"""

import functools
import hashlib
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "static"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class StaticFile(NamedTuple):
    """A file, with its content type and its address."""

    body: bytes
    content_type: str
    address: str


@functools.cache
def static_files() -> dict[str, StaticFile]:
    """All files by their path below the folder."""
    found = {}
    for path in sorted(FOLDER.rglob("*")):
        if path.suffix in _TYPES:
            name, body = path.relative_to(FOLDER).as_posix(), path.read_bytes()
            digest = hashlib.sha256(body).hexdigest()[:12]
            found[name] = StaticFile(body, _TYPES[path.suffix], f"/static/{name}?{digest}")
    return found


def address(name: str) -> str:
    """The address of a file."""
    return static_files()[name].address
