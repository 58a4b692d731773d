"""The command `stream-lsh`: runs one command and returns its exit code.

Data goes to standard output, everything else to standard error.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from stream_lsh import __version__
from stream_lsh.cli.commands.catalog import COMMANDS, GROUPS, module_of
from stream_lsh.cli.output.atomic_files import STDOUT, Output, discard_stderr, report_lines
from stream_lsh.cli.process import Terminated, as_exceptions, hold, release
from stream_lsh.errors import ConfigError, InvariantError, StateError, StreamLSHError
from stream_lsh.spelling import resembling

_UNTIL_INTERRUPTED = ("demo", "worker", "serve", "tail", "ui")
"""Commands that may run until Ctrl-C, which is no failure."""

FAILED, WRONG_USE, INTERRUPTED, TERMINATED = 1, 2, 130, 143
EXIT_CODES = {
    0: "success",
    FAILED: "failure: a file cannot be read, a disk is full, no broker answers, nothing but rejects (or any, --strict)",
    WRONG_USE: "wrong options, configuration, broker settings or topics, a missing file; `check`: a wrong finding",
    INTERRUPTED: "interrupted (Ctrl-C)",
    TERMINATED: "terminated (SIGTERM, or SIGHUP: the terminal was closed)",
}
"""The exit codes of all commands."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if sys.stderr is None:  # closed: an output would become standard error, and get the messages
        discard_stderr()
    try:
        with as_exceptions():
            return _run(arguments)
    except BaseException as error:
        code, lines = _outcome(error)
        name = arguments[0] if arguments else ""
        if code in (INTERRUPTED, TERMINATED):
            if name in GROUPS["files"]:
                lines = [f"{lines[0]}; no partial output file remains"]
            elif code == INTERRUPTED and name in _UNTIL_INTERRUPTED:
                lines = []
        if code is None:
            raise
        if lines:
            report_lines([f"stream-lsh: {lines[0]}", *lines[1:]])
        return code


def _outcome(error: BaseException) -> tuple[int | None, Sequence[str]]:
    """The exit code and the lines for the error that ended a command; no code for an unexpected exception."""
    code: int | None = None
    lines: Sequence[str] = [str(error)]
    match error:
        case KeyboardInterrupt():
            code, lines = INTERRUPTED, ["interrupted"]
        case Terminated():
            code, lines = TERMINATED, ["terminated"]
        case ConfigError():
            code, lines = WRONG_USE, error.problems
        case InvariantError():
            code = FAILED
            lines = [*lines, "This is a bug in stream_lsh: please report it with the command that led to it."]
        case StateError() if type(error) is StateError:
            code, lines = FAILED, str(error).splitlines()  # one for each topic
        case StreamLSHError():
            code = FAILED
        case OSError():
            code, lines = FAILED, [_sentence(error)]
        case MemoryError():
            code, lines = FAILED, ["out of memory: divide the input; a document of 1 KB takes about 3 KB"]
    return code, lines


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        return _show(_help())
    if arguments[0] in ("-V", "--version", "version"):
        return _show(f"stream-lsh {__version__}")
    name = arguments[0]
    if name not in COMMANDS:
        what = "option" if name.startswith("-") else "command"
        similar = resembling(name, [*COMMANDS, "--version", "--help"])
        hint = f": did you mean `{similar}`?" if similar else "."
        raise ConfigError([f"got the {what} {name!r}, expected a command{hint}", "`stream-lsh --help` lists them."])
    # OpenBLAS starts a thread per core when numpy is loaded; nothing here uses it, and threads do not mix with forks.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    hold()  # until the libraries are loaded
    command = import_module(module_of(name))
    release()
    code: int = command.run(arguments[1:])
    return code


def _show(text: str) -> int:
    with Output(STDOUT) as out:
        out.write([text.encode()])
    return 0


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = []
    for title, group in GROUPS.items():
        lines += [f"{title}:", *(f"  {name:<{width}}  {summary}" for name, summary in group.items()), ""]
    codes = [f"  {code:<{width}}  {meaning}" for code, meaning in EXIT_CODES.items()]
    return "\n".join(
        [
            "usage: stream-lsh COMMAND [options] ...",
            "",
            "Near-duplicate documents and matching records, in a stream through Kafka or in files.",
            "",
            *lines,
            "exit codes:",
            *codes,
            "",
            "`stream-lsh COMMAND --help` lists the options of a command; `stream-lsh --version` prints the version.",
        ]
    )


def _sentence(error: OSError) -> str:
    """The message for a file error, without a traceback."""
    reason = error.strerror or str(error)
    where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
    return f"{where}{reason[:1].lower()}{reason[1:]}"
