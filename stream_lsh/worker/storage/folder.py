"""The folder of one worker process, and the identity that is written into every part of it."""

import fcntl
import json
import logging
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from stream_lsh.errors import ConfigError, DamagedBytes, DoubtError, StateError

_FORMATS = {"documents": 2, "buckets": 1, "ledger": 1}
"""Of the copy of each table; a copy in another format is useless."""
_MOST_WORKERS = 64

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Identity:
    """The origin of a copy; a copy with a different one is useless.

    Attributes:
        application, pipeline, table, partition: the owner of the state.
        partitions: of the source; the buckets of each depend on it.
        fingerprint: of the scheme, sixteen hexadecimal digits.
        changelog: the id in Kafka of the topic with the offsets; None where the broker does not report it.
    """

    application: str
    pipeline: str
    table: str
    partition: int
    partitions: int
    fingerprint: str
    changelog: str | None

    def as_json(self) -> str:
        """The stored form; equal identities are equal strings."""
        return json.dumps({"format": _FORMATS[self.table], **asdict(self)}, sort_keys=True)

    def check(self, stored: str, place: Path) -> None:
        """Return if a copy with this identity can be used.

        Raises:
            StateError: it cannot; the message lists the differences.
        """
        try:
            stored_values: Mapping[str, Any] = dict(json.loads(stored))
        except (TypeError, ValueError):
            raise StateError(f"{place}: holds no identity of its state") from None
        ours = json.loads(self.as_json())
        unlike = [name for name in ours if stored_values.get(name) != ours[name]]
        if unlike:
            problem = "; ".join(f"{name}: ours {ours[name]!r}, its {stored_values.get(name)!r}" for name in unlike)
            raise StateError(f"{place}: belongs to another state ({problem})")


class DataFolder:
    """A folder with one process as its only user: `worker-0` in `data_dir`, or the first one without a user.

    Args:
        data_dir: of the configuration.

    Raises:
        ConfigError: the folder cannot be made or written.
    """

    def __init__(self, data_dir: Path) -> None:
        self._lock: IO[str] | None = None
        try:
            for number in range(_MOST_WORKERS):
                self.path = data_dir / f"worker-{number}"
                self.path.mkdir(parents=True, exist_ok=True)
                self._lock = (self.path / "lock").open("w")
                try:
                    fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    self._lock.close()
                else:
                    return
        except OSError as error:
            raise ConfigError(
                f"worker.data_dir: {data_dir} cannot be used ({error.strerror or error}): set a folder that this user "
                "may write to"
            ) from None
        raise ConfigError(f"worker.data_dir: {data_dir} is used by {_MOST_WORKERS} workers; name another folder")

    def close(self) -> None:
        """Release the folder."""
        if self._lock is not None:
            self._lock.close()


@dataclass(frozen=True, slots=True)
class Storage:
    """The folders of the copies of an application's states, and their identities.

    Attributes:
        folder: of this process.
        application: the `app_id`.
        changelogs: the id in Kafka of each changelog, by name, as far as the broker reports it.
    """

    folder: DataFolder
    application: str
    changelogs: Mapping[str, str]

    def place(self, pipeline: str, table: str, partition: int) -> Path:
        """The folder of one partition of a table."""
        return self.folder.path / pipeline / f"{table}-{partition}"


def remove(place: Path, why: object) -> None:
    """Remove an unusable copy, and log it: its state will be read from the changelog."""
    _log.warning("%s; it is removed, and the state read from the changelog", why)
    shutil.rmtree(place, ignore_errors=True)


@contextmanager
def reading(place: Path) -> Iterator[None]:
    """Convert errors of a read.

    Raises:
        DamagedBytes: the bytes are damaged, or the disk does not work.
    """
    try:
        yield
    except Exception as error:
        raise DamagedBytes(f"{place}: {error}") from error


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Convert errors of a write to an error that ends the worker.

    Raises:
        DoubtError: the disk is full, or does not work.
    """
    try:
        yield
    except (StateError, DoubtError):
        raise
    except Exception as error:
        raise DoubtError(
            f"{place}: cannot be written ({error}): free some space, or set another `data_dir`; nothing is lost, "
            "and uncommitted messages are read again"
        ) from error
