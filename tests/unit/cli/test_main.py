"""The command itself: its subcommands, and its answers to wrong use."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stream_lsh.cli import main as cli
from stream_lsh.cli.commands.catalog import COMMANDS
from stream_lsh.errors import ConfigError, InputError, InvariantError, StateError
from tests.unit.cli.runs import own_process, ran

ROOT = Path(__file__).resolve().parents[3]
OF_TEXTS = ("dedup", "news", "allpairs", "tune", "plagiarism", "explain 1 2")


def run(*arguments: str) -> tuple[int, str, str]:
    """The exit code of a run, its output and its errors."""
    done = ran(*arguments)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",), ("help",)])
def test_alone_it_prints_what_there_is(arguments: tuple[str, ...]) -> None:
    code, out, errors = run(*arguments)
    assert (code, errors) == (0, "")
    for name in COMMANDS:
        assert name in out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    code, out, errors = run(name, "--help")
    assert (code, errors) == (0, "")
    assert out.startswith(f"usage: stream-lsh {name}")


def test_the_version_is_printed() -> None:
    assert own_process("--version").stdout == own_process("version").stdout != b""


@pytest.mark.parametrize(("wrong", "nearest"), [("dedupe", "dedup"), ("Demo", "demo"), ("--dedup", "dedup")])
def test_an_unknown_command_is_reported_with_the_nearest(wrong: str, nearest: str) -> None:
    code, _, errors = run(wrong)
    assert code == 2
    assert f"did you mean `{nearest}`" in errors


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ConfigError(["one", "two"]), 2, "stream-lsh: one\ntwo"),
        (InputError("gzip", "a file is damaged"), 1, "a file is damaged"),
        (StateError("topic one\ntopic two"), 1, "stream-lsh: topic one\ntopic two\n"),
        (InvariantError("cannot be"), 1, "stream-lsh: cannot be\nThis is a bug in stream_lsh: please report"),
        (PermissionError(13, "Permission denied", "secret"), 1, "secret: permission denied"),
        (MemoryError(), 1, "out of memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_an_exception_becomes_an_exit_code_and_a_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, words: str
) -> None:
    def fail(_: list[str]) -> int:
        raise error

    monkeypatch.setattr(cli, "_run", fail)
    assert cli.main([]) == code
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["dedup", "x\ny"], [r"stream-lsh: x\x0ay: there is no such file or folder"]),
        (["dedup", "--query", "in.jsonl", "--index", "a\nb.jsonl"], [r"stream-lsh: a\x0ab.jsonl: got b'nonsense"]),
        (["sets", "in.jsonl", "--matches", "x\ny/z"], [r"stream-lsh: x\x0ay/z: cannot be written"]),
        (
            ["train", "a\nb.jsonl", "--profile", "people"],
            [r"a\x0ab.jsonl:1: rejected (json)", r"stream-lsh: a\x0ab.jsonl: got 0 records"],
        ),
    ],
)
def test_a_line_feed_in_the_name_of_a_file_does_not_break_a_message(
    tmp_path: Path, arguments: list[str], lines: list[str]
) -> None:
    for name in ("in.jsonl", "a\nb.jsonl"):
        (tmp_path / name).write_bytes(b"nonsense\n")
    printed = ran(*arguments, cwd=tmp_path).stderr.decode().splitlines()
    assert len(printed) == len(lines), printed
    assert all(line.startswith(begin) for line, begin in zip(printed, lines, strict=True)), printed


@pytest.mark.parametrize(
    ("command", "module", "code", "err"),
    [
        ("dedup /dev/null", "stream_lsh.cli.main", -signal.SIGINT, ""),  # ended by the signal
        ("dedup /dev/null", "numpy", 130, "stream-lsh: interrupted; no partial output file remains\n"),
        ("check --config deploy/news.toml", "stream_lsh.config", 130, "stream-lsh: interrupted\n"),
        ("check --config deploy/news.toml", "stream_lsh.worker.monitoring.log", 130, "stream-lsh: interrupted\n"),
    ],
)
def test_an_interrupt_during_an_import_shows_no_traceback(command: str, module: str, code: int, err: str) -> None:
    interrupted = f"""
import os, runpy, signal, sys

class Interrupted:
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt as error:  # as extension modules do
                raise ImportError from error

signal.signal(signal.SIGINT, signal.default_int_handler)  # even if the tests run in the background
sys.meta_path.insert(0, Interrupted())
sys.argv = ["stream-lsh", *{command.split()!r}]
runpy.run_module("stream_lsh", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", interrupted], capture_output=True, check=False, cwd=ROOT)  # noqa: S603
    assert (done.returncode, done.stderr.decode()) == (code, err)


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: list[str]) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(cli, "_run", fail)
    with pytest.raises(ZeroDivisionError):
        cli.main([])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dedpu"], "got the command 'dedpu', expected a command: did you mean `dedup`?\n"),
        (["--output"], "got the option '--output', expected a command.\n"),
        (["-q"], "got the option '-q', expected a command.\n"),
        (["dedup", "a", "--matchs", "x"], "got the option '--matchs', did you mean `--matches`?"),
        (["dedup", "a", "--wibble", "x"], "got the option '--wibble', which does not exist\n"),
        (["dedup", "a", "-x", "x"], "got the option '-x', which does not exist\n"),
    ],
)
def test_a_name_is_proposed_only_where_one_is_alike(arguments: list[str], words: str) -> None:
    code, _, errors = run(*arguments)
    assert code == 2
    assert words in errors


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("allpairs d.jsonl --memory 1KB", "--memory: got 1,024 bytes, expected"),
        ("clones . --language klingon", "--language: got the language 'klingon', expected"),
        *((f"{name} d.jsonl --normalise nfx", "--normalise: got 'nfx', expected") for name in OF_TEXTS),
        *((f"{name} d.jsonl --shingles words:3", "--shingles: got 'words:3', expected") for name in OF_TEXTS),
        ("dedup d.jsonl --time-column id", "--id-column, --time-column: got 'id' for both, expected two columns"),
        ("dedup d.jsonl --text-column id", "--id-column, --text-column: got 'id' for both, expected two columns"),
        ("dedup d.jsonl --keep first --text-column deleted", "--text-column: got 'deleted', expected another column"),
        ("sets d.jsonl --id-column time", "--id-column: got 'time', expected another column: it has the time"),
        ("sets d.jsonl --id-column items", "--id-column, --item-column: got 'items' for both, expected two columns"),
        ("review d.jsonl --profile people --labels l", "review needs a terminal, .* to the file of --reviews"),
    ],
)
def test_an_error_names_the_option_and_not_the_setting(tmp_path: Path, command: str, problem: str) -> None:
    (tmp_path / "d.jsonl").write_text('{"id": "1", "text": "a b c", "items": ["a"]}\n')
    (tmp_path / "a.py").write_text("x = 1\n")
    done = ran(*command.split(), cwd=tmp_path)
    assert done.returncode == 2
    assert re.match(f"stream-lsh: {problem}", done.stderr.decode()), done.stderr


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("dedup", "in.jsonl"),
        ("sets", "in.jsonl"),
        ("dedup", "in.csv"),
        ("link --profile people --time-column time", "in.jsonl"),
        ("link --profile people --time-column time", "in.csv"),
    ],
)
def test_a_time_without_a_unit_names_the_option_of_the_unit(tmp_path: Path, command: str, name: str) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": "1", "text": "a", "items": ["a"], "surname": "a", "time": 99999}\n')
    (tmp_path / "in.csv").write_text("id,text,surname,time\n1,a,a,99999\n")
    done = ran(*command.split(), name, cwd=tmp_path)
    assert done.returncode == 1
    assert "or name the unit with --time-unit\n" in done.stderr.decode()


@pytest.mark.parametrize(
    ("arguments", "defaults"),
    [
        (["dedup"], {"threshold": "0.8", "min-characters": "0", "retention": "any", "html": "off"}),
        (["news"], {"threshold": "0.5", "min-characters": "200", "retention": "3d", "html": "main"}),
        (["dedup", "--preset", "news"], {"threshold": "0.5", "retention": "3d"}),
        (["mirrors"], {"measure": "containment", "retention": "30d", "html": "page", "threshold": "0.8"}),
    ],
)
def test_help_shows_the_defaults_of_the_command(arguments: list[str], defaults: dict[str, str]) -> None:
    _, out, _ = run(*arguments, "--help")
    options = re.split(r"\n(?:  --|(?=\w))", out)
    shown = {one.split()[0]: re.findall(r"\(default:?\s+(\S+)\)", one) for one in options}
    assert {name: shown[name] for name in defaults} == {name: [value] for name, value in defaults.items()}


def test_output_that_is_no_terminal_loads_no_rich(tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    file.write_bytes(b'{"id": "a", "text": "one two three four"}\n{"id": "b", "text": "one two three four"}\n')
    code = f"""
import sys
from pathlib import Path
from stream_lsh.cli.main import main
main(["dedup", "--jobs", "1", {str(file)!r}])
main(["explain", "a", "b", {str(file)!r}])
sys.exit("rich" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)  # noqa: S603
    assert (done.returncode, done.stdout[:2]) == (0, b'{"')
