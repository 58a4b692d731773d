"""`stream-lsh completion`: the completion script for a shell."""

from argparse import Action, ArgumentParser
from collections.abc import Sequence
from importlib import import_module

from stream_lsh.cli.commands.catalog import COMMANDS, module_of
from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.output.atomic_files import STDOUT, Output

SHELLS = ("bash", "zsh", "fish")

_EPILOG = """\
examples:
  bash   stream-lsh completion bash > ~/.local/share/bash-completion/completions/stream-lsh
  zsh    stream-lsh completion zsh > ~/.zfunc/_stream-lsh      (with fpath+=~/.zfunc before compinit in ~/.zshrc)
  fish   stream-lsh completion fish > ~/.config/fish/completions/stream-lsh.fish
"""
_FILES = ("FILE", "OUT", "CSV", "PATH", "DIR")
"""Metavars of arguments that name files."""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    shell = make_parser().parse(arguments).shell
    import shtab  # noqa: PLC0415

    with Output(STDOUT) as out:
        out.write([shtab.complete(_whole_command(), shell).rstrip("\n").encode()])
        out.finish()
    return 0


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser("completion", "Print the completion script for a shell.", _EPILOG)
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
    return parser


def _whole_command() -> ArgumentParser:
    """One parser with the parsers of all commands below it, as shtab expects it."""
    whole = ArgumentParser(prog="stream-lsh")
    commands = whole.add_subparsers()
    for name, summary in COMMANDS.items():
        below = commands.add_parser(name, help=summary.replace("%", "%%"), add_help=False)
        for action in import_module(module_of(name)).make_parser()._actions:
            below._add_action(_completed(action))
    return whole


def _completed(action: Action) -> Action:
    """The action, with the completion of file names where it names a file."""
    import shtab  # noqa: PLC0415

    if action.metavar in _FILES:
        action.complete = shtab.FILE  # type: ignore[attr-defined]
    return action
