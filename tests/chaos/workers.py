"""Workers as processes, started again whenever they end, as a supervisor would."""

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SESSION_SECONDS = 3.0
RESTART_SECONDS = 1.0
STOP_SECONDS = 40.0


def write_config(
    file: Path,
    brokers: list[str],
    name: str,
    pipelines: Sequence[Mapping[str, Any]],
    partitions: int,
    *,
    standbys: int,
    ask: str = "",
) -> None:
    """A configuration with everything in three copies, and no caps: nothing may be left out."""
    worker = {
        "app_id": name,
        "data_dir": str(file.parent / "state"),
        "standbys": standbys,
        "session_timeout": f"{SESSION_SECONDS:.0f}s",
        "ask": ask,
    }
    parts = [("[kafka]", {"brokers": brokers, "replication": 3}), ("[worker]", worker)]
    for number, settings in enumerate(pipelines):
        common = {"name": f"{name}-{number}", "source": f"documents-{number}", "partitions": partitions}
        parts.append(("[[pipeline]]", {**common, "max_candidates": 0, **settings}))
    lines = [line for part, keys in parts for line in (part, *(f"{k} = {json.dumps(v)}" for k, v in keys.items()))]
    file.write_text("\n".join(lines) + "\n")


class Worker:
    """One worker under a supervisor.

    Args:
        number: from 0.
        config: its configuration; its log goes beside it.
        ask: the address of its query API.

    Attributes:
        exits: how often it ended by itself or by a signal, by exit code.
        reasons: how often each last line of its log was printed by a process that failed; digits are replaced by 0.
    """

    def __init__(self, number: int, config: Path, ask: str) -> None:
        self.number, self._config, self.ask = number, config, ask
        self.log = config.with_name("worker.log")
        self.exits: Counter[int] = Counter()
        self.reasons: Counter[str] = Counter()
        self._process: asyncio.subprocess.Process | None = None
        self._started_at = 0
        self._stopping = False

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return None if self._process is None or self._process.returncode is not None else self._process.pid

    async def supervise(self) -> None:
        """Start it, and again whenever it ends, until `stop`."""
        while not self._stopping:
            with self.log.open("ab") as log:
                self._started_at = log.seek(0, os.SEEK_END)
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "stream_lsh", "worker", "--config", str(self._config)),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            code = await self._process.wait()
            if not self._stopping:
                self.exits[code] += 1
                if code > 0:
                    self.reasons[self._last_line()] += 1
                await asyncio.sleep(RESTART_SECONDS)

    def send(self, sent: signal.Signals, pid: int | None = None) -> None:
        """A signal to the process, if it runs; with `pid`, to that one only."""
        found = self.pid
        if found is not None and pid in (None, found):
            with contextlib.suppress(ProcessLookupError):
                os.kill(found, sent)

    def is_ready(self) -> bool:
        """Whether the running process has reported that it works."""
        if self.pid is None:
            return False
        with self.log.open("rb") as log:
            log.seek(self._started_at)
            return b" ready: " in log.read()

    def _last_line(self) -> str:
        with self.log.open("rb") as log:
            log.seek(self._started_at)
            *_, last = ["nothing was printed", *log.read().decode(errors="replace").splitlines()]
        return re.sub("[0-9]+", "0", last)

    async def stop(self) -> int | None:
        """Stop it in order; the exit code, None if it did not run or had to be killed."""
        self._stopping = True
        process = self._process
        if process is None or process.returncode is not None:
            return None
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        try:
            async with asyncio.timeout(STOP_SECONDS):
                return await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
            return None
