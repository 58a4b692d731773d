"""The base of all copies on disk: the folder of a partition, which is opened, discarded or closed."""

from abc import ABC, abstractmethod
from pathlib import Path

from stream_lsh.errors import DoubtError, StateError
from stream_lsh.pipeline.changelog.head import LogHead
from stream_lsh.retention import Horizon
from stream_lsh.worker.storage.folder import Identity, remove, writing


class PartitionStore(ABC):
    """The copy on disk of one partition of a table.

    Args:
        place: the folder; no other process may use it.
        identity: of the state; a copy with another identity is removed.

    Attributes:
        offset: of the last record of the changelog that is in here; None for none.
        head: of the changelog up to there.
        horizon: the limit of what has expired.

    Raises:
        DoubtError: the disk does not work.
    """

    offset: int | None
    head: LogHead
    horizon: Horizon

    def __init__(self, place: Path, identity: Identity) -> None:
        self._place, self._identity = place, identity
        try:
            self._make_and_open()
        except DoubtError:
            raise
        except Exception as error:  # a copy with any fault is discarded: the changelog has its state
            self.discard(error)

    def _make_and_open(self) -> None:
        with writing(self._place):
            self._place.mkdir(parents=True, exist_ok=True)
        self._open()

    def discard(self, why: object) -> None:
        """Remove all files, and start with an empty copy."""
        self._let_go()
        remove(self._place, why if isinstance(why, StateError) else f"{self._place}: {why}")
        with writing(self._place):
            self._make_and_open()

    @abstractmethod
    def _open(self) -> None:
        """Read the copy, or start with an empty one in an empty folder."""

    @abstractmethod
    def _let_go(self) -> None:
        """Release a useless copy: close files, drop all memory."""

    @abstractmethod
    def close(self) -> None:
        """Release the files; they keep all that was written."""
