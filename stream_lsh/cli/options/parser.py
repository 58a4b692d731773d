"""An argument parser that names the option that may have been meant, and reports mistakes as `ConfigError`."""

import argparse
import codecs
import math
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

from stream_lsh.cli.output.atomic_files import STDOUT, Output, report_lines
from stream_lsh.errors import ConfigError
from stream_lsh.settings import units
from stream_lsh.spelling import resembling

_FILES = ("OUT", "INDEX", "CSV")
"""The values of options that name a file, as the help calls them."""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Shows `%(default)s` as a user would write it: the defaults of a preset are those of its command."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.type is span_ms and action.help is not None:
            return action.help.replace(
                "%(default)s", "any" if action.default is None else units.span_text(action.default)
            )
        return action.help


class Parser(argparse.ArgumentParser):
    """The parser of one command.

    Args:
        command: its name.
        description: one sentence for the help.
        epilog: inputs, outputs and examples for the help.
        first: options that the help shows first, without dashes.
    """

    def __init__(self, command: str, description: str, epilog: str = "", *, first: Sequence[str] = ()) -> None:
        super().__init__(
            prog=f"stream-lsh {command}",
            description=description,
            epilog=epilog,
            allow_abbrev=False,
            formatter_class=_Help,
        )
        self._first = [name.replace("-", "_") for name in first]
        self._renamed: dict[str, str] = {}

    def renamed(self, old: str, new: str) -> None:
        """Accept an option under its old name, with a warning; for one release."""
        self._renamed[old] = new

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The options.

        Raises:
            ConfigError: an unknown option, with the name that may have been meant, or a wrong value.
        """
        arguments = self._current_names(arguments)
        before = arguments[: arguments.index("--")] if "--" in arguments else arguments
        if "-h" in before or "--help" in before:  # while argparse parses intermixed, it hides positional arguments
            with Output(STDOUT) as out:
                out.write([self.format_help().rstrip("\n").encode()])
            self.exit()
        # Where both are mixed, argparse takes for an option what comes after `--`.
        parse = self.parse_known_args if "--" in arguments else self.parse_known_intermixed_args
        options, unknown = parse(arguments)
        names = [one.partition("=")[0] for one in unknown if one.startswith("-")]
        if names:  # arguments behind an unknown option are its values
            valid = [option for option in self._option_string_actions if option.startswith("--")]
            similar = ((name, resembling(name, valid)) for name in names)
            self.error(
                "; ".join(
                    f"got the option {name!r}, " + (f"did you mean `{one}`?" if one else "which does not exist")
                    for name, one in similar
                )
            )
        if unknown:
            self.error(f"got {' '.join(unknown)}, expected no further arguments")
        for action in self._actions:  # as a path, "" would be the current folder
            if action.metavar in _FILES and getattr(options, action.dest) == "":
                self.error(f"argument {'/'.join(action.option_strings)}: got '', expected a file: is a variable empty?")
        return options

    def named(self, arguments: Sequence[str]) -> set[str]:
        """The options that the arguments set, by the names of their values."""
        given = {argument.partition("=")[0] for argument in self._current_names(arguments)}
        return {action.dest for action in self._actions if given & {*action.option_strings}}

    def _current_names(self, arguments: Sequence[str]) -> list[str]:
        """The arguments with the current names of renamed options."""
        current = list(arguments)
        for number, argument in enumerate(current):
            if argument == "--":
                break
            name, equals, value = argument.partition("=")
            if name in self._renamed:
                new = self._renamed[name]
                report_lines([f"warning: {name} is now {new}; the next release removes the old name"])
                current[number] = f"{new}{equals}{value}"
        return current

    def error(self, message: str) -> NoReturn:
        """Wrong use."""
        raise ConfigError([message, f"`{self.prog} --help` lists the options."])

    def format_usage(self) -> str:
        """One line: the command, its arguments and the options that are required."""
        required = [
            f"{action.option_strings[-1]} {action.metavar}"
            for action in self._actions
            if action.required and action.option_strings
        ]
        positionals = [_usage_of(action) for action in self._get_positional_actions()]
        return f"usage: {' '.join([self.prog, *required, '[options]', *positionals])}\n"

    def format_help(self) -> str:
        """The help: the options that matter first, then the others in their groups, general ones last."""
        formatter = self._get_formatter()
        formatter.add_text(self.format_usage().rstrip())
        formatter.add_text(self.description)
        for title, actions in self.sections():
            formatter.start_section(title)
            formatter.add_arguments(actions)
            formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def sections(self) -> Iterator[tuple[str, list[argparse.Action]]]:
        """The sections of the help: a title, and the arguments in it."""
        first = [action for name in self._first for action in self._actions if action.dest == name]
        yield "arguments", self._get_positional_actions()
        yield "main options", first
        for group in self._action_groups[2:]:
            yield group.title or "", [action for action in group._group_actions if action not in first]
        yield "general options", [action for action in self._optionals._group_actions if action not in first]


def _usage_of(action: argparse.Action) -> str:
    """A positional argument as the usage shows it."""
    name = action.metavar if isinstance(action.metavar, str) else "|".join(map(str, action.choices or ()))
    return {"+": f"{name} [{name} ...]", "*": f"[{name} ...]"}.get(str(action.nargs), name)


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """A converter for whole numbers from `least` on, or up to `most`."""
    limits = f"from {least} on" if most is None else f"from {least} to {most}"

    def convert(value: str) -> int:
        try:
            number = int(value.replace("_", ""))
        except ValueError:
            number = least - 1
        if number < least or (most is not None and number > most):
            raise argparse.ArgumentTypeError(f"got {value!r}, expected a whole number {limits}")
        return number

    return convert


def real(fits: Callable[[float], bool], expected: str) -> Callable[[str], float]:
    """A converter for numbers that fit; `expected` describes them in the error."""

    def convert(value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not fits(number):
            raise argparse.ArgumentTypeError(f"got {value!r}, expected a number {expected}")
        return number

    return convert


least_share = real(lambda number: 0 <= number < 1, "from 0 to below 1, such as 0.1")
share = real(lambda number: 0 < number < 1, "above 0 and below 1, such as 0.8")
ratio = real(lambda number: number >= 1, "of 1 or more, such as 2")
"""The maximum ratio of the larger to the smaller one of two."""


def similarity(value: str) -> float:
    """A converter for thresholds: above 0, and up to 1, which asks for identical items."""
    number = real(lambda number: 0 < number <= 1, "above 0 and up to 1, such as 0.8")(value)
    return math.nextafter(1, 0) if number == 1 else number


def span_ms(value: str) -> int:
    """A converter for spans of time: `90m`, `12h`, `3d`.

    Example:
        >>> span_ms("3d"), span_ms("1.5h")
        (259200000, 5400000)
    """
    span = units.span_ms(value)
    if not span:
        expected = ", ".join(units.SPAN_UNITS)
        raise argparse.ArgumentTypeError(f"got {value!r}, expected a number with one of {expected}, such as 3d")
    return span


def names(value: str) -> tuple[str, ...]:
    """A converter for lists of names, separated by commas; an empty value is an empty list.

    Example:
        >>> names("nfkc, accents"), names("")
        (('nfkc', 'accents'), ())
    """
    return tuple(name.strip() for name in value.split(",") if name.strip())


def page_file(value: str) -> str:
    """A converter for the file of a report."""
    if value == "-":
        raise argparse.ArgumentTypeError("got -, expected a file")
    return value


def delimiter(value: str) -> str:
    """A converter for the delimiter of a table: one character, or its name."""
    character = {"tab": "\t", "\\t": "\t"}.get(value, value)
    if len(character) > 1 or character in tuple('"\r\n'):
        raise argparse.ArgumentTypeError(f"got {value!r}, expected one character, such as ; or tab")
    return character


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
            f"got {value!r}, expected one in which ASCII stands for itself, such as utf-8, latin-1 or cp1252: convert "
            "other files to UTF-8, as with iconv"
        )
    return name
