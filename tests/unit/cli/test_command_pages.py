"""The pages in docs/reference/commands are generated from the parsers of the commands.

python -m tests.unit.cli.test_command_pages      writes the pages again
"""

import argparse
import sys
from importlib import import_module
from pathlib import Path
from unittest import mock

import pytest

from stream_lsh.cli.commands.catalog import COMMANDS, module_of
from stream_lsh.cli.options.parser import Parser

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "reference" / "commands"
GUIDES = {
    "demo": ("Getting started", "../../guides/first-steps.md"),
    "init": ("Running on Kafka", "../../guides/kafka.md"),
    "ui": ("Web pages", "../../guides/pages.md"),
    "broker": ("Running on Kafka", "../../guides/kafka.md"),
    "completion": ("Installation", "../../guides/installation.md"),
    "worker": ("Running on Kafka", "../../guides/kafka.md"),
    "serve": ("Running on Kafka", "../../guides/kafka.md"),
    "feed": ("Running on Kafka", "../../guides/kafka.md"),
    "tail": ("Running on Kafka", "../../guides/kafka.md"),
    "check": ("Monitoring", "../../operations/monitoring.md"),
    "query": ("Querying a running stream", "../../guides/querying.md"),
    "decide": ("Entities in a stream", "../../guides/entities.md"),
    "dedup": ("Deduplicating files", "../../guides/dedup.md"),
    "allpairs": ("Deduplicating files", "../../guides/dedup.md"),
    "sets": ("Similar sets and fingerprints", "../../guides/sets.md"),
    "neighbours": ("Near vectors", "../../guides/vectors.md"),
    "link": ("Matching records", "../../guides/records.md"),
    "news": ("News", "../../guides/news.md"),
    "mirrors": ("Mirrors", "../../guides/mirrors.md"),
    "plagiarism": ("Partial copies", "../../guides/plagiarism.md"),
    "clones": ("Duplicate code", "../../guides/code.md"),
    "explain": ("Explaining results", "../../guides/explaining.md"),
    "plan": ("Scale", "../../scale.md"),
    "tune": ("Choosing parameters", "../../guides/choosing-parameters.md"),
    "train": ("Matching records", "../../guides/records.md"),
    "review": ("Evaluate results", "../../guides/evaluating.md"),
    "evaluate": ("Evaluate results", "../../guides/evaluating.md"),
    "profile": ("Matching records", "../../guides/records.md"),
}


class _Parser(Exception):
    """Carries the parser of a command out of the command."""


def parser_of(command: str) -> Parser:
    """The parser that a command builds."""

    def caught(parser: Parser, _arguments: object) -> None:
        raise _Parser(parser)

    with mock.patch.object(Parser, "parse", caught), pytest.raises(_Parser) as found:
        import_module(module_of(command)).run([])
    parser: Parser = found.value.args[0]
    return parser


def page(command: str) -> str:
    """The page of a command, in Markdown."""
    parser = parser_of(command)
    label, guide = GUIDES[command]
    sections = [
        f"# {command}",
        "<!-- generated from the parser: python -m tests.unit.cli.test_command_pages -->",
        f"`stream-lsh {command}`: {' '.join((parser.description or '').split())}",
        f"Guide: [{label}]({guide}).",
    ]
    for title, found in parser.sections():
        actions = [action for action in found if not isinstance(action, argparse._HelpAction)]
        if actions:
            sections += [f"## {title.capitalize()}", _table(parser, actions)]
    if parser.epilog:
        sections += ["## Notes and examples", f"```text\n{parser.epilog.strip()}\n```"]
    return "\n\n".join(sections) + "\n"


def _table(parser: Parser, actions: list[argparse.Action]) -> str:
    formatter = parser._get_formatter()
    rows = ["| name | meaning |", "|---|---|"]
    for action in actions:
        names = action.option_strings or [str(action.metavar or action.dest)]
        value = f" {action.metavar}" if action.option_strings and action.nargs != 0 and action.metavar else ""
        listed = action.choices and action.metavar is None
        choices = f"one of {', '.join(f'`{one}`' for one in action.choices or ())}: " if listed else ""
        meaning = choices + " ".join(formatter._expand_help(action).split())
        rows.append(f"| {', '.join(f'`{name}{value}`' for name in names)} | {_escaped(meaning)} |")
    return "\n".join(rows)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_of_a_command_is_generated_from_its_parser(command: str) -> None:
    shown = (FOLDER / f"{command}.md").read_text()
    assert shown == page(command), "write it again: python -m tests.unit.cli.test_command_pages"


def test_there_is_a_page_for_each_command_and_no_other() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == {*COMMANDS}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in COMMANDS:
        (FOLDER / f"{name}.md").write_text(page(name))
    sys.exit()
