"""The file of labels that `review` writes and `train` reads: left, right, match."""

import csv
import io
import os
from typing import NamedTuple

from stream_lsh.cli.output.atomic_files import Output
from stream_lsh.errors import ConfigError
from stream_lsh.files.lines import table_rows

HEADER = ("left", "right", "match")


class Label(NamedTuple):
    """The ids of two records, and the answer as the file has it."""

    left: str
    right: str
    match: str


class LabelFile:
    """The labels of a file, which need not exist yet.

    Args:
        path: of the file.
        encoding: of its ids.

    Attributes:
        labels: in the order of the file; `save` writes them.

    Raises:
        ConfigError: the file has other columns, or a row that is not one of labels.
    """

    def __init__(self, path: str, encoding: str = "utf-8") -> None:
        self._path, self._encoding = path, encoding
        self.labels: list[Label] = []
        if not os.path.exists(path) or not os.path.getsize(path):
            return
        (header, _), *rows = table_rows(path, "csv", [0], encoding=encoding, skip_space=True)
        if not isinstance(header, list) or tuple(header) != HEADER:
            raise ConfigError(f"{path}: got another header, expected {','.join(HEADER)}: labels of this command")
        for row, line in rows:
            if not isinstance(row, list) or len(row) not in (0, len(HEADER)):
                raise ConfigError(f"{path}:{line}: got a row that is no label, expected {','.join(HEADER)}")
            if row:
                self.labels.append(Label(*row))

    def save(self) -> None:
        """Write all labels; the file is complete at any time.

        Raises:
            ConfigError, OSError: it cannot be written.
        """
        output = Output(self._path)
        try:
            output.write(map(self._line, (HEADER, *self.labels)))
            output.finish()
        finally:
            output.close()

    def _line(self, cells: tuple[str, ...]) -> bytes:
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow(cells)
        try:
            return text.getvalue().encode(self._encoding)
        except UnicodeEncodeError as error:
            raise ConfigError(f"{self._path}: got an id that {self._encoding} cannot represent: {error}") from None
