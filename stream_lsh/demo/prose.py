"""Prose that is on this machine anyway: help topics, licences and descriptions of packages, docstrings of modules.

Nothing is downloaded and nothing is imported but the standard library; what there is depends on the installation.
"""

import ast
import importlib.metadata
import pydoc_data.topics
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LEAST = 300
"""Characters below which a text is no prose."""
_MOST = 40_000
_LEGAL = ("LICENSE", "LICENCE", "COPYING", "NOTICE")


class Prose(NamedTuple):
    """A text, and what a reader would call it."""

    title: str
    text: str


def collect(most: int) -> list[Prose]:
    """Texts of this installation, at most so many of each kind, always in the same order."""
    kinds = (_topics(), _packages(), _modules())
    texts = [article for kind in kinds for article, _ in zip(kind, range(most), strict=False)]
    return [Prose(title, text[:_MOST]) for title, text in texts if len(text) >= LEAST]


def _topics() -> Iterator[Prose]:
    for name, text in sorted(pydoc_data.topics.topics.items()):
        yield Prose(f"help topic {name}", text)


def _packages() -> Iterator[Prose]:
    packages = {package.name: package for package in importlib.metadata.distributions() if package.name}
    for name in sorted(packages):
        package = packages[name]
        description = package.read_text("METADATA")
        if description:
            yield Prose(f"description of {name}", description.partition("\n\n")[2])
        for file in package.files or ():
            if file.name.upper().startswith(_LEGAL) and file.suffix in ("", ".txt", ".md", ".rst"):
                owner = name if file.parent.name.startswith(("licenses", name)) else f"{file.parent.name}, {name}"
                yield Prose(f"{file.name.lower()} of {owner}", _read(Path(str(file.locate()))))


def _modules() -> Iterator[Prose]:
    folder = Path(sysconfig.get_path("stdlib"))
    for name in sorted(sys.stdlib_module_names):
        text = _read(folder / f"{name}.py") or _read(folder / name / "__init__.py")
        # Docstrings come first in a file: there is no need to parse all of it.
        head = text.lstrip().removeprefix("r")
        if head.startswith(('"""', "'''")):
            end = head.find(head[:3], 3)
            yield Prose(f"module {name}", ast.literal_eval("r" + head[: end + 3]) if end > 0 else "")


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
