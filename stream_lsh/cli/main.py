"""The command `stream-lsh`: finds the command that is meant, runs it, and turns what happens into an exit code.

    0       fine
    1       failed: a file cannot be read, a disk is full, a document was rejected under --strict
    2       wrong use, or a wrong configuration
    130     interrupted (Ctrl-C); 143 terminated

Data goes to standard output, everything else to standard error.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from stream_lsh import __version__
from stream_lsh.cli.output.atomic_files import STDOUT, Output
from stream_lsh.cli.process.signals import Terminated, as_exceptions
from stream_lsh.errors import ConfigError, InvariantError, StreamLSHError
from stream_lsh.spelling import resembling

COMMANDS = {
    "demo": "find near-duplicates in a live stream, with a broker inside: a first look, needs nothing",
    "worker": "run the pipelines of a configuration on Kafka",
    "feed": "send documents from files to the source topic of a pipeline",
    "tail": "show what a pipeline publishes, as it comes",
    "check": "say how configuration, brokers, topics and state stand; --audit: whether matches and members are true",
    "dedup": "find near-duplicates in files: JSON lines, CSV, TSV, folders of text",
    "allpairs": "find all pairs of near-duplicates in files, exactly: slower than dedup, and misses nothing",
    "sets": "find similar sets in files: customers by what they bought, users by pages, fingerprints",
    "neighbours": "find vectors in files that are near each other, or near those that are asked about",
    "link": "find the records in files that are the same thing: people, companies, products, publications",
    "news": "show the stories in articles, as text or HTML: headline, outlets, who was first",
    "mirrors": "show the sites that mirror each other, from their pages: shares, and who is contained in whom",
    "plagiarism": "show who has passages of whom in texts, side by side, however little of either they are",
    "clones": "find functions in sources that are copies of each other, renamed and edited ones too",
    "explain": "say why two documents are in one cluster, or why not, and mark what they share",
    "tune": "choose bands and rows, for a threshold or for the documents in files: candidates, recall, memory",
    "train": "learn from records in files what each field says for or against a match",
    "profile": "propose, show and check profiles: how records of a kind are compared",
}
"""Every command and what it does; its module has the same name."""

_WITHOUT_FILES = ("demo", "worker", "feed", "tail", "check")
"""Commands that write no file."""

FAILED, WRONG_USE, INTERRUPTED, TERMINATED = 1, 2, 130, 143


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with as_exceptions():
            return _run(arguments)
    except BaseException as error:
        code, message = _outcome(error)
        if code in (INTERRUPTED, TERMINATED) and arguments and arguments[0] not in _WITHOUT_FILES:
            message += "; no output file was left half written"
        if code is None:
            raise
        if message:
            _say(message)
        return code


def _outcome(error: BaseException) -> tuple[int | None, str]:
    """The exit code and the words for what ended a command; no code for what is a bug of ours."""
    code: int | None = None
    message = str(error)
    match error:
        case KeyboardInterrupt():
            code, message = INTERRUPTED, "interrupted"
        case Terminated():
            code, message = TERMINATED, "terminated"
        case ConfigError():
            code = WRONG_USE
        case InvariantError():
            code = FAILED
            message += "\nThis is a bug in stream_lsh: please report it with the command that led to it."
        case StreamLSHError():
            code = FAILED
        case OSError():
            code, message = FAILED, _sentence(error)
        case MemoryError():
            code, message = FAILED, "out of memory: divide the input; a document of 1 KB needs some 3 KB"
    return code, message


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        return _show(_help())
    if arguments[0] in ("-V", "--version"):
        return _show(f"stream-lsh {__version__}")
    name = arguments[0]
    if name not in COMMANDS:
        what = "option" if name.startswith("-") else "command"
        suggestion = resembling(name, [*COMMANDS, "--version", "--help"])
        hint = f": did you mean `{suggestion}`?" if suggestion else "."
        raise ConfigError(f"got the {what} {name!r}, expected a command{hint}\n`stream-lsh --help` lists them.")
    # OpenBLAS starts a thread per core when numpy is loaded; nothing here uses it, and threads do not mix with forks.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    code: int = import_module(f"stream_lsh.cli.commands.{name}").run(arguments[1:])
    return code


def _show(text: str) -> int:
    with Output(STDOUT) as out:
        out.write([text.encode()])
    return 0


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {summary}" for name, summary in COMMANDS.items()]
    return "\n".join(
        [
            "usage: stream-lsh COMMAND ...",
            "",
            "Near-duplicate documents and matching records, found while they stream through Kafka, or in files.",
            "",
            "commands:",
            *lines,
            "",
            "`stream-lsh COMMAND --help` tells what a command can do; `stream-lsh --version` which version this is.",
        ]
    )


def _sentence(error: OSError) -> str:
    """What went wrong with a file, without a traceback."""
    reason = error.strerror or str(error)
    where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
    return f"{where}{reason[:1].lower()}{reason[1:]}"


def _say(message: str) -> None:
    try:
        sys.stderr.write(f"stream-lsh: {message}\n")
        sys.stderr.flush()
    except OSError:  # nobody listens
        _point_nowhere(2)


def _point_nowhere(descriptor: int) -> None:
    """Keep the interpreter from failing once more when it flushes at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
