"""`stream-lsh broker`, without a broker: a process stands in for the one that runs already."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

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
