"""An extension of mkdocstrings: its parser formats doctests in a section `Examples` only, ours are in `Example`."""

import re
from typing import Any

import griffe

_HEADING = re.compile(r"^([ \t]*)Example:$", re.MULTILINE)


# griffe is part of the extra `docs`: without it, its types are unknown.
class Examples(griffe.Extension):  # type: ignore[misc, unused-ignore]
    """Renames the section of examples before docstrings are parsed."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Rename it in the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = _HEADING.sub(r"\1Examples:", obj.docstring.value)
