"""Without the optional libraries, the other features work, and an error names the extra of a missing one."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = {
    "allpairs": ["duckdb"],
    "code": ["pygments"],
    "embedded": ["confluent_kafka"],
    "frames": ["narwhals"],
    "html": ["resiliparse"],
    "kafka": ["faust", "mode", "aiokafka", "aiohttp", "cramjam", "prometheus_client", "rocksdict"],
    "parquet": ["pyarrow"],
    "plots": ["matplotlib"],
    "records": ["jellyfish", "rapidfuzz"],
    "stem": ["Stemmer"],
    "web": ["jinja2"],
}
"""The libraries of each extra, by the names that are imported."""
DEVELOPERS = {"all", "bench", "docs", "peers-records", "test"}
"""Extras that no part of the package needs."""
PEERS = ["datasketch", "SetSimilaritySearch", "redis", "dedupe", "splink", "scipy", "pandas", "polars"]

BARE = """
import contextlib, io, json, sys
sys.modules.update(dict.fromkeys(MISSING))
from stream_lsh import ConfigError
from stream_lsh.cli.main import COMMANDS, main

def command(*arguments):
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(list(arguments))
        except SystemExit as end:
            code = end.code
    return [code, err.getvalue()]

def error_of(feature):
    try:
        feature()
    except ConfigError as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"
"""
"""The head of a program that runs where libraries are missing."""

STORY = "the ferry leaves the port of Basel in the morning and comes back with all that the towns along the river sell"
COPIES = [{"id": "a", "text": f"{STORY} at night"}, {"id": "b", "text": f"{STORY} at noon"}]
CUSTOMERS = '[[pipeline]]\nsource = "in"\nkind = "record"\nprofile = "people"\n'
FILES = {
    "docs.jsonl": "".join(f"{json.dumps(one)}\n" for one in COPIES),
    "pages.jsonl": json.dumps({"id": "a", "text": f"<p>{STORY}</p>"}),
    "source.py": "def f(a):\n    return a\n",
    "people.csv": "id,given_name\n1,Ann\n",
    "a.parquet": "PAR1",
    "worker.toml": '[[pipeline]]\nsource = "in"\n',
}
INSTALL = re.compile(r"""pip install (?:"|')stream_lsh\[([a-z]+)\](?:"|')""")


def bare(program: str, folder: Path, installed: str = "") -> Any:
    """The last line of a program's output, as JSON, without optional libraries but those of an installed extra."""
    missing = [*PEERS, *(name for extra, names in LIBRARIES.items() if extra != installed for name in names)]
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-W", "error", "-c", f"MISSING = {missing}\n{BARE}\n{program}"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return json.loads(done.stdout.splitlines()[-1])


def test_every_extra_of_the_package_is_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(project["optional-dependencies"]) == set(LIBRARIES) | DEVELOPERS


def test_near_duplicates_partial_copies_and_stories_need_no_extra(tmp_path: Path) -> None:
    found = bare(
        f"""
from stream_lsh import NearDuplicates, PartialCopies
from stream_lsh.lsh.solver import choose_banding
texts = {COPIES!r}
near, copies = NearDuplicates(0.5), PartialCopies(least_shared=10)
for one in texts:
    near.add(one["id"], one["text"])
    copies.add(one["id"], one["text"])
near.save("near.lsh")
print(json.dumps({{
    "clusters": [sorted(one.members) for one in NearDuplicates.load("near.lsh").clusters()],
    "similar": [one.id for one in near.query(texts[1]["text"])],
    "copies": [[one.left, one.right] for one in copies.find()],
    "bands": choose_banding(0.8).bands,
}}))
""",
        tmp_path,
    )
    assert found == {"clusters": [["a", "b"]], "similar": ["b", "a"], "copies": [["a", "b"]], "bands": 16}


def test_commands_on_texts_need_no_extra_and_every_command_has_its_help(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text(FILES["docs.jsonl"])
    ran = bare(
        """
runs = {name: command(name, "--help") for name in COMMANDS}
runs["dedup of files"] = command("dedup", "docs.jsonl", "--threshold", "0.5", "--matches", "pairs.jsonl", "--jobs", "1")
runs["tune for files"] = command("tune", "docs.jsonl")
runs["plagiarism in files"] = command("plagiarism", "docs.jsonl")
print(json.dumps(runs))
""",
        tmp_path,
    )
    assert {name: code for name, (code, _) in ran.items() if code} == {}
    (pair,) = map(json.loads, (tmp_path / "pairs.jsonl").read_text().splitlines())
    assert (pair["left"], pair["right"]) == ("a", "b")


def test_modules_load_without_extras_or_name_the_missing_one(tmp_path: Path) -> None:
    paths = (path.relative_to(ROOT).with_suffix("") for path in (ROOT / "stream_lsh").rglob("*.py"))
    modules = sorted(".".join(path.parts) for path in paths if path.name not in ("__init__", "__main__"))
    failures = bare(
        f"""
import importlib
loaded = {{name: error_of(lambda: importlib.import_module(name)) for name in {modules!r}}}
print(json.dumps({{name: error for name, error in loaded.items() if error != "nothing"}}))
""",
        tmp_path,
    )
    assert len(modules) > 150
    assert "stream_lsh.kinds.record.scheme" in failures
    assert "stream_lsh.worker.agents.pipeline_agents" in failures
    assert "stream_lsh.web.server" in failures
    assert {re.sub(r'", or .*', '"', error) for error in failures.values()} == {
        'comparing records needs jellyfish: pip install "stream_lsh[records]"',
        'Kafka needs faust: pip install "stream_lsh[kafka]"',
        'web pages need aiohttp: pip install "stream_lsh[web]"',
    }
    assert {name.split(".")[1] for name, error in failures.items() if error.startswith("Kafka")} == {"worker"}


def test_a_program_may_load_faust_before_the_worker() -> None:
    program = [sys.executable, "-c", "import faust.types, stream_lsh.worker"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert (done.returncode, done.stderr) == (0, "")


def test_the_package_can_be_listed_and_documented_without_extras(tmp_path: Path) -> None:
    found = bare(
        """
import pydoc, stream_lsh
names = {}
exec("from stream_lsh import *", names)
page = pydoc.render_doc(stream_lsh.RecordLinker)
pydoc.render_doc(stream_lsh)
print(json.dumps([sorted(set(stream_lsh.__all__) - set(names)), set(stream_lsh.__all__) <= set(dir(stream_lsh)),
    hasattr(stream_lsh, "RecordLinker"), "entities" in page]))
""",
        tmp_path,
    )
    assert found == [[], True, True, True]


# What needs each extra, as an expression that loads the library.
FEATURES = {
    "allpairs": ["module('allpairs.pairs').AllPairs(0.5)"],
    "code": [
        "stream_lsh.NearDuplicates(0.5, 'code:python:5')",
        "stream_lsh.DuplicateCode().add('a.py', 'def f(): return 1')",
    ],
    "embedded": ["module('worker.brokers.embedded').EmbeddedBroker().start()"],
    "frames": ["stream_lsh.deduplicate(Namespace(columns=['text']))"],
    "html": ["module('text.page').read_page('<p>Hello')"],
    "kafka": ["module('worker.agents')", "module('worker.log')"],
    "parquet": ["list(records.read_records(records.find_record_inputs(['a.parquet'], None), names, max_bytes=1))"],
    "plots": [
        "module('figures.scurve').scurve_figure(module('lsh.solver').choose_banding(0.8))",
        "module('figures.drawing').require()",
    ],
    "records": [
        "stream_lsh.RecordLinker('people')",
        "module('records.score')",
        "module('config').parse(CUSTOMERS, 'c', {})",
    ],
    "stem": ["stream_lsh.NearDuplicates(0.5, 'stem:en:2')", "stream_lsh.PartialCopies('bag:stem:en:2')"],
    "web": ["module('web.rendering').environment()", "stream_lsh.AsyncClient('http://127.0.0.1:6067', 'news')"],
}
RUNS = {
    "allpairs": ["allpairs docs.jsonl"],
    "code": ["dedup docs.jsonl --shingles code:python:5", "clones source.py"],
    "embedded": ["demo", "worker --embedded --config worker.toml"],
    "html": ["dedup pages.jsonl --html main --jobs 1", "news pages.jsonl --jobs 1"],
    "kafka": [
        "worker --config worker.toml",
        "check --config worker.toml",
        "feed docs.jsonl --config worker.toml",
        "tail matches --config worker.toml",
        "serve --config worker.toml",
        "broker start",
        "explain a b --config worker.toml",
    ],
    "plots": ["tune --picture curve.svg"],
    "records": [
        "link people.csv --profile people",
        "train people.csv --profile people",
        "review people.csv --profile people --labels labels.csv",
        "profile show people",
    ],
    "stem": ["dedup docs.jsonl --shingles stem:en:2", "tune docs.jsonl --shingles stem:en:2"],
    "web": ["ui --url http://127.0.0.1:6067"],
}


def program_of(runs: Mapping[str, Sequence[str]]) -> str:
    """A program that prints the errors of all features, and of commands."""
    return f"""
import importlib, stream_lsh
from argparse import Namespace
CUSTOMERS = {CUSTOMERS!r}
def module(name):
    return importlib.import_module(f"stream_lsh.{{name}}")
records = module("kinds.record.files")
names = module("kinds.record.rows").RecordNames.of(
    module("records.profile").Profile(name="x", fields=(), comparisons=(), id_columns=("id",)), None, None
)
features = {{
    extra: [error_of(lambda: eval(one)) for one in several] for extra, several in {FEATURES!r}.items()
}}
commands = {{
    extra: [command(*one.split()) for one in several] for extra, several in {runs!r}.items()
}}
print(json.dumps([features, commands]))
"""


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The errors of all features and commands without their libraries."""
    folder = tmp_path_factory.mktemp("bare")
    for name, content in FILES.items():
        (folder / name).write_text(content)
    without = bare(program_of(RUNS), folder)
    # With the libraries of Kafka, a worker would start where a broker of another test listens.
    with_kafka = bare(program_of({"embedded": RUNS["embedded"]}), folder, "kafka")
    features, commands = (
        {**some, "embedded": more["embedded"]} for some, more in zip(without, with_kafka, strict=True)
    )
    return features, commands, without[1]["embedded"]


@pytest.mark.parametrize("extra", FEATURES)
def test_a_feature_without_its_library_names_the_extra(refused: Any, extra: str) -> None:
    features, *_ = refused
    assert len(features[extra]) == len(FEATURES[extra])
    for message in features[extra]:
        assert INSTALL.search(message), message
        assert INSTALL.findall(message) == [extra]
        assert not message.startswith(("ImportError", "ModuleNotFoundError"))


@pytest.mark.parametrize("extra", RUNS)
def test_a_command_without_its_library_ends_with_2_and_names_the_extra(refused: Any, extra: str) -> None:
    _, commands, _ = refused
    assert len(commands[extra]) == len(RUNS[extra])
    for code, message in commands[extra]:
        assert (code, INSTALL.findall(message)) == (2, [extra]), message
        assert message.startswith("stream-lsh: ")


def test_the_demo_names_the_extra_with_the_broker_where_kafka_is_missing_too(refused: Any) -> None:
    *_, ((code, message), _) = refused
    assert (code, INSTALL.findall(message)) == (2, ["embedded"]), message


def test_every_extra_has_a_feature_that_is_tried() -> None:
    assert set(FEATURES) == set(LIBRARIES)
    assert set(RUNS) == set(LIBRARIES) - {"frames", "parquet"}, "they have no command of their own"
