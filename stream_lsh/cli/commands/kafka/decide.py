"""`stream-lsh decide`: a human decision on two records of a running stream."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from stream_lsh.cli.options.parser import Parser
from stream_lsh.cli.options.query_api import add_query_api, client_of
from stream_lsh.cli.output.atomic_files import report_lines
from stream_lsh.cli.output.terminal import Screen, plain
from stream_lsh.errors import NotAvailable, UnknownId

if TYPE_CHECKING:
    from stream_lsh.client.answers import Decided
    from stream_lsh.client.synchronous import Client

UNDO = "undo"
DECISIONS = {"same": "same", "different": "different", UNDO: None}
"""The arguments, with the decisions of the query API."""
_WAIT_SECONDS = 2.0

_EPILOG = """\
examples:
  stream-lsh decide crm-17 crm-40 different --by ben --url http://127.0.0.1:6067 --pipeline customers
  stream-lsh decide crm-17 crm-40 undo --url http://127.0.0.1:6067 --pipeline customers

same: the records belong to one entity, once they were scored as a match or for review.
different: they never share an entity, even if other records connect them.
undo: withdraw the latest decision; the score of the pair applies again.
A decision may precede its records and its pair; the command notes what is missing.
The worker needs the key `ask` in [worker].  The command waits up to two seconds until the decision is in effect.
Exit code 1: no worker can answer now; 2: a wrong option, URL, token or pipeline.
"""


def run(arguments: Sequence[str]) -> int:
    """The command; returns its exit code."""
    options = make_parser().parse(arguments)
    notes = {name: text for name, text in (("by", options.by), ("note", options.note)) if text is not None}
    with client_of(options) as client, closing(Screen()) as screen:
        decided = client.decide(options.one, options.other, DECISIONS[options.decision], wait=_WAIT_SECONDS, **notes)
        effect = "in effect" if decided.in_effect else "stored, takes effect soon"
        screen.line(plain(f"{decided.left} ~ {decided.right}: {options.decision}, {effect}"))
        screen.finish()
        report_lines(plain(f"note: {note}") for note in _notes(client, decided))
    return 0


def _notes(client: "Client", decided: "Decided") -> Iterator[str]:
    """The missing records or pair that a decision waits for.

    A worker that does not answer now is no reason to fail, as the decision is stored.
    """
    is_unknown = False
    try:
        for id in (decided.left, decided.right):
            try:
                client.document(id, limit=1)
            except UnknownId:
                is_unknown = True
                yield f"no record has the id {id}: the decision is kept until one does"
        if not is_unknown and decided.decision == "same" and not client.pair(decided.left, decided.right).pair:
            yield "the two records are neither a match nor a pair for review: the decision is kept until they are"
    except (NotAvailable, UnknownId):
        return


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "decide",
        "Decide that two records of a running stream are the same, or different.",
        _EPILOG,
        first=("url", "pipeline", "by", "note"),
    )
    add = parser.add_argument
    add("one", metavar="A", help="the id of a record")
    add("other", metavar="B", help="the id of the other record")
    add("decision", choices=[*DECISIONS], help="the decision; undo withdraws the latest one")
    add_query_api(parser)
    add("--by", metavar="NAME", help="the author of the decision, stored with it")
    add("--note", metavar="TEXT", help="the reason, stored with it")
    return parser
