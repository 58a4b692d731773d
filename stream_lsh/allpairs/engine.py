"""The columnar engine: DuckDB within a bound of memory; it spills to a temporary folder.

A query runs in a thread of its own, since the engine blocks signals while it computes.  A signal interrupts the waiting
thread, which interrupts the query.
"""

import errno
import tempfile
import threading
from collections.abc import Callable, Mapping
from typing import Any, Self

from stream_lsh.errors import ConfigError

LEAST_MEMORY = 64 << 20
"""Bytes below which the engine has no room to sort anything."""

_LOOK_UP_S = 0.05
"""The longest time that a signal may wait."""


def require() -> None:
    """Nothing, if there is an engine.

    Raises:
        ConfigError: DuckDB is not installed -> install the extra.
    """
    try:
        import duckdb  # noqa: F401, PLC0415 - optional
    except ImportError:
        raise ConfigError('all pairs need DuckDB: pip install "stream_lsh[allpairs]"') from None


class Engine:
    """Tables and queries of one run.

    Args:
        memory: bytes that the engine may take; the rest of its tables goes to the folder.
        folder: where the temporary folder is made; None for that of the system (`TMPDIR`).
        threads: of the engine; None for one a core.

    Raises:
        ConfigError: DuckDB is not installed, or the memory is less than 64 MB.

    Example:
        >>> with Engine() as engine:
        ...     engine.run("CREATE TABLE numbers AS SELECT range AS n FROM range(4)")
        ...     engine.columns("SELECT sum(n) AS total FROM numbers WHERE n > $least", least=1)["total"].tolist()
        [5.0]
    """

    def __init__(self, memory: int = 1 << 30, folder: str | None = None, threads: int | None = None) -> None:
        require()
        if memory < LEAST_MEMORY:
            raise ConfigError(f"memory: got {memory:,} bytes, expected at least {LEAST_MEMORY:,}")
        import duckdb  # noqa: PLC0415 - optional

        self._library = duckdb
        self._memory = memory
        try:
            self._folder = tempfile.TemporaryDirectory(prefix="stream_lsh-", dir=folder)
        except OSError as error:
            raise ConfigError(f"{error.filename}: cannot be written: {error.strerror}") from None
        settings: dict[str, Any] = {
            "memory_limit": f"{memory}B",
            "temp_directory": self._folder.name,
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,  # nothing is fetched from anywhere
            "autoload_known_extensions": False,
        }
        self._connection = duckdb.connect(config=settings | ({"threads": threads} if threads else {}))

    def run(self, query: str, **values: float) -> None:
        """Run a statement; arguments and errors are those of `columns`."""
        self._apart(lambda: self._connection.execute(query, values))

    def columns(self, query: str, **values: float) -> dict[str, Any]:
        """The result of a query, an array for each column.

        Args:
            query: in SQL, with $name for a value.
            values: by their names.

        Raises:
            ConfigError: the memory is too little for what cannot be put on the disk.
            OSError: the disk is full, or the like.
        """
        fetched: dict[str, Any] = self._apart(lambda: self._connection.execute(query, values).fetchnumpy())
        return fetched

    def append(self, table: str, columns: Mapping[str, Any]) -> None:
        """Append arrays to a table, those of its columns in their order."""
        self._connection.register("rows", dict(columns))
        try:
            self.run(f"INSERT INTO {table} SELECT * FROM rows")  # noqa: S608 - names of our own
        finally:
            self._connection.unregister("rows")

    def _apart(self, work: Callable[[], Any]) -> Any:
        """The result of work in another thread."""
        results: list[Any] = []
        errors: list[BaseException] = []
        # Not the end of the thread: one whose `join` is interrupted passes for ended (until Python 3.13).
        done = threading.Event()
        turn = threading.Lock()
        begun = given_up = False

        def run() -> None:
            nonlocal begun
            with turn:
                begun = not given_up
            try:
                if begun:
                    results.append(work())
            except BaseException as error:
                errors.append(error)
            finally:
                done.set()

        try:
            threading.Thread(target=run, daemon=True).start()
            while not done.wait(_LOOK_UP_S):
                pass
        except BaseException:
            # It may have come while the thread was started: what has not begun by now never does.
            with turn:
                given_up = True
            while begun and not done.is_set():  # an interruption that comes before the query does is forgotten
                self._connection.interrupt()
                done.wait(_LOOK_UP_S)
            raise
        for error in errors:
            raise self._as_own_error(error) from None
        return results[0]

    def _as_own_error(self, error: BaseException) -> BaseException:
        """An error of the engine as one of ours."""
        message = str(error).partition("\n")[0]
        if isinstance(error, self._library.IOException) or "No space left" in message:
            full = errno.ENOSPC if "No space left" in message else errno.EIO
            return OSError(full, message, self._folder.name)
        if isinstance(error, self._library.OutOfMemoryException):
            return ConfigError(f"memory: got {self._memory:,} bytes, which is too little here; give more ({message})")
        return error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Forget everything, the folder included."""
        self._connection.close()
        self._folder.cleanup()
