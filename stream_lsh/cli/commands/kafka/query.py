"""`stream-lsh query`: similar documents in a running stream, or a document by its id."""

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.options.query_api import add_query_api, client_of
from stream_lsh.cli.output.atomic_files import STDOUT
from stream_lsh.cli.output.terminal import Screen, plain
from stream_lsh.errors import ConfigError
from stream_lsh.files.inflate import STDIN_CLOSED

if TYPE_CHECKING:
    from stream_lsh.client.answers import Match, Similar, StoredDocument

VALUES = ("text", "record", "items", "vector")
"""The members of a query, one for each kind of data."""

_EPILOG = """\
examples:
  stream-lsh query article.txt --url http://127.0.0.1:6067 --pipeline news
  echo '["milk", "bread"]' | stream-lsh query - --value items --url http://127.0.0.1:6067 --pipeline baskets
  stream-lsh query --id herald-7 --url http://127.0.0.1:6067 --pipeline news --json

The worker needs the key `ask` in [worker].  The query stores nothing.
With --value, the file contains JSON: the fields of a record, the items of a set, or a vector.
The output has a line for each match, best first: its similarity (for records the probability) and its id, and for
vectors the distance.
Exit code 1: no worker can answer now, or the id does not exist; 2: a wrong option, file, URL, token or pipeline.
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    if (options.file is None) == (options.id is None):
        raise ConfigError("expected either a file (- for standard input) or --id")
    import msgspec  # noqa: PLC0415 - loads longer than `--help` takes

    with client_of(options) as client, closing(Screen()) as screen:
        answer: Similar | StoredDocument
        if options.id is not None:
            answer = client.document(options.id, limit=min(options.limit, 500))
            lines = _document_lines(answer)
        else:
            value = {options.value: _value(options)}
            answer = client.similar(**value, limit=options.limit, threshold=options.threshold)
            lines = map(_line, answer.matches)
        if options.json:
            screen.line(msgspec.json.encode(answer).decode())
        else:
            for line in lines:
                screen.line(plain(line))
        screen.finish()
    return 0


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "query",
        "Ask a running stream for documents similar to a file, or for one document.",
        _EPILOG,
        first=("url", "pipeline", "id", "value", "json"),
    )
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE", help="a text, or JSON with --value; - for standard input")
    add_query_api(parser)
    add("--id", metavar="ID", help="instead of a file: the document with this id, its cluster and its matches")
    add("--value", choices=VALUES, default=VALUES[0], help="the kind of data in the file (default %(default)s)")
    add("--limit", type=int, default=20, metavar="N", help="the maximum number of matches (default %(default)s)")
    add("--threshold", type=float, metavar="S", help="minimum similarity; at least the threshold of the pipeline")
    add("--json", action="store_true", help="print the answer of the worker as one JSON object")
    return parser


def _value(options: Namespace) -> Any:
    if options.file == STDOUT and sys.stdin is None:
        raise ConfigError(STDIN_CLOSED)
    try:
        data = sys.stdin.buffer.read() if options.file == STDOUT else Path(options.file).read_bytes()
        text = data.decode()
    except FileNotFoundError:
        raise ConfigError(f"{options.file}: there is no such file or folder") from None
    except IsADirectoryError:
        raise ConfigError(f"{options.file}: is a folder, expected a file") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{options.file}: got bytes that are not UTF-8, expected a text") from None
    if options.value == VALUES[0]:
        return text
    import msgspec  # noqa: PLC0415 - loads longer than `--help` takes

    try:
        return msgspec.json.decode(data)
    except msgspec.MsgspecError as error:
        raise ConfigError(
            f"{options.file}: got invalid JSON ({error}), expected a value for --value {options.value}"
        ) from None


def _line(match: "Match") -> str:
    """A match of any kind of data."""
    figure = match.similarity if match.probability is None else match.probability
    distance = "" if match.distance is None else f"  distance {match.distance:.6g}"
    return f"{figure or 0:.4f}  {match.id}{distance}{'  for review' if match.review else ''}"


def _document_lines(document: "StoredDocument") -> Iterator[str]:
    state = "live" if document.live else "deleted or expired"
    yield f"{document.id}: {state}, {f'cluster {document.cluster}' if document.cluster else 'in no cluster'}"
    for pair in document.matches:
        yield f"{pair.similarity:.4f}  {pair.right if pair.left == document.id else pair.left}"
