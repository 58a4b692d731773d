"""An argument parser that names the option that may have been meant, and reports mistakes as `ConfigError`."""

import argparse
import codecs
from collections.abc import Callable, Sequence
from typing import NoReturn

from stream_lsh.errors import ConfigError
from stream_lsh.spelling import resembling


class _Help(argparse.RawDescriptionHelpFormatter):
    """Shows `%(default)s` as a user would write it: the defaults of a preset are those of its command."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.type is span_ms and action.help is not None:
            return action.help.replace("%(default)s", _span(action.default))
        return action.help


class Parser(argparse.ArgumentParser):
    """The parser of one command.

    Args:
        command: its name.
        description: what it does, as the help says.
        epilog: examples.
    """

    def __init__(self, command: str, description: str, epilog: str = "") -> None:
        super().__init__(
            prog=f"stream-lsh {command}",
            description=description,
            epilog=epilog,
            allow_abbrev=False,
            formatter_class=_Help,
        )

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The options; raises ConfigError with a proposal for one that does not exist."""
        # Where both are mixed, argparse takes for an option what comes after `--`.
        parse = self.parse_known_args if "--" in arguments else self.parse_known_intermixed_args
        namespace, unknown = parse(list(arguments))
        options = [argument.partition("=")[0] for argument in unknown if argument.startswith("-")]
        if options:  # what follows them is taken for their values
            valid = [option for option in self._option_string_actions if option.startswith("--")]
            suggestions = ((name, resembling(name, valid)) for name in options)
            self.error(
                "; ".join(
                    f"got the option {name!r}, " + (f"did you mean `{one}`?" if one else "which does not exist")
                    for name, one in suggestions
                )
            )
        if unknown:
            self.error(f"got {' '.join(unknown)}, expected nothing more")
        return namespace

    def error(self, message: str) -> NoReturn:
        """Wrong use."""
        raise ConfigError(f"{message}\n`{self.prog} --help` tells what there is.")


def whole(least: int, unit: str = "") -> Callable[[str], int]:
    """A converter for whole numbers from `least` on."""

    def convert(value: str) -> int:
        try:
            number = int(value.replace("_", ""))
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"got {value!r}, expected a whole number{unit} from {least} on")
        return number

    return convert


def share(value: str) -> float:
    """A converter for numbers between 0 and 1."""
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"got {value!r}, expected a number above 0 and below 1, such as 0.8")
    return number


def ratio(value: str) -> float:
    """A converter for how many times as large the larger one of two may be."""
    try:
        times = float(value)
    except ValueError:
        times = 0.0
    if not times >= 1:
        raise argparse.ArgumentTypeError(f"got {value!r}, expected a number of 1 or more, such as 2")
    return times


def _span(ms: int | None) -> str:
    """A span as `span_ms` takes it; "any" for none."""
    if ms is None:
        return "any"
    unit, size = next((unit, size) for unit, size in (("d", 86_400_000), ("ms", 1)) if ms % size == 0)
    return f"{ms // size}{unit}"


_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


def span_ms(value: str) -> int:
    """A converter for spans of time: `90m`, `12h`, `3d`.

    Example:
        >>> span_ms("3d"), span_ms("1.5h")
        (259200000, 5400000)
    """
    number = value.rstrip("mshdw")
    try:
        span = int(float(number) * _UNITS[value[len(number) :]])
    except (KeyError, ValueError, OverflowError):
        span = 0
    if span <= 0:
        raise argparse.ArgumentTypeError(
            f"got {value!r}, expected a number with one of {', '.join(_UNITS)}, such as 3d"
        )
    return span


def ascii_encoding(value: str) -> str:
    """A converter for names of encodings in which ASCII stands for itself, so that lines and commas can be found."""
    try:
        name = codecs.lookup(value).name
        plain = bytes(range(128))
        fits = plain.decode(name) == plain.decode("ascii")
    except (LookupError, UnicodeError):
        fits = False
    if not fits:
        raise argparse.ArgumentTypeError(
            f"got {value!r}, expected an encoding beyond ASCII, such as utf-8, latin-1 or cp1252"
        )
    return name
