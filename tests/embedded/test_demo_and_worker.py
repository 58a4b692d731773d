"""The broker in the process, as the demo and `worker --embedded` use it: real commands, real agents, nothing left."""

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition  # type: ignore[import-untyped]

from stream_lsh.config import Config, PipelineConfig
from stream_lsh.worker.brokers import EmbeddedBroker
from stream_lsh.worker.brokers.embedded import FETCH_WAIT_MS
from stream_lsh.worker.topology import build_app
from tests.patience import PATIENCE
from tests.unit.cli.runs import EDITED, OTHER, SIMILARITY, STORY, lines_of

COMMAND = (sys.executable, "-m", "stream_lsh")
FEW = """
import sys
from stream_lsh.cli.runs import demo
from stream_lsh.demo.schedule import schedule
from stream_lsh.demo.stories import stories
from stream_lsh.worker import maintenance
demo._PACED = 30
maintenance.TRIM_SECONDS, maintenance.TRIM_STEP = 0.1, 1  # would complain at once of a broker that cannot delete
sys.exit(demo.show(schedule(stories(60), 1), 0.6, serve=False))
"""

NEWSROOM = """
import sys
from stream_lsh.cli.runs import demo
from stream_lsh.demo.schedule import schedule
from stream_lsh.demo.stories import stories
demo._PACED, demo._PACE_S = 0, 0.1
later = [event._replace(id=event.id + "~later") for event in schedule(stories(60), 2)]
sys.exit(demo.show(schedule(stories(20), 1), 0.6, later, serve=True))
"""

FAILING = """
import sys
from stream_lsh.cli.main import main
from stream_lsh.errors import DamagedBytes
from stream_lsh.pipeline.settle import Settler

def settle(*_):
    raise DamagedBytes("got nonsense")

Settler.settle = settle
sys.exit(main(["demo"]))
"""

LYING = """
import sys
from stream_lsh.cli.runs import demo
from stream_lsh.cli.main import main
demo.all_pairs = lambda texts, threshold: iter(())
sys.exit(main(["demo", "--from", sys.argv[1]]))
"""


class Place:
    """An empty folder to work in, another for temporary files, and the commands that run there."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.temporary = folder / "here", folder / "temporary"
        self.folder.mkdir()
        self.temporary.mkdir()

    @contextmanager
    def start(self, command: Sequence[str], **variables: str) -> Iterator["subprocess.Popen[str]"]:
        """A process, killed at the end if it has not ended."""
        with subprocess.Popen(  # noqa: S603 - our own command
            list(command),
            cwd=self.folder,
            env=os.environ | {"TMPDIR": str(self.temporary)} | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def run(self, *command: str, **variables: str) -> tuple[int, str, str]:
        with self.start(command, **variables) as process:
            out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, out, err

    @property
    def left(self) -> list[str]:
        return os.listdir(self.folder) + os.listdir(self.temporary)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.jsonl"
    documents: list[dict[str, Any]] = [
        {"id": "a", "text": STORY},
        {"id": "b", "text": EDITED},
        {"id": "c", "text": STORY},
        {"id": "d", "text": EDITED},
        {"id": "c", "text": OTHER},
        {"id": "d", "deleted": True},
        {"id": "broken"},
    ]
    path.write_bytes(lines_of(documents))
    return path


def number(row: str, table: str) -> str:
    found = re.search(rf"^  {row} +(\S+)", table, re.MULTILINE)
    assert found, table
    return found[1]


def test_the_demo_finds_nearly_all_pairs_and_nothing_else_and_leaves_nothing_behind(place: Place) -> None:
    code, out, err = place.run(sys.executable, "-c", FEW)
    assert (code, err, place.left) == (0, "", [])
    assert int(number("pairs", out)) > 10
    assert int(number("clusters", out)) > 3
    assert float(number("recall", out).rstrip("%")) >= 97
    assert number("wrong pairs", out) == "0"
    assert number("latency", out) != "-"
    assert number("throughput", out).endswith("/s")
    assert re.search(r"^ +\d+\.\d s  new      [01]\.\d{3}  \w+ ~ \w+: \S+$", out, re.M)
    assert re.search(r"^ +\d+\.\d s  gone     [01]\.\d{3}  .* \((deleted|updated)\)$", out, re.M)
    assert re.search(r"^A match with similarity 0\.\d{3}, its texts side by side:$", out, re.M)
    assert "stream-lsh dedup YOUR_FOLDER" in out
    assert "\033" not in out


def test_the_demo_streams_files_with_their_updates_and_deletes(place: Place, own: Path) -> None:
    code, out, err = place.run(*COMMAND, "demo", "--from", str(own))
    assert code == 0
    assert "own.jsonl:7: rejected (text)" in err
    rows = ("documents", "corrections", "withdrawals", "pairs", "clusters", "recall", "wrong pairs")
    assert [number(row, out) for row in rows] == ["4", "1", "1", "1", "1", "100.00%", "0"]
    assert place.left == []


@pytest.mark.slow
def test_the_demo_streams_a_folder(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "news"
    folder.mkdir()
    for name, text in (("one.txt", STORY), ("two.txt", EDITED), ("three.txt", OTHER)):
        (folder / name).write_text(text)
    code, out, err = place.run(*COMMAND, "demo", "--from", str(folder), "--threshold", "0.7")
    assert (code, err) == (0, "")
    assert f"{SIMILARITY:.3f}" in out
    assert [number(row, out) for row in ("documents", "pairs", "recall")] == ["3", "1", "100.00%"]


@pytest.mark.slow
def test_the_demo_on_a_terminal_has_a_line_of_status_and_lines_that_fit(place: Place, own: Path) -> None:
    plain = on_a_terminal(place, own, NO_COLOR="1")
    assert re.search(r"\r\033\[2K\d+ of 6 sent, ", plain)
    assert not re.search(r"\033\[\d*m", plain)
    shown = re.sub(r"\033\[[?\d]*[a-zA-Z]", "\r", plain)  # without what moves the cursor
    assert max(map(len, shown.splitlines())) <= 80
    assert number("recall", shown.replace("\r", "")) == "100.00%"
    assert plain.count("\033[?25h") >= plain.count("\033[?25l") > 0, "the cursor is there again"
    assert "\033[32mnew" in on_a_terminal(place, own, NO_COLOR="")


def on_a_terminal(place: Place, own: Path, **variables: str) -> str:
    ours, theirs = pty.openpty()
    environment = os.environ | {"TMPDIR": str(place.temporary), "TERM": "xterm", "COLUMNS": "80"} | variables
    with subprocess.Popen(  # noqa: S603 - our own command
        [*COMMAND, "demo", "--from", str(own)],
        cwd=place.folder,
        env=environment,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(theirs)
        output = bytearray()
        with suppress(OSError):  # the other end is closed
            while piece := os.read(ours, 65_536):
                output += piece
    os.close(ours)
    assert process.returncode == 0
    return output.decode()


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_demo_leaves_nothing_behind(place: Place, number: signal.Signals, code: int) -> None:
    with place.start([*COMMAND, "demo"]) as process:
        assert process.stdout
        assert "A Kafka broker in memory" in process.stdout.readline()
        assert "Web pages, while it runs: http://127.0.0.1:" in process.stdout.readline()
        assert " new " in process.stdout.readline()
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert len(err.splitlines()) == (number == signal.SIGTERM), err
    assert place.left == []


@pytest.mark.slow
def test_a_worker_that_fails_ends_the_demo(place: Place) -> None:
    code, out, err = place.run(sys.executable, "-c", FAILING)
    assert (code, place.left) == (1, [])
    assert "stream-lsh: got nonsense" in err.splitlines()
    assert "recall" not in out


@pytest.mark.slow
def test_a_pair_that_is_wrong_makes_the_demo_fail(place: Place, own: Path) -> None:
    code, out, _ = place.run(sys.executable, "-c", LYING, str(own))
    assert (code, number("wrong pairs", out)) == (1, "1")


@pytest.mark.slow
def test_a_demo_without_a_reader_ends(place: Place) -> None:
    with place.start([*COMMAND, "demo", "--serve"]) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=PATIENCE) == 0
        assert process.stderr.read() == ""
    assert place.left == []


@pytest.mark.slow
def test_a_demo_that_serves_can_be_fed_and_followed(place: Place, own: Path) -> None:
    with place.start([*COMMAND, "demo", "--from", str(own), "--serve"]) as process:
        assert process.stdout
        while "stream-lsh check" not in process.stdout.readline():
            pass
        config = place.folder / "demo.toml"
        assert "threshold = 0.6" in config.read_text(encoding="utf-8")
        assert use(place, config, {}, SIMILARITY) == {("a", "b"), ("a", "x"), ("b", "x")}
        assert watch(place, config) == [
            "        3      1.0000  joined   x       the minister held on tuesday that the b…"
        ]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert [line.partition(": ")[0] for line in err.splitlines()] == [f"{own}:7"]
    assert sorted(place.left) == ["demo.toml", "more.jsonl"]
    config.write_text("# mine", encoding="utf-8")
    code, _, err = place.run(*COMMAND, "demo", "--serve")
    assert (code, "exists already" in err, config.read_text(encoding="utf-8")) == (2, True, "# mine")


@pytest.mark.slow
def test_a_demo_that_serves_is_a_newsroom_with_pages_and_ends_silently_while_they_are_open(place: Place) -> None:
    with place.start([sys.executable, "-c", NEWSROOM]) as process:
        assert process.stdout
        printed = ""
        while "stream-lsh check" not in (line := process.stdout.readline()):
            printed += line
        (address,) = set(re.findall(r"http://127\.0\.0\.1:\d+", printed))
        with urllib.request.urlopen(f"{address}/p/demo/clusters", timeout=PATIENCE) as page:  # noqa: S310 - on this machine
            assert b"Newswire" in page.read()
        with urllib.request.urlopen(f"{address}/p/demo/changes", timeout=PATIENCE) as changes:  # noqa: S310
            while b"~later" not in (line := changes.readline()):
                assert line, "the stream of changes has ended"
            process.send_signal(signal.SIGINT)
            assert (process.communicate(timeout=PATIENCE)[1], process.returncode) == ("", 0)
    assert place.left == ["demo.toml"]


def test_without_the_extra_for_pages_the_demo_runs_without_them(place: Place, own: Path) -> None:
    hidden = "import sys, importlib.util; found = importlib.util.find_spec; importlib.util.find_spec = "
    hidden += "lambda name, *of: None if name == 'jinja2' else found(name, *of); from stream_lsh.cli.main import main; "
    code, out, _ = place.run(sys.executable, "-c", f"{hidden}sys.exit(main(['demo', '--from', {str(own)!r}]))")
    assert (code, number("pairs", out), "Web pages" in out) == (0, "1", False)


def watch(place: Place, config: Path) -> list[str]:
    """The rows of `tail clusters` on a terminal, which it leaves as it was."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(  # noqa: S603 - our own command
        [*COMMAND, "tail", "clusters", "--config", str(config), "--from-beginning"],
        cwd=place.folder,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "80", "LINES": "10"},
        stdout=theirs,
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while b"1.0000" not in shown.rpartition(b"\x1b[H")[0]:
                shown += os.read(ours, 65_536)
        finally:
            process.send_signal(signal.SIGINT)
        with suppress(OSError):  # the other end is closed
            while piece := os.read(ours, 65_536):
                shown += piece
    os.close(ours)
    assert process.returncode == 130
    assert shown.startswith(b"\x1b[?1049h")
    assert {b"\x1b[?1049l", b"\x1b[?25h"} == set(re.findall(rb"\x1b\[\?\w+", shown)[-2:]), "as it was, with the cursor"
    page = next(page for page in reversed(shown.split(b"\x1b[H")) if b"1.0000" in page).partition(b"\x1b")[0]
    return [line.rstrip() for line in page.decode().split("\r\n")[3:] if line.strip()]


def use(place: Place, config: Path, variables: dict[str, str], least: float) -> set[tuple[str, str]]:
    """Feed two documents, and tail the matches until there are any of these documents."""
    more = config.parent / "more.jsonl"
    more.write_bytes(lines_of([{"id": "x", "text": STORY}, {"id": "b", "text": EDITED}]))
    code, _, err = place.run(*COMMAND, "feed", "--config", str(config), str(more), **variables)
    assert (code, err.startswith("2 documents to ")) == (0, True), err
    tail = (*COMMAND, "tail", "matches", "--config", str(config), "--from-beginning", "--no-follow", "--json")
    pairs, end = dict[tuple[str, str], float](), time.monotonic() + PATIENCE
    while ("b", "x") not in pairs and time.monotonic() < end:
        code, out, err = place.run(*tail, **variables)
        assert (code, err) == (0, "")
        for message in map(json.loads, out.splitlines()):
            left, right = json.loads(message["key"])
            pairs.pop((left, right), None)
            if message["value"]:
                pairs[left, right] = message["value"]["similarity"]
    assert min(pairs.values()) >= least
    return set(pairs)


def test_a_worker_with_a_broker_inside_can_be_fed_and_followed(place: Place, tmp_path: Path) -> None:
    config = tmp_path / "news.toml"
    config.write_text('[kafka]\nbrokers = "nowhere:1"\nreplication = 3\n[[pipeline]]\nsource = "in"\nthreshold = 0.5\n')
    with place.start([*COMMAND, "worker", "--config", str(config), "--embedded", "--log", "error"]) as process:
        assert process.stderr
        banner = [process.stderr.readline() for _ in range(3)]
        assert "in memory" in banner[0]
        assert "all data is lost" in banner[0]
        name, _, address = banner[1].rpartition("export ")[2].strip().partition("=")
        assert banner[2] == "pipeline documents: in (4 partitions) -> documents-matches\n"
        assert use(place, config, {name: address}, SIMILARITY) == {("b", "x")}
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert place.left == []


def test_a_worker_whose_terminal_is_closed_stops_as_after_sigterm(place: Place, tmp_path: Path) -> None:
    config = tmp_path / "news.toml"
    config.write_text('[worker]\nweb = ""\n[[pipeline]]\nsource = "in"\n')
    with place.start([*COMMAND, "worker", "--config", str(config), "--embedded"]) as process:
        assert process.stderr
        while "ready" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=PATIENCE)
    assert (process.returncode, place.left) == (0, [])


@pytest.mark.parametrize("arguments", [["demo"], ["worker", "--embedded", "--config", "news.toml"]])
def test_without_the_extra_the_error_names_the_package_to_install(place: Place, arguments: list[str]) -> None:
    (place.folder / "news.toml").write_text('[[pipeline]]\nsource = "in"\n')
    hidden = "import sys; sys.modules['confluent_kafka'] = None; from stream_lsh.cli.main import main; "
    code, _, err = place.run(sys.executable, "-c", f"{hidden}sys.exit(main({arguments!r}))")
    assert code == 2
    assert err.endswith("pip install 'stream_lsh[embedded]'\n")


def test_a_fetch_returns_one_batch_of_a_partition_and_workers_do_not_let_it_wait() -> None:
    async def records_of_first_fetch(address: str) -> int:
        producer = AIOKafkaProducer(bootstrap_servers=address)
        consumer = AIOKafkaConsumer(bootstrap_servers=address, auto_offset_reset="earliest")
        await producer.start()
        await consumer.start()
        try:
            for _ in range(3):
                await producer.send_and_wait("t", b"")
            consumer.assign([TopicPartition("t", 0)])
            fetched: dict[Any, list[Any]] = {}
            while not fetched:
                fetched = await consumer.getmany(timeout_ms=200)
            return len(fetched[TopicPartition("t", 0)])
        finally:
            await consumer.stop()
            await producer.stop()

    with EmbeddedBroker({"t": 1}) as broker:
        assert asyncio.run(records_of_first_fetch(broker.address)) == 1
    config = Config(pipelines=(PipelineConfig(sources=("in",)),))
    assert build_app(config, {"documents": 1}, embedded=True).fetch_max_wait_ms == FETCH_WAIT_MS < 10
