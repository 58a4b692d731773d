"""Starting, stopping and killing brokers."""

import asyncio
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stream_lsh.cli.main import main
from stream_lsh.errors import ConfigError
from stream_lsh.worker.brokers import EmbeddedBroker, MavenBroker
from stream_lsh.worker.brokers.maven import free_port
from tests.evaluation.brokers import ADDRESS_VARIABLE, GivenBroker, choose_broker
from tests.kafka.harness import feed, make_topics, numbers, read


def test_a_killed_broker_comes_back_with_its_data_on_its_port(own_broker: MavenBroker) -> None:
    address = own_broker.address
    asyncio.run(make_topics(address, "kept"))
    asyncio.run(feed(address, "kept", numbers(0, 100)))
    own_broker.kill()
    assert own_broker.pid is None
    began = time.monotonic()
    own_broker.start()
    print(f"up again {time.monotonic() - began:.1f} s after a kill")
    assert own_broker.address == address
    assert {record.value for record in asyncio.run(read(address, "kept"))} == set(numbers(0, 100))


def test_the_command_starts_and_stops_a_broker_that_others_find_again(tmp_path: Path) -> None:
    port = free_port()

    def command(action: str) -> str:
        arguments = [action, "--port", str(port), "--data", str(tmp_path)]
        return subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "stream_lsh", "broker", *arguments], check=True, capture_output=True, text=True
        ).stdout

    try:
        assert command("start").startswith(f"127.0.0.1:{port}, process ")
        found = MavenBroker(tmp_path)
        assert found.address == f"127.0.0.1:{port}"
        assert found.pid is not None
        command("stop")
        assert found.pid is None
    finally:
        MavenBroker(tmp_path).kill()


@pytest.mark.parametrize("controller", [False, True])
def test_a_port_that_is_taken_is_refused_and_nothing_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, controller: bool
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code = main(["broker", "start", "--port", str(port - controller), "--data", str(tmp_path / "broker")])
    printed = capsys.readouterr()
    assert (code, printed.out) == (2, "")
    assert printed.err.startswith(
        f"stream-lsh: got the port {port} of 127.0.0.1, which something else listens on, expected a free one"
    )
    assert not (tmp_path / "broker").exists()


def test_stop_without_a_running_broker_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["broker", "stop", "--data", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"stream-lsh: {tmp_path}: got a folder without a running broker")


def test_an_embedded_broker_keeps_more_than_its_library_would_and_names_its_limits() -> None:
    with EmbeddedBroker({"big": 1, "other": 4}) as broker:
        asyncio.run(feed(broker.address, "big", [b"%06d" % number + bytes(10_000) for number in range(800)], 1))
        values = [record.value for record in asyncio.run(read(broker.address, "big"))]
        assert len(values) == 800  # 8 MB; the library keeps 5
        assert "delete records" in broker.cannot


def test_the_given_address_comes_first_and_without_any_broker_the_error_names_the_software_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = choose_broker(tmp_path, {ADDRESS_VARIABLE: "example:9092"})
    assert isinstance(given, GivenBroker)
    assert given.address == "example:9092"
    with pytest.raises(ConfigError, match="cannot be killed"):
        given.kill()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match=r"(?s)set STREAM_LSH_TEST_BROKERS=host:port.*install Java 17 and Maven"):
        choose_broker(tmp_path, {})
