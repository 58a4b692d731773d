"""The formats of a vector in messages, tables and the Python API.

    cosine, euclidean     a list of numbers, or base64 of float32, little-endian
    hamming               a list of 0 and 1, a string of 0 and 1, or hexadecimal digits, each of which is four positions

A vector of another dimension, with an infinite value or NaN, or, for cosine, with zeros only, which has no direction,
is an `InputError` with the reason `vector`.
"""

import json
import math
import re
from binascii import Error, a2b_base64
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from stream_lsh.errors import MalformedMessage, UnusableDocument
from stream_lsh.kinds.vector.content import bits_of, bits_text, vector_text, vectors_of

_BITS = re.compile("[01]*")
_HEXADECIMAL = re.compile("[0-9A-Fa-f]*")


@dataclass(frozen=True, slots=True)
class VectorForm:
    """The form of vectors.

    Args:
        dimension: of every vector.
        measure: cosine, euclidean or hamming.
        reach: the greatest sum of the absolute values.

    Example:
        >>> VectorForm(2, "cosine").text([3, 4], "vector") == VectorForm(2, "cosine").text("AABAQAAAgEA=", "vector")
        True
        >>> written = "a1", "10100001", [1, 0, 1, 0, 0, 0, 0, 1]
        >>> {VectorForm(8, "hamming").text(one, "vector") for one in written}
        {'oQ=='}
    """

    dimension: int
    measure: str
    reach: float = math.inf

    field: ClassVar[str] = "vector"

    def text(self, value: Any, name: str) -> str:
        """The text of the vector.

        Args:
            value: as in messages, or an array.
            name: of the field, for errors.

        Raises:
            MalformedMessage, UnusableDocument: vector.
        """
        if value is None:
            raise MalformedMessage("vector", f"got no `{name}`, expected a vector of {self.dimension} values")
        if self.measure == "hamming":
            return bits_text(self._bits(value, name))
        return vector_text(self._numbers(value, name))

    def _numbers(self, value: Any, name: str) -> npt.NDArray[np.float32]:
        values = self._decoded(value, name) if isinstance(value, str) else self._listed(value, name)
        with np.errstate(over="ignore", under="ignore"):
            vector = np.asarray(values, np.float32)
        if not np.isfinite(vector).all():
            why = f"got a value in `{name}` that is infinite, not a number, or beyond float32, expected finite numbers"
            raise UnusableDocument("vector", why)
        if self.measure == "cosine" and not vector.any():
            raise UnusableDocument("vector", f"got only zeros as `{name}`, expected a vector with a direction")
        if np.abs(vector).sum(dtype=np.float64) > self.reach:
            why = f"got values in `{name}` that are too large for the `distance`, expected a sum up to {self.reach:.3g}"
            raise UnusableDocument("vector", why)
        return vector

    def _decoded(self, value: str, name: str) -> npt.NDArray[np.float32]:
        try:
            data = a2b_base64(value, strict_mode=True)
        except (Error, ValueError):
            problem = f"got a string as `{name}` that is not base64, expected float32, little-endian, in base64"
            raise MalformedMessage("vector", problem) from None
        self._check(len(data) / 4, name)
        return np.frombuffer(data, "<f4")

    def _listed(self, value: Any, name: str) -> npt.NDArray[np.generic]:
        if isinstance(value, np.ndarray):
            if value.dtype.kind not in "buif" or value.ndim != 1:
                why = f"got an array of {value.dtype} in {value.ndim} dimensions as `{name}`, expected numbers in one"
                raise MalformedMessage("vector", why)
            self._check(value.size, name)
            return value
        if not isinstance(value, list | tuple):
            why = f"got a value of type {type(value).__name__} as `{name}`, expected a list of numbers or a string"
            raise MalformedMessage("vector", why)
        wrong = [
            item
            for item in value
            if type(item) is not int and type(item) is not float and not isinstance(item, np.integer | np.floating)
        ]  # a bool is not accepted as a number
        if wrong:
            raise MalformedMessage("vector", f"got {wrong[0]!r:.60} in `{name}`, expected numbers")
        self._check(len(value), name)
        try:
            return np.array(value, np.float64)
        except OverflowError:
            raise UnusableDocument("vector", f"got a number in `{name}` that is beyond float32") from None

    def _bits(self, value: Any, name: str) -> npt.NDArray[np.uint8]:
        if isinstance(value, str):
            return self._written_bits(value, name)
        bits = self._listed(value, name)
        if not ((bits == 0) | (bits == 1)).all():
            raise UnusableDocument("vector", f"got a value in `{name}` that is neither 0 nor 1, expected only these")
        return bits.astype(np.uint8)

    def _written_bits(self, value: str, name: str) -> npt.NDArray[np.uint8]:
        if len(value) == self.dimension and _BITS.fullmatch(value):
            return np.frombuffer(value.encode(), np.uint8) - np.uint8(ord("0"))
        if 4 * len(value) == self.dimension and _HEXADECIMAL.fullmatch(value):
            packed = bytes.fromhex(value + "0" * (len(value) % 2))
            return np.unpackbits(np.frombuffer(packed, np.uint8), count=self.dimension)
        expected = f"{self.dimension} of 0 and 1"
        if self.dimension % 4 == 0:
            expected += f", or {self.dimension // 4} hexadecimal digits"
        raise UnusableDocument("vector", f"got a string of {len(value)} characters as `{name}`, expected {expected}")

    def _check(self, size: float, name: str) -> None:
        if size != self.dimension:
            raise UnusableDocument("vector", f"got {size:g} values as `{name}`, expected {self.dimension}")

    def value(self, text: str) -> str | list[float]:
        """The vector for a message: numbers, or a string of 0 and 1."""
        if self.measure == "hamming":
            return "".join(map(str, bits_of([text], self.dimension)[0].tolist()))
        vector: list[float] = vectors_of([text], self.dimension)[0].tolist()
        return vector

    def of_cell(self, cell: str) -> Any:
        """The vector in a cell of a table: a JSON list, numbers separated by blanks, or a format of messages."""
        stripped = cell.strip()
        if stripped.startswith("["):
            try:
                return json.loads(stripped)
            except (ValueError, RecursionError):
                raise MalformedMessage("vector", "got a cell that begins with [ and is no JSON list") from None
        if len(stripped.split()) < 2:
            return stripped
        try:
            return [float(number) for number in stripped.split()]
        except ValueError:
            raise MalformedMessage("vector", f"got {stripped!a:.60}, expected numbers") from None
