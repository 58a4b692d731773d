"""A worker as a process: its log, its signals, its exit code."""

import gc
import logging
import resource
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress

import faust

from stream_lsh.config.model import Config
from stream_lsh.errors import ConfigError, StreamLSHError
from stream_lsh.worker.monitoring.log import log_to_stderr
from stream_lsh.worker.topology import build_app

_log = logging.getLogger(__name__)

FAILED, WRONG_USE = 1, 2
OPEN_FILES = 10_240  # a Mac allows no more; the default of many systems is 1,024 or less
COLLECT_AFTER = 100_000
"""Objects between two searches for reference cycles: the state has no cycles, but a million objects to traverse."""


def execute(config: Config, partitions: Mapping[str, int], level: str, *, embedded: bool = False) -> int:
    """Run until a signal comes or something fails; returns the exit code.

    0 after SIGTERM, SIGINT and SIGHUP, with everything acknowledged; 2 for errors that the operator must fix; 1 for all
    others, after which a supervisor restarts the process.
    """
    raise_open_files_limit()
    app = build_app(config, partitions, embedded=embedded)
    gc.freeze()  # the objects of the libraries live until the end
    gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])
    gc.enable()
    log_to_stderr(level)
    for warnings in warnings_of(config):
        _log.warning("%s", warnings)
    worker = faust.Worker(app, override_logging=False, redirect_stdouts=False, quiet=True)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))  # the engine handles SIGTERM only
    worker.spinner = None  # it writes to standard output, on a terminal or not
    try:
        worker.execute_from_commandline()
    except SystemExit as left:
        reason = app.ended_by or left.__context__  # the engine turns every exception into this one
        if not isinstance(reason, StreamLSHError):
            return left.code if isinstance(left.code, int) else FAILED
        sys.stderr.write(f"stream-lsh: {type(reason).__name__}: {reason}\n")
        return WRONG_USE if isinstance(reason, ConfigError) else FAILED
    return 0


def raise_open_files_limit() -> None:
    """Raise the limit on open files, as far as this user may: each partition keeps 64 to 256 files open."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if most == resource.RLIM_INFINITY else min(most, OPEN_FILES)
    if allowed == resource.RLIM_INFINITY or allowed >= wanted:
        return
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def warnings_of(config: Config) -> Iterator[str]:
    """The warnings about a configuration with which a worker runs nevertheless."""
    for pipeline in config.pipelines:
        yield from (f"{pipeline.name}: {warning}" for warning in pipeline.kind.warnings())
