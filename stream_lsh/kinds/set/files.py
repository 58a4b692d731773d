"""Files of sets: JSON lines with a set each, and tables with an item or with a set in each row.

.jsonl  .ndjson  .json       {"id": ..., "items": [...]} per line
.csv  .tsv  .tab             a header, then a row for each item of a set; all tables together are put together
                             with --separator a set per row, its items in one column
"""

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence

from stream_lsh.errors import InputError, MalformedMessage, UnusableDocument
from stream_lsh.files.chunks import Part, Refused
from stream_lsh.files.discover import Input
from stream_lsh.files.lines import cells, check_columns, header_of, table_rows
from stream_lsh.kinds.set.messages import ItemsForm
from stream_lsh.kinds.single_field_files import read_lines
from stream_lsh.model import Document
from stream_lsh.wire.ids import checked_id

_ROWS = 256


def read_sets(inputs: Sequence[Input], options: Namespace, form: ItemsForm) -> Iterator[Part]:
    """The sets of all files, as the steps take them; those whose items come one by one at the end.

    Raises:
        ConfigError, InputError, OSError: a file cannot be read as a whole.
    """
    by_id: dict[str, list[str | int]] = {}
    before = 0
    for one in inputs:
        if one.format == "jsonl":
            found = read_lines(one, options, form, options.item_column)
        elif options.separator is None:
            found = _rows_of_items(one, options, form, by_id)
        else:
            found = _rows_of_sets(one, options, form)
        for part in found:
            yield part._replace(position=before + part.position)
        before += one.size
    together = list(by_id.items())
    for start in range(0, len(together), _ROWS):
        some = together[start : start + _ROWS]
        yield Part([Document(id, form.text(items, "items")) for id, items in some], [], before)


def _rows_of_items(
    one: Input, options: Namespace, form: ItemsForm, by_id: dict[str, list[str | int]]
) -> Iterator[Part]:
    """What was put aside; the others are added to `by_id`."""
    items: dict[str | int, str | int] = {}  # one object for equal ones

    def take(id: str, cell: str) -> None:
        if not cell:
            raise UnusableDocument("items", f"got no item of {ascii(id)[:60]}, expected one")
        found = _item(cell, form)
        form.text([found], "items")
        by_id.setdefault(checked_id(id), []).append(items.setdefault(found, found))

    for refused, position in _rows(one, options, "item", take):
        yield Part([], refused, position)


def _rows_of_sets(one: Input, options: Namespace, form: ItemsForm) -> Iterator[Part]:
    documents: list[Document] = []

    def take(id: str, cell: str) -> None:
        pieces = (piece.strip() for piece in cell.split(options.separator))
        items = [_item(piece, form) for piece in pieces if piece]
        documents.append(Document(checked_id(id), form.text(items, "items")))

    for refused, position in _rows(one, options, "items", take):
        yield Part([*documents], refused, position)
        documents.clear()


def _item(cell: str, form: ItemsForm) -> str | int:
    if not form.squares:
        return cell
    try:
        return int(cell)
    except ValueError:
        raise MalformedMessage("items", f"got {ascii(cell)[:60]}, expected a square, a whole number") from None


def _rows(
    one: Input, options: Namespace, column: str, take: Callable[[str, str], None]
) -> Iterator[tuple[list[Refused], int]]:
    """Have the cells of all rows taken; from time to time what was put aside, and how many bytes were read."""
    position = [0]
    rows = table_rows(one.path, one.format, position, max_bytes=options.max_document_bytes)
    header = header_of(one.path, rows)
    if not header:
        return
    wanted = {options.id_column: "--id-column", options.item_column or column: "--item-column"}
    check_columns(one.path, header, wanted)
    at = [header.index(options.id_column), header.index(options.item_column or column)]
    refused: list[Refused] = []
    for number, (row, line) in enumerate(rows, 1):
        if row == []:
            continue
        try:
            take(*cells(row, len(header), at, options.max_document_bytes))
        except InputError as error:
            refused.append(Refused(one.path, line, error.reason, str(error)))
        if number % _ROWS == 0:
            yield refused, position[0]
            refused = []
    yield refused, position[0]
