"""The versions of the stream engine with which the workarounds of this package were tested.

They use private parts of faust, of its library mode and of aiokafka.  With another version they might have no effect,
or do harm, silently: so a worker refuses to start on one.  To move to a newer version: run `tests/kafka` on it, delete
each workaround whose test passes without it, and write the version here and in pyproject.toml.
"""

from collections.abc import Mapping
from importlib.metadata import version

from stream_lsh.errors import ConfigError

TESTED: Mapping[str, tuple[str, ...]] = {
    "faust-streaming": ("0.15.3",),
    "mode-streaming": ("0.7.1",),
    "aiokafka": ("0.14.0",),
}


def require_tested_engine(installed: Mapping[str, str] | None = None) -> None:
    """Refuse an engine that was not tested.

    Args:
        installed: version by distribution; None reads the installed ones.

    Raises:
        ConfigError: another version is installed -> the message names the version to install.
    """
    present = {name: version(name) for name in TESTED} if installed is None else installed
    problems = [
        f"{name} {present[name]} is installed, and stream_lsh works around faults of exactly {' or '.join(tested)}: "
        f"install {name}=={tested[-1]}"
        for name, tested in TESTED.items()
        if present[name] not in tested
    ]
    if problems:
        raise ConfigError(problems)
