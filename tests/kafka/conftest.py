"""One broker for all tests that need one, however many processes run them."""

import fcntl
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from stream_lsh.errors import ConfigError
from stream_lsh.worker.brokers import Broker, MavenBroker
from tests.evaluation.brokers import GivenBroker, choose_broker


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _known(state: Path) -> dict[str, Any]:
    return dict(json.loads(state.read_text())) if state.exists() else {"users": 0}


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A running broker: never skipped, and never killed (see `own_broker`).

    The processes of one test run share it: the first that comes starts it, the last that goes stops it.
    """
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    state, lock, folder = shared / "broker.json", shared / "broker.lock", shared / "broker"
    started: Broker | None = None
    with _locked(lock):
        known = _known(state)
        if known["users"] == 0:
            try:
                started = choose_broker(folder)
                started.start()
            except ConfigError as error:
                pytest.fail(str(error), pytrace=False)
            known = {"users": 0, "address": started.address, "kind": type(started).__name__}
        known["users"] += 1
        state.write_text(json.dumps(known))
    yield started or GivenBroker(known["address"])
    with _locked(lock):
        known = _known(state)
        known["users"] -= 1
        state.write_text(json.dumps(known))
        if known["users"] == 0:
            stopped = MavenBroker(folder) if known["kind"] == "MavenBroker" else started
            if stopped is not None:
                stopped.stop()


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[MavenBroker]:
    """A broker of this test alone, which it may kill; running."""
    with MavenBroker(tmp_path / "broker") as started:
        yield started


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A prefix for topics and groups that no other test has, in no other run either."""
    return f"{request.node.name.removeprefix('test_')[:40].rstrip('[]')}-{uuid.uuid4().hex[:8]}".replace("[", "-")
