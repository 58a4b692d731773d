"""The tree of errors."""

import inspect
import re

from stream_lsh import errors
from stream_lsh.errors import ConfigError, InputError, StreamLSHError, UnusableDocument


def drawn_tree() -> dict[str, str]:
    """Child -> parent, from the drawing in the docstring."""
    parents: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"^(\s{4}[│├└─ ]*)([A-Z][A-Za-z]+)", line)
        if not found:
            continue
        depth, name = len(found[1]), found[2]
        path = [(d, n) for d, n in path if d < depth]
        if path:
            parents[name] = path[-1][1]
        path.append((depth, name))
    return parents


def test_the_tree_in_the_docstring_is_that_of_the_classes() -> None:
    classes = {c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == errors.__name__}
    actual = {c.__name__: c.__mro__[1].__name__ for c in classes if c is not StreamLSHError}
    assert drawn_tree() == actual
    assert len(actual) >= 9
    assert StreamLSHError.__bases__ == (Exception,)


def test_an_input_error_carries_its_reason_and_its_message() -> None:
    error = UnusableDocument("size", "got 9 bytes, expected at most 8")
    assert isinstance(error, InputError)
    assert (error.reason, str(error)) == ("size", "got 9 bytes, expected at most 8")


def test_a_config_error_lists_all_problems() -> None:
    assert ConfigError("one").problems == ("one",)
    both = ConfigError(["one", "two"])
    assert both.problems == ("one", "two")
    assert str(both) == "one\ntwo"
