"""Apache Kafka from its published jars: one process, no Docker, no distribution archive.

Maven fetches 46 jars (43 MB) into a folder that all brokers of this user share; Java runs them.  One KRaft node is
broker and controller at once, the controller on the port after the broker's.  The process outlives the program that
started it, and is found again by the pid file in its folder, so that commands, tests and users can take turns.

    FOLDER/server.properties   written at every start      FOLDER/pid          while it runs
    FOLDER/data/               topics; survives a kill     FOLDER/broker.log   appended
    FOLDER/lock                held during a start
"""

import base64
import contextlib
import fcntl
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import ClassVar

from stream_lsh.errors import ConfigError
from stream_lsh.worker.brokers.base import Broker

KAFKA_VERSION = "4.2.0"
JARS_VARIABLE = "STREAM_LSH_KAFKA_JARS"
"""The environment variable that names the folder of the jars; by default one in the user's cache folder."""

_JAVA_AT_LEAST = 17
_START_SECONDS = 90.0
_STOP_SECONDS = 30.0
_RELEASE_SECONDS = 3.0
"""The wait for the port of a killed broker: a process closes its sockets last, after it has freed its memory."""
_PORTS = range(20_000, 32_000)
"""Below those that systems give to outgoing connections."""


def missing_for_maven() -> list[str]:
    """The requirements of Kafka from jars that this machine lacks.  Maven only counts while the jars are missing."""
    missing = []
    java = shutil.which("java")
    if java is None:
        missing.append(f"java {_JAVA_AT_LEAST} or later")
    else:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)  # noqa: S603
        version = re.search(r'version "(\d+)', answer.stderr)
        if version is None or int(version[1]) < _JAVA_AT_LEAST:
            problem = answer.stderr.partition("\n")[0]
            missing.append(f"java {_JAVA_AT_LEAST} or later, not {problem}")
    if shutil.which("mvn") is None and not _complete(jars_folder()):
        missing.append("mvn (Apache Maven)")
    return missing


def jars_folder() -> Path:
    """The folder of the jars: $STREAM_LSH_KAFKA_JARS, or a folder in the user's cache."""
    folder = os.environ.get(JARS_VARIABLE)
    if folder:
        return Path(folder)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "stream_lsh" / f"kafka-{KAFKA_VERSION}"


def free_port() -> int:
    """A port that is free now, and whose successor is too; no system gives them to outgoing connections.

    Another process may take it right after; then the broker does not start and reports that.
    """
    while True:
        port = secrets.choice(_PORTS)
        with socket.socket() as first, socket.socket() as second, contextlib.suppress(OSError):
            first.bind(("127.0.0.1", port))
            second.bind(("127.0.0.1", port + 1))
            return port


def _is_taken(port: int) -> bool:
    """Whether something listens on a port."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


class MavenBroker(Broker):
    """A single Kafka node of this machine, with its data in `folder`.

    Args:
        folder: data, settings, log and pid file.
        port: of the broker; `port + 1` is the controller's.  0: that of the last start in this folder, or a free one.
        jars: the folder of the jars; None takes `jars_folder()`.
        heap: of the Java process, as `-Xmx` takes it.
    Cost:
        The first start ever downloads 43 MB.  Then 3 s to start, 2 s to stop, 340 MB of memory.
    """

    kind: ClassVar[str] = f"Apache Kafka {KAFKA_VERSION} from its jars"

    def __init__(self, folder: Path, port: int = 0, *, jars: Path | None = None, heap: str = "512m") -> None:
        self._folder = folder.absolute()
        self._jars = (jars or jars_folder()).absolute()
        self._heap = heap
        self._port = port or self._last_port() or free_port()

    @property
    def address(self) -> str:
        """The address on the loopback interface."""
        return f"127.0.0.1:{self._port}"

    @property
    def pid(self) -> int | None:
        """The process id while it runs, whichever program started it."""
        try:
            pid = int((self._folder / "pid").read_text())
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None
        return pid if self._is_ours(pid) else None

    def start(self, report: Callable[[str], object] = lambda line: None) -> None:
        """Fetch the jars if needed, format the data folder at the first start, start, wait until it listens.

        Args:
            report: called with a line before a step that takes long.

        Raises:
            ConfigError: the folder cannot be used, its broker runs at another port, the port is taken, Java or Maven is
                missing, or Kafka does not start.
        """
        if not os.path.exists(self._folder):
            self._require()  # a start that cannot succeed creates no folder
        with self._locked():
            if not self._runs():
                self._start(report)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock of the folder: of two starts within moments, the second one finds the broker of the first."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = (self._folder / "lock").open("w")
        except OSError as error:
            raise ConfigError(
                f"{self._folder}: got a path that cannot be used ({error.strerror or error}), expected a folder that "
                "this user may write to"
            ) from None
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _runs(self) -> bool:
        """Whether the broker of this folder runs; raises ConfigError if it does at another port."""
        if self.pid is None:
            return False
        if self._port != (port := self._last_port()):
            raise ConfigError(
                f"got the port {self._port}, but the broker of {self._folder} runs at port {port}: stop it first, "
                "or choose another folder"
            )
        return True

    def _require(self) -> None:
        """Raise ConfigError if a port is taken, or Java or Maven is missing."""
        deadline = time.monotonic() + _RELEASE_SECONDS
        for port in (self._port, self._port + 1):
            while _is_taken(port):
                if time.monotonic() < deadline:
                    time.sleep(0.1)
                    continue
                raise ConfigError(
                    f"got the port {port} of 127.0.0.1, which something else listens on, expected a free one: stop it, "
                    "or choose another port; a broker takes two, its controller the next one"
                )
        missing = missing_for_maven()
        if missing:
            raise ConfigError(f"cannot run Kafka from its jars: install {', '.join(missing)}")

    def _start(self, report: Callable[[str], object]) -> None:
        self._require()
        resources = files(__package__) / "kafka"
        if not _complete(self._jars):
            report(f"downloading Kafka {KAFKA_VERSION} (43 MB) to {self._jars}")
            with as_file(resources / "pom.xml") as pom:
                _fetch_jars(pom, self._jars)
        settings = self._settings((resources / "server.properties").read_text())
        (self._folder / "server.properties").write_text(settings)
        (self._folder / "log4j2.xml").write_bytes((resources / "log4j2.xml").read_bytes())
        if not (self._folder / "data" / "meta.properties").exists():
            self._format()
        self._launch()

    def stop(self) -> None:
        """SIGTERM, and SIGKILL if it has not ended after half a minute."""
        if not self._end(signal.SIGTERM, _STOP_SECONDS):
            self.kill()

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self._end(signal.SIGKILL, _STOP_SECONDS)

    def _settings(self, template: str) -> str:
        """The settings of this node."""
        for name, value in {
            "@PORT@": str(self._port),
            "@CONTROLLER@": str(self._port + 1),
            "@DATA@": str(self._folder / "data"),
        }.items():
            template = template.replace(name, value)
        return template

    def _cluster_id(self) -> str:
        """The id of a formatted cluster: every node has the same."""
        return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")

    def _last_port(self) -> int | None:
        with contextlib.suppress(FileNotFoundError):
            match = re.search(r"^listeners=PLAINTEXT://127\.0\.0\.1:(\d+)", self._settings_text(), re.MULTILINE)
            return int(match[1]) if match else None
        return None

    def _settings_text(self) -> str:
        return (self._folder / "server.properties").read_text()

    def _java(self, *arguments: str) -> list[str]:
        # SerialGC and C1 only: the broker starts sooner and leaves resources of a small machine to its other users.
        return [
            shutil.which("java") or "java",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            f"-Dlog4j2.configurationFile={self._folder / 'log4j2.xml'}",
            *arguments,
        ]

    def _format(self) -> None:
        command = self._java(
            "-cp",
            f"{self._jars}/*",
            "kafka.tools.StorageTool",
            "format",
            f"--cluster-id={self._cluster_id()}",  # one word: it may begin with a dash
            "-c",
            str(self._folder / "server.properties"),
        )
        answer = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
        if answer.returncode:
            raise ConfigError(f"Kafka could not format {self._folder / 'data'}: {answer.stdout}{answer.stderr}")

    def _launch(self) -> None:
        command = self._java(
            f"-Xmx{self._heap}",
            "-Xms256m",
            "-cp",
            f"{self._jars}/*",
            "kafka.Kafka",
            str(self._folder / "server.properties"),
        )
        with (self._folder / "broker.log").open("ab") as log:
            # A session of its own: Ctrl-C in the terminal of the starting program must not stop the broker first.
            process = subprocess.Popen(  # noqa: S603 - our own command
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self._folder, start_new_session=True
            )
        process.returncode = 0  # it outlives this object, and `pid` reaps it
        (self._folder / "pid").write_text(str(process.pid))
        deadline = time.monotonic() + _START_SECONDS
        try:
            while not self._listens():
                if _has_ended(process.pid) or time.monotonic() > deadline:
                    tail = (self._folder / "broker.log").read_text(errors="replace").splitlines()[-20:]
                    raise ConfigError([f"Kafka did not come up at {self.address}; the end of its log:", *tail])
                time.sleep(0.1)
        except BaseException:  # also Ctrl-C, which its session does not get
            self.kill()
            raise

    def _listens(self) -> bool:
        return _is_taken(self._port)

    def _is_ours(self, pid: int) -> bool:
        """Whether `pid` is this broker: a pid file may be older than the machine's last boot."""
        if _has_ended(pid):
            return False
        command = Path(f"/proc/{pid}/cmdline")
        if command.exists():
            return str(self._folder).encode() in command.read_bytes()
        if Path("/proc/self").exists():
            return False
        answer = subprocess.run(  # noqa: S603 - systems without /proc
            [shutil.which("ps") or "ps", "-p", str(pid), "-o", "args="], capture_output=True, text=True, check=False
        )
        return str(self._folder) in answer.stdout

    def _end(self, sent: signal.Signals, seconds: float) -> bool:
        """Send a signal and wait; returns whether the process has ended."""
        pid = self.pid
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sent)
            deadline = time.monotonic() + seconds
            while self.pid == pid:
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.05)
        (self._folder / "pid").unlink(missing_ok=True)
        return True


def _has_ended(pid: int) -> bool:
    """Whether a process is a child of this one that has ended; it is reaped."""
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    return False


def _complete(folder: Path) -> bool:
    return (folder / f"kafka_2.13-{KAFKA_VERSION}.jar").exists()


def _fetch_jars(pom: Path, folder: Path) -> None:
    """Let Maven copy the jars beside `folder`, then move them there at once: concurrent starts do no harm."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        jars = Path(scratch) / "jars"
        command = [
            shutil.which("mvn") or "mvn",
            "-q",
            "-B",
            "-f",
            str(pom),
            "dependency:copy-dependencies",
            f"-DoutputDirectory={jars}",
        ]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
        if answer.returncode or not _complete(jars):
            raise ConfigError(f"Maven could not fetch the jars of Kafka {KAFKA_VERSION}: {answer.stdout[-2000:]}")
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
        try:
            jars.rename(folder)
        except OSError:
            if not _complete(folder):  # else another process was faster
                raise ConfigError(f"{folder}: got other files, expected the jars of Kafka: move them away") from None
