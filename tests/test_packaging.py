"""The distributions of a release: they are built, their metadata is checked, and the wheel works without extras."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from stream_lsh import __version__

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ["build>=1.2,<2", "twine>=6,<7"]
STORY = "the ferry leaves the port of Basel in the morning and comes back with all that the towns along the river sell"
REQUIRED = {"mmh3", "msgspec", "numpy", "rich", "shtab", "zstandard"}
OF_STREAMS = {"aiohttp", "aiokafka", "cramjam", "faust-streaming", "prometheus_client", "rocksdict"}

pytestmark = pytest.mark.packaging


def ran(*words: object, folder: Path) -> "subprocess.CompletedProcess[str]":
    """A program that has ended, outside of the checkout and of this environment."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "STREAM_LSH"))}
    return subprocess.run(  # noqa: S603 - the project's own commands
        [str(word) for word in words], env=clean, cwd=folder, capture_output=True, text=True, check=False
    )


def environment(folder: Path, *requirements: str) -> Path:
    """The programs of a new environment with these requirements."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)  # noqa: S603
    programs = folder / "bin"
    installed = ran(programs / "python", "-m", "pip", "install", "--quiet", *requirements, folder=folder)
    assert installed.returncode == 0, installed.stderr
    return programs


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The sdist and the wheel, as the commands of a release build them."""
    folder = tmp_path_factory.mktemp("release")
    tools = environment(folder / "tools", *TOOLS)
    built = ran(tools / "python", "-m", "build", "--outdir", folder / "dist", ROOT, folder=folder)
    assert built.returncode == 0, built.stdout + built.stderr
    made = sorted((folder / "dist").iterdir())
    checked = ran(tools / "twine", "check", "--strict", *made, folder=folder)
    assert checked.returncode == 0, checked.stdout
    assert checked.stdout.count("PASSED") == 2
    return made


def test_the_distributions_have_the_package_and_nothing_else(dist: list[Path]) -> None:
    wheel, sdist = dist
    assert [wheel.name, sdist.name] == [f"stream_lsh-{__version__}{end}" for end in ("-py3-none-any.whl", ".tar.gz")]
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "stream_lsh").rglob("*") if path.is_file()}
    assert packed == {name for name in sources if "__pycache__" not in name}
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    beside = {"CHANGELOG.md", "LICENSE", "README.md", "pyproject.toml", "PKG-INFO", ".gitignore"}
    assert held == packed | beside


def test_without_extras_files_are_compared_and_kafka_names_its_extra(dist: list[Path], tmp_path: Path) -> None:
    programs = environment(tmp_path / "core", str(dist[0]))
    listed = ran(programs / "python", "-m", "pip", "list", "--format", "json", folder=tmp_path)
    installed = {one["name"] for one in json.loads(listed.stdout)}
    assert installed >= REQUIRED
    assert not installed & OF_STREAMS

    program = "from stream_lsh import *; near = NearDuplicates(0.5); near.add('a', 'x y z'); print(near.query('x y z'))"
    found = ran(programs / "python", "-W", "error", "-c", program, folder=tmp_path)
    assert (found.stderr, found.stdout.count("id='a'")) == ("", 1)

    texts = [{"id": "a", "text": f"{STORY} at night"}, {"id": "b", "text": f"{STORY} at noon"}]
    (tmp_path / "docs.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in texts), encoding="utf-8")
    arguments = ["docs.jsonl", "--threshold", "0.5", "--jobs", "2"]
    deduplicated = ran(programs / "stream-lsh", "dedup", *arguments, folder=tmp_path)
    (pair,) = map(json.loads, deduplicated.stdout.splitlines())
    assert (deduplicated.returncode, pair["left"], pair["right"]) == (0, "a", "b")

    (tmp_path / "worker.toml").write_text('[[pipeline]]\nsource = "in"\n', encoding="utf-8")
    kafka, demo = (
        'Kafka needs faust: pip install "stream_lsh[kafka]"',
        "the demo needs the embedded broker: pip install ",
    )
    for command, problem in (
        (["worker", "--config", "worker.toml"], kafka),
        (["tail", "matches", "--config", "worker.toml"], kafka),
        (["demo"], f"{demo}'stream_lsh[embedded]'"),
    ):
        refused = ran(programs / "stream-lsh", *command, folder=tmp_path)
        assert (refused.returncode, refused.stdout) == (2, "")
        (line,) = refused.stderr.splitlines()
        assert line.startswith(f"stream-lsh: {problem}")
