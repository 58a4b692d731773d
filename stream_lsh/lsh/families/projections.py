"""Projections of vectors on random directions that are independent of the batch, bit by bit.

A matrix product in floating point rounds, and its order of additions depends on its shape: the linear algebra library
processes a single vector differently from the same vector in a batch.  Near the border between two values of a hash
function the last bit decides, so a document would get other buckets in a batch of its own.

Hence both sides are first rounded to whole numbers, directions once and each vector to its own scale, so small that
every partial sum of their products stays below 2^53: then no order of additions rounds, and the fastest matrix product
is exact.  If needed, a second product adds the rounding errors of the vectors.

Reference: Ozaki, Ogita, Oishi and Rump, Error-free transformations of matrix multiplication, 2012; this is the case of
one or two slices.
"""

import numpy as np

from stream_lsh.arrays import F64, I64
from stream_lsh.errors import UnusableDocument
from stream_lsh.lsh.families.functions import Items, check_columns

_EXACT = 52  # bits: whole numbers up to 2^53, one for rounding up
_LARGEST = 1000  # the greatest power of two of a finite factor


class Directions:
    """Computes the projections of vectors on fixed directions.

    Args:
        directions: float64[count, dimension].
        bits: of a component of the directions, before and after the point.
        slices: the number of slices of a vector; each has the bits that the products leave, 22 for 1,024 dimensions.

    Guarantees:
        the projections of a vector depend on the vector and the directions alone, not on the batch.
    Cost:
        a product of float64 matrices for each slice, and a few passes over the vectors: several times a plain product.
    """

    def __init__(self, directions: F64, bits: tuple[int, int], slices: int) -> None:
        self.dimension = directions.shape[1]
        self._slices = slices
        self._fraction = bits[1]
        self._columns = np.ascontiguousarray(np.rint(np.ldexp(directions, bits[1])).T)
        self._bits = _EXACT - sum(bits) - max(1, (self.dimension - 1).bit_length())

    def relative(self, name: str, items: Items) -> tuple[F64, I64]:
        """The projections, each row divided by a power of two, and the exponents of these: float64[n, count], int64[n].

        A vector's own power makes its largest component 1/2 to 1, so that nothing overflows.

        Args:
            name: of the family, for messages.
            items: numbers [n, dimension].

        Raises:
            UnusableDocument: a vector has a component that is not finite -> reject it.
        """
        check_columns(name, items, self.dimension)
        vectors = np.asarray(items, np.float64)
        largest = np.abs(vectors).max(axis=1, initial=0.0)
        wrong = np.flatnonzero(~np.isfinite(largest))
        if wrong.size:
            raise UnusableDocument(
                "vector", f"{name}: vector {wrong[0]} of the batch has a component that is not finite"
            )
        exponents = np.frexp(largest)[1].astype(np.int64)
        powers = self._bits - exponents
        rest = vectors * np.ldexp(1.0, np.minimum(powers, _LARGEST))[:, None]
        if (powers > _LARGEST).any():
            rest *= np.ldexp(1.0, np.maximum(powers - _LARGEST, 0))[:, None]
        products = np.zeros((len(vectors), self._columns.shape[1]))
        for cut in range(1, self._slices + 1):
            whole = np.rint(rest)
            product = whole @ self._columns
            product *= 2.0 ** -(cut * self._bits + self._fraction)
            products += product
            if cut < self._slices:
                rest -= whole
                rest *= 2.0**self._bits
        return products, exponents

    def __call__(self, name: str, items: Items) -> F64:
        """The projections, float64[n, count]; infinite if they overflow."""
        products, exponents = self.relative(name, items)
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(products, exponents[:, None]), np.float64)
