"""Files of sets: JSON lines with a set each, and tables with an item or with a set in each row.

.jsonl  .ndjson  .json       {"id": ..., "items": [...]} per line
.csv  .tsv  .tab             a header, then a row for each item of a set; rows of one id in all tables form a set;
                             with --separator a set per row, its items in one column
"""

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from stream_lsh.errors import MalformedMessage, UnusableDocument
from stream_lsh.files.chunks import Part
from stream_lsh.files.discover import Input
from stream_lsh.files.lines import check_columns
from stream_lsh.files.rows import ROWS, RowChunk, cell_reader, row_chunks
from stream_lsh.kinds.set.messages import ItemsForm
from stream_lsh.kinds.single_field_files import read_lines
from stream_lsh.model import Document
from stream_lsh.wire.ids import checked_id

T = TypeVar("T")


def read_sets(inputs: Sequence[Input], options: Namespace, form: ItemsForm) -> Iterator[Part]:
    """The sets of all files, as documents; sets with a row for each item come last.

    Raises:
        ConfigError, InputError, OSError: a file cannot be read at all.
    """
    by_id: dict[str, list[str | int]] = {}
    before = 0
    for file in inputs:
        if file.holds_json or file.columnar:
            chunks = read_lines(file, options, form, options.item_column, "--item-column")
        elif options.separator is None:
            chunks = _rows_of_items(file, options, form, by_id)
        else:
            chunks = _rows_of_sets(file, options, form)
        for part in chunks:
            yield part._replace(position=before + part.position)
        before += file.size
    together = list(by_id.items())
    for start in range(0, len(together), ROWS):
        some = together[start : start + ROWS]
        yield Part([Document(id, form.text(items, "items")) for id, items in some], [], before)


def _rows_of_items(
    file: Input, options: Namespace, form: ItemsForm, by_id: dict[str, list[str | int]]
) -> Iterator[Part]:
    """The rejected rows; adds the items of the accepted rows to `by_id`."""
    items: dict[str | int, str | int] = {}  # equal items share one object

    def take(id: str, cell: str) -> None:
        if not cell:
            raise UnusableDocument("items", f"got no item of {ascii(id)[:60]}, expected one")
        item = _item(cell, form)
        form.text([item], "items")
        by_id.setdefault(checked_id(id), []).append(items.setdefault(item, item))

    for chunk in _chunks(file, options, "item", take):
        yield Part([], chunk.refused, chunk.position)


def _rows_of_sets(file: Input, options: Namespace, form: ItemsForm) -> Iterator[Part]:
    def document(id: str, cell: str) -> Document:
        pieces = (piece.strip() for piece in cell.split(options.separator))
        items = [_item(piece, form) for piece in pieces if piece]
        return Document(checked_id(id), form.text(items, "items"))

    for chunk in _chunks(file, options, "items", document):
        yield Part(chunk.values, chunk.refused, chunk.position)


def _item(cell: str, form: ItemsForm) -> str | int:
    if not form.squares:
        return cell
    try:
        return int(cell)
    except ValueError:
        raise MalformedMessage("items", f"got {ascii(cell)[:60]}, expected a square, a whole number") from None


def _chunks(file: Input, options: Namespace, column: str, read: Callable[[str, str], T]) -> Iterator[RowChunk[T]]:
    """Read the cells of the id and of the items in each row."""
    column = options.item_column or column

    def columns_of(header: list[str]) -> list[int]:
        check_columns(file.path, header, {options.id_column: "--id-column", column: "--item-column"})
        return [header.index(options.id_column), header.index(column)]

    limit = options.max_bytes
    return row_chunks(file, cell_reader(columns_of, limit, read), limit)
