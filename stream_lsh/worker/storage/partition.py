"""What the two copies on disk have in common: a folder of one partition, opened, found to be of no use, or closed."""

from abc import ABC, abstractmethod
from pathlib import Path

from stream_lsh.errors import DoubtError, StateError
from stream_lsh.pipeline.changelog.head import LogHead
from stream_lsh.retention import Horizon
from stream_lsh.worker.storage.folder import Identity, remove, writing


class PartitionStore(ABC):
    """What is on disk of one partition of a table.

    Args:
        place: the folder; nobody else may use it.
        identity: whose state it is to be; what is of something else is removed.

    Attributes:
        offset: of the last record of the changelog that is in here; None for none.
        head: of the changelog up to there.
        horizon: what has been dropped.

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
        except Exception as error:  # whatever is wrong with what lies there, it can be read from the changelog
            self.discard(error)

    def _make_and_open(self) -> None:
        with writing(self._place):
            self._place.mkdir(parents=True, exist_ok=True)
        self._open()

    def discard(self, why: object) -> None:
        """Remove everything, and go on with nothing."""
        self._let_go()
        remove(self._place, why if isinstance(why, StateError) else f"{self._place}: {why}")
        with writing(self._place):
            self._make_and_open()

    @abstractmethod
    def _open(self) -> None:
        """Take what is there, or begin with nothing in an empty folder."""

    @abstractmethod
    def _let_go(self) -> None:
        """Nothing that was there is of use: close files, forget what is in memory."""

    @abstractmethod
    def close(self) -> None:
        """Leave the files to others; what was written stays."""
