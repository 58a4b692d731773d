"""The libraries that are measured against, where they are installed."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

GET = "pip install -e '.[records,peers-records]', best into an environment of its own: its versions are pinned"


def required(name: str) -> Any:
    """A module of a peer.

    Args:
        name: of the module; the first part of it is what has to be installed.

    Raises:
        SystemExit: the module is not installed; the message names the command that installs it.
    """
    try:
        return import_module(name)
    except ImportError as error:
        peer = name.partition(".")[0]
        raise SystemExit(f"got no {peer} ({error}), expected it to be installed: {GET}") from error


def version_of(package: str) -> str:
    """The version of a package, "" if it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
