"""The documents are correct: code runs, sessions print the shown output, names and links exist.

    ```python     runs, the blocks of a document one after the other in one namespace; `>>>` lines are held to what
                  they answer
    ```console    `$` lines run in a shell, the blocks of a document one after the other in one empty folder; what they
                  print is what stands there, seconds aside; `...` stands for anything
    ```toml       is a configuration
    ```sh         is not run: it needs a broker, a network or files of the reader.  Its targets must exist, and the
                  parser of each command accepts its arguments.  Those of the README run, from its installation on, in
                  one shell in which nothing is activated; a ```text block behind one is what it prints
    ```text       is output, or a file; so is ```json, of the query API, which its own tests compare

A block without one of these languages, or one that the tests would not see, is an error.
The checks are functions from a text to its problems, and each of them is shown a text that has some.
"""

import doctest
import functools
import inspect
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import textstat  # type: ignore[import-untyped]

import stream_lsh
from docs.hooks import NOTEBOOKS, PAGES, relinked
from stream_lsh import errors
from stream_lsh.cli.commands.catalog import COMMANDS, module_of
from stream_lsh.config import parse
from stream_lsh.errors import ConfigError
from tests.patience import PATIENCE
from tests.simulation.rules import RULES
from tests.unit.cli.runs import ran

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
DOCUMENTS += [path for path in [ROOT / "benchmarks" / "README.md"] if path.exists()]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST_GUIDES = ("kafka.md", "consuming.md")
TAGS = ("outputs unchanged", "behaviour change", "re-index required")

_FENCE = re.compile(r"^```([a-z]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_SECONDS = re.compile(r"\b[0-9]+\.[0-9] s\b")
_LAG = re.compile(r'"lag":[0-9]+')


_LANGUAGES = ("python", "console", "toml", "sh", "text", "json")


class Block(NamedTuple):
    """A fenced block: its language, its text, the line on which the text begins."""

    language: str
    text: str
    line: int


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a document."""
    return [Block(m[1], m[2], text.count("\n", 0, m.start(2)) + 1) for m in _FENCE.finditer(text)]


def prose(text: str) -> str:
    """A document without its fenced blocks."""
    return _FENCE.sub("", text)


def name_of(path: Path) -> str:
    """A document by its path in the project."""
    return str(path.relative_to(ROOT))


every_document = pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)


# -- code


def python_problems(text: str) -> list[str]:
    """The errors in the Python blocks of a document."""
    namespace: dict[str, Any] = {}
    problems: list[str] = []
    for block in blocks(text):
        if block.language != "python":
            continue
        if ">>>" in block.text:
            test = doctest.DocTestParser().get_doctest(block.text, namespace, "block", None, block.line - 1)
            runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
            runner.run(test, out=problems.append, clear_globs=False)
            namespace = test.globs
        else:
            try:
                exec(compile("\n" * (block.line - 1) + block.text, "document", "exec"), namespace)  # noqa: S102
            except Exception as error:
                problems.append(f"line {block.line}: {type(error).__name__}: {error}")
    return problems


def console_problems(text: str, folder: Path) -> list[str]:
    """The differences between the output of sessions and the document."""
    problems = []
    for block in blocks(text):
        if block.language != "console":
            continue
        parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
        for part in parts[1:]:
            lines = part.split("\n")
            size = 1 + next(number for number, line in enumerate(lines) if not line.endswith("\\"))
            command, wanted = "\n".join(lines[:size]), "\n".join(lines[size:])
            got = _session(command, folder)
            if not doctest.OutputChecker().check_output(_plain(wanted), _plain(got), doctest.ELLIPSIS):
                problems.append(f"line {block.line}: $ {command}\nshown:\n{wanted}\nprinted:\n{got}")
    return problems


def _session(command: str, folder: Path) -> str:
    """The output of a command with its standard error, as on a terminal."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(  # noqa: S603 - the project's own documents
        ["/bin/bash", "-c", f"{{ {command}\n}} 2>&1"],
        cwd=folder,
        env=os.environ | {"PATH": path, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.stdout + done.stderr


_STEP = "@@ step "
_NOTHING_INSTALLED = f"""
python3() {{ if [ "$1 $2" = "-m venv" ]; then ln -s {sys.prefix} "$3"; else command python3 "$@"; fi; }}
pip() {{ [ "$1" = install ]; }}
"""
"""The environment of the tests stands for a new one, and so `pip` has nothing to install."""


def pasted_problems(text: str, folder: Path) -> list[str]:
    """The errors if the `sh` blocks of a document are pasted into one shell without an activated environment."""
    found = blocks(text)
    steps = [number for number, block in enumerate(found) if block.language == "sh"]
    script = "".join(f"echo '{_STEP}{number}'\n{found[number].text}" for number in steps)
    done = subprocess.run(  # noqa: S603 - the project's own documents
        ["/bin/bash", "--noprofile", "--norc", "-c", f"exec 2>&1\n{_NOTHING_INSTALLED}{script}"],
        cwd=folder,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    printed = {int(part.partition("\n")[0]): part.partition("\n")[2] for part in done.stdout.split(_STEP)[1:]}
    problems = []
    for number in steps:
        behind = found[number + 1] if number + 1 < len(found) else None
        wanted = behind.text if behind is not None and behind.language == "text" else ""
        got = printed.get(number, "the shell ended before")
        if not doctest.OutputChecker().check_output(_plain(wanted), _plain(got), doctest.ELLIPSIS):
            problems.append(f"line {found[number].line}\nshown:\n{wanted}\nprinted:\n{got}")
    return problems


def _plain(output: str) -> str:
    return _LAG.sub('"lag":N', _SECONDS.sub("N s", output)).strip() + "\n"


@every_document
def test_python_blocks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert python_problems(path.read_text(encoding="utf-8")) == []


@every_document
def test_sessions_print_the_shown_output(path: Path, tmp_path: Path) -> None:
    assert console_problems(path.read_text(encoding="utf-8"), tmp_path) == []


def test_the_readme_can_be_pasted_into_a_shell_in_which_nothing_is_activated(tmp_path: Path) -> None:
    assert (Path(sys.prefix) / "bin" / "activate").exists(), "run the tests in a virtual environment"
    assert pasted_problems(README, tmp_path) == []


@every_document
def test_toml_blocks_are_configurations(path: Path) -> None:
    found = [block for block in blocks(path.read_text(encoding="utf-8")) if block.language == "toml"]
    read = [parse(block.text, f"{name_of(path)}:{block.line}", {}) for block in found]
    assert all(config.pipelines for config in read)


def block_problems(text: str) -> Iterator[str]:
    """Blocks that no test runs and that are not marked as output: indented, in tabs, without a known language."""
    language, is_open = "", False
    for number, line in enumerate(text.split("\n"), 1):
        fence = re.match(r"(\s*)(`{3,}|~{3,})(.*)", line)
        if re.match(r"(!!!|\?\?\?|===) ", line) and not is_open:
            yield f"line {number}: got a tab or an admonition, expected plain paragraphs and blocks"
        if fence is None:
            if is_open and language == "text" and re.match(r"(\$|>>>) ", line):
                yield f"line {number}: got a command in a block of output, expected `console` or `python`"
            continue
        if fence[1] or fence[2] != "```":
            yield f"line {number}: got {line!r}, expected ``` at the beginning of the line"
        if not is_open:
            language = fence[3]
            if language not in _LANGUAGES:
                yield f"line {number}: got a block of {language or 'no language'}, expected {', '.join(_LANGUAGES)}"
        is_open = not is_open
    if is_open:
        yield "got a block that does not end"


@every_document
def test_every_block_is_run_or_marked_as_output(path: Path) -> None:
    assert list(block_problems(path.read_text(encoding="utf-8"))) == []


def test_blocks_that_no_test_sees_are_found() -> None:
    assert list(block_problems("- item\n\n  ```sh\n  make\n  ```\n"))
    assert list(block_problems("```\noutput\n```\n"))
    assert list(block_problems("```bash\nmake\n```\n"))
    assert list(block_problems("~~~sh\nmake\n~~~\n"))
    assert list(block_problems('=== "tab"\n'))
    assert list(block_problems("```text\n$ make\n```\n"))
    assert list(block_problems("```sh\nmake\n"))
    assert not list(block_problems("```sh\nmake\n```\n\n```text\n=== made\n```\n"))


def test_the_readme_has_code_of_both_kinds() -> None:
    languages = [block.language for block in blocks(README)]
    assert languages.count("python") >= 1
    assert languages.count("sh") >= 5
    assert set(languages) <= {"python", "sh", "text"}


def test_the_readme_is_short_and_begins_with_the_installation() -> None:
    assert README.count("\n") <= 250
    assert README.index("## Installation") < README.index("## Quick start")


def test_the_pictures_of_the_readme_are_there_light_and_dark_and_small() -> None:
    pictures = re.findall(r'(?:srcset|src)="(docs/figures/([\w-]+)-(dark|light)\.\w+)"', README)
    assert len(pictures) == README.count("<source") + README.count("<img")
    assert {(name, scheme) for _, name, scheme in pictures} == {
        (name, scheme) for _, name, _ in pictures for scheme in ("dark", "light")
    }
    assert all((ROOT / path).stat().st_size < 150_000 for path, _, _ in pictures)


def test_code_that_does_not_run_is_found(tmp_path: Path) -> None:
    assert python_problems("```python\nimport stream_lsh.nothing\n```")
    assert python_problems("```python\n>>> 1 + 1\n3\n```")
    assert not python_problems("```python\nx = 1\n```\n\n```python\n>>> x + 1\n2\n```")
    assert console_problems("```console\n$ echo two\none\n```", tmp_path)
    assert console_problems("```console\n$ false && echo one\none\n```", tmp_path)
    assert pasted_problems("```sh\necho two\n```\n\n```text\none\n```", tmp_path)
    assert pasted_problems("```sh\nstream-lsh --version\n```\n", tmp_path), "nothing is activated"
    assert not pasted_problems("```sh\nx=1\n```\nand\n```sh\necho $x\n```\n\n```text\n1\n```", tmp_path)
    assert not console_problems("```console\n$ echo 1.5 s; echo end\n7.9 s\nend\n$ echo \\\n  a\na\n```", tmp_path)


# -- the command line


@functools.cache
def help_of(command: str) -> str:
    """The output of a command with `--help`."""
    return ran(command, "--help").stdout.decode()


def options_of(command: str) -> set[str]:
    """The long options of a command."""
    return set(_OPTION.findall(help_of(command)))


def command_problems(text: str) -> Iterator[str]:
    """Commands and options that a document names and that do not exist; those of other programs are their matter."""
    spans = _CODE.findall(prose(text))
    lines = [line for block in blocks(text) for line in block.text.replace("\\\n", " ").split("\n")]
    named = {option for span in spans if span.startswith("--") for option in _OPTION.findall(span)}
    known = {option for command in COMMANDS if named for option in options_of(command)}
    yield from (f"no command has the option {option}" for option in sorted(named - known - {"--version"}))
    for piece in spans + lines:
        for call in re.findall(r"(?:^|(?<=[\s|/]))stream-lsh +([^|;>]*)", piece):
            name, *words = call.split() or [""]
            if name in ("", "--help", "--version", "COMMAND"):
                continue
            if name not in COMMANDS:
                yield f"there is no command `stream-lsh {name}`"
                continue
            asked = {option for word in words for option in _OPTION.findall(word)}
            yield from (
                f"`stream-lsh {name}` has no {option}" for option in sorted(asked) if option not in options_of(name)
            )


def argument_problems(text: str) -> Iterator[str]:
    """Commands in blocks of a shell whose arguments their parser rejects."""
    for block in blocks(text):
        if block.language != "sh":
            continue
        for line in block.text.replace("\\\n", " ").split("\n"):
            for call in re.findall(r"(?:^|(?<=[\s|(]))stream-lsh +([^|;>&#)]*)", line):
                name, *words = shlex.split(call)
                if name not in COMMANDS:
                    continue
                try:
                    import_module(module_of(name)).make_parser().parse(words)
                except ConfigError as error:
                    yield f"line {block.line}: stream-lsh {call.strip()}: {error}"


def target_problems(text: str) -> Iterator[str]:
    """Targets of make that a document names and the Makefile has not."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    lines = [line for block in blocks(text) if block.language == "sh" for line in block.text.split("\n")]
    for piece in _CODE.findall(prose(text)) + lines:
        words = piece.partition("#")[0].split()
        if words[:1] == ["make"]:
            yield from (f"there is no target {word}" for word in words[1:] if word.isalpha() and word not in targets)


def test_the_configurations_for_newcomers_are_one_with_the_settings_of_the_first_program() -> None:
    kafka, consuming = ((ROOT / "docs" / "guides" / name).read_text(encoding="utf-8") for name in FIRST_GUIDES)
    (shown,) = re.findall(r"^cat > news.toml <<'END'\n(.*?)^END$", README, re.MULTILINE | re.DOTALL)
    assert shown == next(block.text for block in blocks(kafka) if block.language == "toml")
    config = parse(shown, "news.toml", {})
    first = next(block.text for block in blocks(consuming) if block.language == "python")
    assert config.pipelines[0].kind.stories, 'the program reads `story["sources"]`'
    assert f'"{config.kafka.brokers[0]}"' in first
    assert f'"{config.pipelines[0].public_topics["clusters"]}"' in first


@every_document
def test_commands_options_and_targets_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [*command_problems(text), *target_problems(text), *argument_problems(text)] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_is_documented(command: str) -> None:
    assert help_of(command).startswith(f"usage: stream-lsh {command}")
    assert f"stream-lsh {command}" in README


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_documented(command: str) -> None:
    text = (ROOT / "docs" / "reference" / "commands" / f"{command}.md").read_text(encoding="utf-8")
    assert sorted(option for option in options_of(command) - {"--help"} if f"`{option}" not in text) == []


def test_commands_that_do_not_exist_are_found() -> None:
    assert list(command_problems("run `stream-lsh dedupe x`"))
    assert list(command_problems("```console\n$ cat x | stream-lsh dedup --treshold 0.5 -\n```"))
    assert list(command_problems("set `--max-candidate`"))
    assert list(argument_problems("```sh\nstream-lsh tail matchs --config x.toml\n```"))
    assert list(argument_problems("```sh\nzcat x | stream-lsh dedup --threshold high - > y\n```"))
    assert not list(argument_problems("```sh\nzcat x | stream-lsh dedup --threshold 0.5 - > y\n```"))
    assert list(target_problems("then `make coffee`"))
    assert list(target_problems("```sh\nmake check tests\n```"))
    assert not list(command_problems("`stream-lsh dedup --threshold 0.5 -` and `pip --quiet`; `--recall`"))
    assert not list(target_problems("`make test`, ```sh\nmake bench DATA=x  # all\n```"))


# -- names and links


def anchors(text: str) -> set[str]:
    """The anchors that the headings of a document make."""
    titles = re.findall(r"^#+ +(.*)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def link_problems(text: str, home: Path) -> Iterator[str]:
    """Links into the project that lead nowhere."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (home.parent / path).resolve() if path else home
        if not there.exists():
            yield f"{target}: there is no such file"
        elif anchor and anchor not in anchors(there.read_text(encoding="utf-8") if path else text):
            yield f"{target}: there is no such heading"


def path_problems(text: str) -> Iterator[str]:
    """Files of the project that a document names and that are not there; modules may be named without the package."""
    for span in _CODE.findall(prose(text)):
        path = span.partition("::")[0]
        if re.fullmatch(r"(stream_lsh|tests|docs|benchmarks)/[\w/.]*", path):
            if not (ROOT / path).exists():
                yield f"there is no {path}"
        elif re.fullmatch(r"[a-z_]+/[\w/]*\w\.py", path) and not (ROOT / "stream_lsh" / path).exists():
            yield f"there is no stream_lsh/{path}"


@every_document
def test_links_and_paths_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [*link_problems(text, path), *path_problems(text)] == []


def references(source: str) -> list[tuple[str, str]]:
    """The sections and pages of the documentation that the messages of a module name."""
    joined = re.sub(r'"\s*\n\s*f?"', "", source)
    return re.findall(r"`([A-Z][^`]*)` in (docs/[\w/-]+\.md)", joined)


def test_messages_name_sections_that_exist() -> None:
    named = {one for path in (ROOT / "stream_lsh").rglob("*.py") for one in references(path.read_text("utf-8"))}
    pages = {page: (ROOT / page).read_text(encoding="utf-8") for _, page in named}
    assert len(named) >= 5
    assert [
        one for one in sorted(named) if not re.search(rf"^#+ {re.escape(one[0])}$", pages[one[1]], re.MULTILINE)
    ] == []
    assert references('f"it ended; see `A g"\n        "ap` in docs/x.md"') == [("A gap", "docs/x.md")]


def test_every_page_has_at_most_400_lines() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / page for page in PAGES)]
    long = {name_of(path): path.read_text(encoding="utf-8").count("\n") for path in pages}
    assert {name: lines for name, lines in long.items() if lines > 400} == {}


def test_every_public_name_is_in_the_python_reference() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "python").glob("*.md"))
    shown = re.findall(r"^::: stream_lsh\.(\w+)$", pages, re.MULTILINE)
    assert sorted(shown) == sorted(stream_lsh.__all__)


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    pages = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    named = re.findall(r"([\w/-]+\.md)$", navigation, re.MULTILINE)
    assert len(named) == len(set(named))
    assert {one for one in pages if not re.match("internals/adr/0", one)} == {*named} - {
        *PAGES.values(),
        *NOTEBOOKS.values(),
    }


@pytest.mark.parametrize(
    ("link", "source", "target", "expected"),
    [
        ("../../benchmarks/README.md#figures", "docs/guides/exact.md", "guides/exact.md", "../benchmarks.md#figures"),
        ("../docs/guides/code.md", "benchmarks/README.md", "benchmarks.md", "guides/code.md"),
        ("../results/flood.png", "benchmarks/worker/README.md", "benchmarks/worker.md", "flood.png"),
        ("../README.md#method", "benchmarks/worker/README.md", "benchmarks/worker.md", "../benchmarks.md#method"),
        ("docs/theory/index.md", "CHANGELOG.md", "changelog.md", "theory/index.md"),
        ("dedup.md#input", "docs/guides/news.md", "guides/news.md", "dedup.md#input"),
        ("../notebooks/news.ipynb", "docs/guides/news.md", "guides/news.md", "../notebooks/news.md"),
        ("https://kafka.apache.org/", "CHANGELOG.md", "changelog.md", "https://kafka.apache.org/"),
    ],
)
def test_links_to_pages_outside_of_docs_lead_to_their_copies_in_the_site(
    link: str, source: str, target: str, expected: str
) -> None:
    assert relinked(f"[x]({link})", source, target) == f"[x]({expected})"


def test_links_that_lead_nowhere_are_found() -> None:
    home = ROOT / "README.md"
    assert list(link_problems("[x](docs/nothing.md)", home))
    assert list(link_problems("# One\n[x](#two)", home))
    assert list(path_problems("see `stream_lsh/nothing.py`"))
    assert list(path_problems("see `ledger/nothing.py`"))
    assert not list(path_problems("see `ledger/ledger.py`"))
    assert not list(link_problems("# One two\n[x](#one-two) [y](LICENSE) [z](https://kafka.apache.org/)", home))


@functools.cache
def collected() -> frozenset[str]:
    """The ids of all tests, with their parameters and without."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "--collect-only",
            "-o",
            "addopts=-q",
            "-p",
            "no:xdist",
            "-p",
            "no:cacheprovider",
            "tests",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    ids = [line for line in done.stdout.split("\n") if "::" in line]
    return frozenset(ids) | {id.partition("[")[0] for id in ids}


def named_test_problems(text: str) -> Iterator[str]:
    """Tests that a document names and that are not there."""
    for span in _CODE.findall(text):
        if re.match(r"tests/[\w/]+\.py::", span) and span not in collected():
            yield f"there is no test {span}"


@pytest.mark.slow
@every_document
def test_tests_that_are_named_exist(path: Path) -> None:
    assert list(named_test_problems(path.read_text(encoding="utf-8"))) == []


def test_every_rule_of_the_protocol_is_documented() -> None:
    protocol = (ROOT / "docs" / "internals" / "protocol.md").read_text(encoding="utf-8")
    assert [rule for rule in RULES if f"test_a_rule_taken_out_is_noticed[{rule}]`" not in protocol] == []


@pytest.mark.slow
def test_tests_that_do_not_exist_are_found() -> None:
    assert list(named_test_problems("`tests/test_docs.py::test_nothing`"))
    assert list(named_test_problems("`tests/simulation/test_simulation.py::test_a_rule_taken_out_is_noticed[order]`"))
    assert not list(named_test_problems("`tests/test_docs.py::test_python_blocks_run`"))


# -- language

READABLE = [ROOT / "README.md", ROOT / "docs" / "index.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
LEAST_EASE = 45
"""Of Flesch's formula: plain English has 60 and more, scientific prose less than 30."""
LONGEST_SENTENCE = 40


def sentences(text: str) -> list[str]:
    """The sentences of a document: without code, tables, headings and numbers, which a formula for prose misjudges."""
    text = re.sub(r"<[^>]*>", "", prose(text))
    text = re.sub(r"^([|#]).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\*\*|`[^`]*`", lambda found: "" if found[0] == "**" else "code", text)
    text = re.sub(r"\S*[0-9]\S*?(?=[\s.,:;]|$)", "ten", text)
    found = []
    for paragraph in re.split(r"\n\s*\n|\n(?=- |[0-9]+\. )", text):
        found += re.split(r"(?<=[.!?])\s+", " ".join(paragraph.split()).removeprefix("- "))
    return [one if one[-1] in ".!?" else f"{one.removesuffix(':')}." for one in found if re.search("[a-z]", one)]


@pytest.mark.parametrize("path", READABLE, ids=name_of)
def test_prose_is_easy_to_read(path: Path) -> None:
    found = sentences(path.read_text(encoding="utf-8"))
    assert textstat.flesch_reading_ease("\n".join(found)) >= LEAST_EASE


def test_the_readme_has_no_long_sentence() -> None:
    assert [one for one in sentences(README) if len(one.split()) > LONGEST_SENTENCE] == []


def test_prose_that_is_hard_to_read_is_found() -> None:
    assert sentences("# Title\n\nIt reads `x`. It [stores](y) 12 kB.\n\n- **One**: two") == [
        "It reads code.", "It stores ten kB.", "One: two.",
    ]  # fmt: skip
    hard = "Idiosyncratic nominalisations characteristically necessitate supererogatory interpretation."
    assert textstat.flesch_reading_ease(hard) < LEAST_EASE


# -- errors and changes


def error_classes() -> dict[str, type]:
    """The classes of the tree of errors."""
    found = inspect.getmembers(errors, inspect.isclass)
    return {name: value for name, value in found if value.__module__ == errors.__name__}


def test_every_error_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    assert sorted(name for name in error_classes() if f"`{name}`" not in page) == []


def test_every_change_has_one_tag() -> None:
    entries = changes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert entries
    assert [entry for entry in entries if untagged(entry)] == []


def changes(text: str) -> list[str]:
    """The entries of a changelog, each up to the next one or the next heading."""
    return re.findall(r"^- .*?(?=^- |^#|\Z)", prose(text).partition("\n## ")[2], re.MULTILINE | re.DOTALL)


def untagged(entry: str) -> bool:
    """Whether an entry has no tag, or several."""
    return sum(f"*{tag}*" in entry for tag in TAGS) != 1


def test_changes_without_a_tag_are_found() -> None:
    entries = changes(
        "# x\n\n## [1]\n\n- One.\n  *behaviour change*\n- Two.\n\n## [0]\n\n*behaviour change*\n\n- Three.\n"
    )
    assert [untagged(entry) for entry in entries] == [False, True, True]
