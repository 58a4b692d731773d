"""`stream-lsh broker`, without a broker: a process stands in for the one that runs already."""

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stream_lsh.worker.brokers import MavenBroker, maven
from tests.unit.cli.runs import ran


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Path]:
    """The folder of a broker that runs at port 9092."""
    folder = tmp_path / "broker"
    folder.mkdir()
    (folder / "server.properties").write_text("listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093\n")
    command = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: S603
        assert process.stdout is not None
        process.stdout.readline()  # right after the start its command line may be empty, and a broker would be started
        (folder / "pid").write_text(str(process.pid))
        yield folder
        process.kill()


def test_a_second_start_reports_the_running_broker(running: Path) -> None:
    run = ran("broker", "start", "--data", running)
    assert run.returncode == 0
    assert run.stdout.decode().startswith("127.0.0.1:9092, process ")


def test_another_port_for_the_running_broker_of_a_folder_is_rejected(running: Path) -> None:
    run = ran("broker", "start", "--data", running, "--port", "19555")
    assert (run.returncode, run.stdout) == (2, b"")
    assert f"the broker of {running} runs at port 9092: stop it first" in run.stderr.decode()


@pytest.mark.parametrize("port", ["0", "65535", "99999", "x"])
def test_a_port_that_cannot_have_a_next_one_is_rejected(port: str) -> None:
    run = ran("broker", "start", "--port", port)
    assert (run.returncode, run.stdout) == (2, b"")
    assert f"--port: got '{port}', expected a whole number from 1 to 65534" in run.stderr.decode()


@pytest.mark.parametrize(("folder", "reason"), [("news.toml", "File exists"), ("news.toml/data", "Not a directory")])
def test_a_path_that_cannot_be_a_folder_is_a_mistake_of_the_user(
    folder: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maven.MavenBroker, "_require", lambda _: None)
    (tmp_path / "news.toml").touch()
    run = ran("broker", "start", "--data", folder, cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, b"")
    expected = f"{tmp_path / folder}: got a path that cannot be used ({reason}), expected a folder that this user may"
    assert expected in run.stderr.decode()
    run = ran("broker", "stop", "--data", folder, cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, b"")
    assert "got a folder without a running broker" in run.stderr.decode()


def test_a_start_that_is_interrupted_leaves_no_broker_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launched = list[int | None]()

    class StandIn(MavenBroker):
        """A broker whose process sleeps; Ctrl-C comes while the start waits for it."""

        def _java(self, *arguments: str) -> list[str]:
            return [sys.executable, "-c", "import time; time.sleep(60)", *arguments]

        def _format(self) -> None:
            pass

        def _listens(self) -> bool:
            for _ in range(1_000):  # the command line of a process that has just begun may be empty for a moment
                if self.pid is not None:
                    break
                time.sleep(0.01)
            launched.append(self.pid)
            raise KeyboardInterrupt

    monkeypatch.setattr(maven, "missing_for_maven", list)
    monkeypatch.setattr(maven, "_complete", lambda _: True)
    broker = StandIn(tmp_path / "broker", maven.free_port())
    try:
        with pytest.raises(KeyboardInterrupt):
            broker.start()
        assert launched != [None]
        assert broker.pid is None
    finally:
        broker.kill()


def test_of_two_starts_within_moments_the_second_one_finds_the_broker_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, launched = tmp_path / "broker", list["subprocess.Popen[bytes]"]()

    class StandIn(MavenBroker):
        """A broker whose process sleeps; it has its process id late, as while Java formats the data folder."""

        def _format(self) -> None:
            time.sleep(0.5)

        def _launch(self) -> None:
            command = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)", str(self._folder)]
            process = subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: S603
            launched.append(process)
            assert process.stdout is not None
            process.stdout.readline()
            (self._folder / "pid").write_text(str(process.pid))

    monkeypatch.setattr(maven, "missing_for_maven", list)
    monkeypatch.setattr(maven, "_complete", lambda _: True)
    port = maven.free_port()
    brokers = [StandIn(folder, port) for _ in range(2)]
    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda broker: broker.start(), brokers))
        assert [process.pid for process in launched] == [brokers[0].pid] == [brokers[1].pid]
    finally:
        for process in launched:
            process.kill()
            process.communicate()
