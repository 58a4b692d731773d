"""The parser of the commands: the layout of the help, and options under their old names."""

from argparse import ArgumentTypeError
from importlib import import_module

import pytest

from stream_lsh.cli.commands.catalog import COMMANDS, module_of
from stream_lsh.cli.options.parser import Parser, ascii_encoding, whole
from stream_lsh.errors import ConfigError


@pytest.fixture
def parser() -> Parser:
    parser = Parser("mow", "Mow lawns.", "examples: none", first=("height",))
    parser.add_argument("lawn", nargs="+", metavar="LAWN", help="a lawn")
    add = parser.add_argument_group("machine").add_argument
    add("--fuel", help="kind of fuel")
    add("--height", type=whole(1), default=4, metavar="CM", help="height of the grass (default %(default)s)")
    parser.renamed("--tall", "--height")
    return parser


def test_the_help_shows_the_main_options_first_and_each_once(parser: Parser, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser.parse(["x", "--help"])
    text = capfd.readouterr().out
    assert text.startswith("usage: stream-lsh mow [options] LAWN [LAWN ...]\n\nMow lawns.\n")
    places = [text.index(part) for part in ("arguments:", "main options:", "--height CM", "machine:", "--fuel", "-h,")]
    assert places == sorted(places)
    assert text.count("--height") == 1
    assert text.rstrip().endswith("examples: none")


def test_an_old_name_works_with_a_warning(parser: Parser, capsys: pytest.CaptureFixture[str]) -> None:
    assert parser.parse(["x", "--tall", "7"]).height == 7
    assert parser.parse(["x", "--tall=8"]).height == 8
    assert capsys.readouterr().err.count("warning: --tall is now --height; the next release removes the old name") == 2
    assert parser.parse(["--", "--tall", "7"]).lawn == ["--tall", "7"]
    assert capsys.readouterr().err == ""


def test_an_unknown_option_names_the_nearest(parser: Parser) -> None:
    with pytest.raises(ConfigError, match="did you mean `--height`"):
        parser.parse(["x", "--heigth", "7"])


@pytest.mark.parametrize(
    "arguments",
    [
        "dedup d.csv --output",
        "dedup d.csv --clusters",
        "dedup d.csv --save",
        "dedup d.csv --report",
        "link d.csv --profile people -o",
        "review d.csv --profile people --labels",
        "evaluate m.csv t.csv --picture",
    ],
)
def test_a_file_without_a_name_is_rejected_before_any_work(arguments: str) -> None:
    command, *options = arguments.split()
    parser = import_module(module_of(command)).make_parser()
    with pytest.raises(ConfigError, match=f"argument .*{options[-1]}.*: got '', expected a file: is a variable empty"):
        parser.parse([*options, ""])


@pytest.mark.parametrize("name", ["utf-16", "utf-32-le", "cp037", "klingon"])
def test_an_encoding_without_ascii_is_rejected_with_the_remedy(name: str) -> None:
    with pytest.raises(ArgumentTypeError, match=f"got '{name}', expected one in which ASCII .*: convert other files"):
        ascii_encoding(name)
    assert ascii_encoding("latin1") == "iso8859-1"


@pytest.mark.parametrize("command", COMMANDS)
def test_options_have_one_name_for_one_meaning(command: str) -> None:
    options = set(import_module(module_of(command)).make_parser()._option_string_actions)
    assert [name for name in options if name.startswith("--least-")] == []
    assert "--output" not in options or "-o" in options
    assert "--rejects" not in options or {"--strict", "--quiet"} <= options
