"""Files of vectors: JSON lines with a vector each, tables with a vector in each row, NumPy arrays.

.jsonl  .ndjson  .json       {"id": ..., "vector": ...} per line
.csv  .tsv  .tab             a header, then a vector per row: in one column, or one value in each column except the id
.npy                         a vector per row; ids are the row numbers, from 0 on
"""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stream_lsh.errors import ConfigError, InputError, MalformedMessage
from stream_lsh.files.chunks import Part, Refused
from stream_lsh.files.discover import ARRAY, Input
from stream_lsh.files.lines import check_columns
from stream_lsh.files.rows import ROWS, cell_reader, row_chunks
from stream_lsh.kinds.single_field_files import read_lines
from stream_lsh.kinds.vector.messages import VectorForm
from stream_lsh.kinds.vector.metric import HAMMING, VectorMeasure
from stream_lsh.model import Document
from stream_lsh.settings.problems import problems_as_options
from stream_lsh.wire.ids import checked_id

_OPTIONS = {"distance": "--within", "line_width": "--width", "dimension": "--dimension", "measure": "--measure"}


class FirstForm:
    """The form of vectors whose dimension is given by an option or by the first vector.

    Args:
        options: of the command.

    Attributes:
        measure: of the vectors; None until the dimension is known.

    Raises:
        ConfigError: invalid settings.
    """

    field = "vector"

    def __init__(self, options: Namespace) -> None:
        self._options = options
        self.measure: VectorMeasure | None = None
        self._form: VectorForm | None = None
        if options.dimension:
            self._fix(options.dimension)
        else:
            self._measure_of(1 << 16)

    def _measure_of(self, dimension: int) -> VectorMeasure:
        options = self._options
        with problems_as_options(_OPTIONS):
            return VectorMeasure(
                name=options.measure, dimension=dimension, distance=options.within, line_width=options.width
            )

    def _fix(self, dimension: int) -> VectorForm:
        self.measure = self._measure_of(dimension)
        self._form = VectorForm(dimension, self.measure.name, self.measure.reach)
        return self._form

    def text(self, value: Any, name: str) -> str:
        """The text of a vector; the first valid one sets the dimension of all.

        Raises:
            InputError: as `VectorForm`.
            ConfigError: the first vector has fewer positions than --within.
        """
        form = self._form
        if form is None:
            dimension = max(1, _dimension(value, self._options.measure))
            VectorForm(dimension, self._options.measure).text(value, name)
            form = self._fix(dimension)
        return form.text(value, name)

    def value(self, text: str) -> npt.NDArray[np.generic] | str:
        """The vector in the form that the library accepts with the least conversion."""
        if self.measure is not None and self.measure.name == HAMMING:
            return np.asarray(self.measure.vectors([text])[0])
        return text

    def of_cell(self, cell: str) -> Any:
        """The vector in a cell of a table."""
        if self._options.measure != HAMMING:
            try:
                return [float(cell)]
            except ValueError:  # several numbers, or base64
                pass
        return VectorForm(1, self._options.measure).of_cell(cell)


def _dimension(value: Any, measure: str) -> int:
    """The dimension of a vector; any number for an invalid one."""
    if isinstance(value, str):
        if measure != HAMMING:
            return (len(value) * 3 // 4 - value.count("=")) // 4
        return len(value) if set(value) <= set("01") else 4 * len(value)
    return len(value) if isinstance(value, list | tuple | np.ndarray) else 0


def read_vectors(inputs: Sequence[Input], options: Namespace, form: FirstForm) -> Iterator[Part]:
    """The vectors of all files, in order, as documents.

    Raises:
        ConfigError, InputError, OSError: a file cannot be read at all.
    """
    before = 0
    for file in inputs:
        if file.format == ARRAY:
            chunks = _array(file, form)
        elif file.holds_json or file.columnar:
            chunks = read_lines(file, options, form, options.vector_column, "--vector-column")
        else:
            chunks = _table(file, options, form)
        for part in chunks:
            yield part._replace(position=before + part.position)
        before += file.size


def _table(file: Input, options: Namespace, form: FirstForm) -> Iterator[Part]:
    names: list[str] = []

    def columns_of(header: list[str]) -> list[int]:
        columns = _columns(file, header, options)
        names.extend(header[place] for place in columns)
        return [header.index(options.id_column), *columns]

    def document(id: str, *numbers: str) -> Document:
        whole = options.vector_column is not None or len(names) == 1
        vector = form.of_cell(numbers[0]) if whole else _numbers(numbers, names)
        return Document(checked_id(id), form.text(vector, "vector"))

    limit = options.max_bytes
    for chunk in row_chunks(file, cell_reader(columns_of, limit, document), limit):
        yield Part(chunk.values, chunk.refused, chunk.position)


def _columns(file: Input, header: Sequence[str], options: Namespace) -> list[int]:
    """The indices of the columns of the vector."""
    wanted = {options.id_column: "--id-column"}
    if options.vector_column is not None:
        wanted[options.vector_column] = "--vector-column"
    check_columns(file.path, header, wanted)
    if options.vector_column is not None:
        return [header.index(options.vector_column)]
    id = header.index(options.id_column)
    columns = [place for place in range(len(header)) if place != id]
    if not columns:
        raise ConfigError(f"{file.path}: got no column but {options.id_column!r}, expected those of the vectors")
    return columns


def _numbers(cells: Sequence[str], names: Sequence[str]) -> list[float]:
    numbers = []
    for cell, name in zip(cells, names, strict=True):
        try:
            numbers.append(float(cell))
        except ValueError:
            problem = f"got {ascii(cell)[:60]} in the column {name!r}, expected a number"
            raise MalformedMessage("vector", problem) from None
    return numbers


def _array(file: Input, form: FirstForm) -> Iterator[Part]:
    try:
        array = np.load(file.path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError):
        problem = "is no array of numbers as numpy.save writes them, or truncated"
        raise MalformedMessage(ARRAY, f"{file.path}: {problem}") from None
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "buif":
        what = f"the shape {array.shape} of {array.dtype}" if isinstance(array, np.ndarray) else "several arrays"
        raise MalformedMessage(ARRAY, f"{file.path}: got {what}, expected an array of numbers with a row per vector")
    for start in range(0, len(array), ROWS):
        documents, refused = [], []
        for number, row in enumerate(np.asarray(array[start : start + ROWS]), start):
            try:
                documents.append(Document(str(number), form.text(row, "vector")))
            except InputError as error:
                refused.append(Refused(file.path, number, error.reason, str(error)))
        yield Part(documents, refused, min(file.size, array.itemsize * array.shape[1] * (start + ROWS)))
