"""A disk that can be filled: a file system in memory of its own or, where none may be mounted, a limit on files.

On the file system, a write without room fails with ENOSPC, and SIGBUS may end a process that has mapped a sparse file,
as on a real disk.  Under the limit, a write that makes a file larger than the present largest one fails with EFBIG.
"""

import contextlib
import os
import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

_ROOM_MB, _LEFT_KB = 3_000, 64


class Disk:
    """The storage for the files of one process.

    Args:
        folder: where they are; mounted at the first `mount`.
        pid: of the process, while it runs.
    """

    def __init__(self, folder: Path, pid: Callable[[], int | None]) -> None:
        self._folder, self._pid = folder, pid
        self._limited: tuple[int, tuple[int, int]] | None = None
        self.mounted = False

    def mount(self) -> None:
        """Mount the file system, where that is allowed."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self.mounted = self._mount(f"size={_ROOM_MB}m", "-t", "tmpfs", "stream-lsh-chaos")

    def fill(self) -> None:
        """Nothing more fits."""
        if self.mounted:
            used = shutil.disk_usage(self._folder).used
            self._mount(f"remount,size={used // 1024 + _LEFT_KB}k")
            return
        pid = self._pid()
        if pid is not None:
            largest = max((file.stat().st_size for file in _files(self._folder)), default=0)
            before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            self._limited = pid, before
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (largest, before[1]))

    def free(self) -> None:
        """There is room again."""
        if self.mounted:
            self._mount(f"remount,size={_ROOM_MB}m")
        elif self._limited is not None:
            (pid, before), self._limited = self._limited, None
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, before)

    def close(self) -> None:
        """Take the file system away, and what is on it."""
        if self.mounted:
            subprocess.run([_found("umount"), "--lazy", str(self._folder)], check=False)  # noqa: S603 - our own folder
            self.mounted = False

    def _mount(self, options: str, *what: str) -> bool:
        command = [_found("mount"), "-o", options, *what, str(self._folder)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603 - our own folder


def _found(command: str) -> str:
    return shutil.which(command) or command


def _files(folder: Path) -> list[Path]:
    return [Path(place) / name for place, _, names in os.walk(folder) for name in names]
