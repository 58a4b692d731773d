"""All pairs in three rounds of map and reduce, as queries.

    1   map each document to (element, document), reduce by element          the posting list of every element
    2   map each list to the pairs in it, reduce by pair                     how many elements a pair shares
    3   map each pair to its similarity, keep what reaches the threshold     the answer

A list of n documents has n (n - 1) / 2 pairs, so frequent elements would make round 2 quadratic.  It omits what cannot
be in the result: elements of one document only; pairs whose sizes exclude the threshold; and pairs that share none of
their rarest elements.  If a partner has to share at least a of the n elements of a set, the n - a + 1 rarest ones
suffice: a pair that shares none of these shares at most a - 1 (the prefix filter).  So round 2 first collects the pairs
that share such an element, and then counts all elements that they share.

Reference: Elsayed, Lin and Oard, Pairwise document similarity in large collections with MapReduce, 2008; Chaudhuri,
Ganti and Kaushik, A primitive operator for similarity joins in data cleaning, 2006; Vernica, Carey and Li, Efficient
parallel set-similarity joins using MapReduce, 2010.
"""

from typing import NamedTuple

from stream_lsh.measure.catalog import Measure
from stream_lsh.measure.containment import Containment

TABLES = """
CREATE TABLE elements (element UBIGINT, taken UINTEGER);
CREATE TABLE documents (taken UINTEGER, document UINTEGER, size UINTEGER, looked_at UINTEGER);
"""
"""The elements of documents in the order of arrival; and for each current document its position in the order of ids,
its size, and the length of its prefix: the number of its rarest elements that are compared."""

SYMBOLS = """
CREATE TABLE symbols AS
SELECT element, (row_number() OVER (ORDER BY count(*), element))::UINTEGER AS symbol
FROM elements SEMI JOIN documents USING (taken)
GROUP BY element
HAVING count(*) > 1
"""
"""Round 1, the lists by their lengths: elements numbered from the rarest on, without those of a single document."""

POSTINGS = """
CREATE TABLE postings AS
SELECT document, symbol
FROM elements JOIN documents USING (taken) JOIN symbols USING (element);
DROP TABLE elements;
DROP TABLE symbols;
"""
"""Round 1, the lists themselves; the other tables are no longer needed."""

RAREST = """
CREATE TABLE rarest AS
SELECT document, symbol, size
FROM (
    SELECT document, symbol, size, looked_at,
        -- elements without a list are the rarest of all, and come before
        size - count(*) OVER (PARTITION BY document)
            + row_number() OVER (PARTITION BY document ORDER BY symbol) AS place
    FROM postings JOIN documents USING (document)
)
WHERE place <= looked_at
"""
"""Round 2, the prefixes: every pair has to share one of these elements."""

PAIR_COUNTS = """
SELECT document, sum(documents)::BIGINT AS work
FROM rarest JOIN (SELECT symbol, count(*) AS documents FROM rarest GROUP BY symbol) USING (symbol)
GROUP BY document
ORDER BY document
"""
"""An upper bound of the rows of each document as the left one of a pair."""

CANDIDATES = """
CREATE OR REPLACE TABLE met AS
SELECT DISTINCT one.document AS one, other.document AS other
FROM rarest AS one JOIN rarest AS other USING (symbol)
WHERE one.document BETWEEN $first AND $last
    AND one.document < other.document
    AND {sizes}
"""
"""Round 2, the pairs of some left documents that share an element of their prefixes."""

COUNTS = """
SELECT one AS document, sum(size)::BIGINT AS work
FROM met JOIN documents ON document = one
GROUP BY one
ORDER BY one
"""
"""The number of rows for counting the shared elements of the pairs of each left document."""

PAIRS = """
WITH counted AS (
    SELECT met.one, met.other, count(*)::INTEGER AS shared
    FROM met
        JOIN postings AS mine ON mine.document = met.one
        JOIN postings AS its ON its.document = met.other AND its.symbol = mine.symbol
    WHERE met.one BETWEEN $first AND $last
    GROUP BY met.one, met.other
)
SELECT counted.one, counted.other, shared, one.size::INTEGER AS size, other.size::INTEGER AS other_size,
    {similarity} AS similarity
FROM counted
    JOIN documents AS one ON one.document = counted.one
    JOIN documents AS other ON other.document = counted.other
WHERE {similarity} >= $threshold
ORDER BY counted.one, counted.other
"""
"""Round 2, the counting, and round 3."""


class Terms(NamedTuple):
    """A measure in SQL.

    Attributes:
        similarity: of `shared` elements of the sizes `one.size` and `other.size`; one division, as in the measure.
        sizes: whether these sizes can reach the threshold.
        values: the parameters of `sizes`.
        least: times the threshold, the minimum share of its elements that a set has in common with any match.
    """

    similarity: str
    sizes: str
    values: dict[str, float]
    least: float


def terms_of(measure: Measure, threshold: float) -> Terms:
    """The measure `jaccard` or `containment` in SQL.

    Example:
        >>> from stream_lsh.measure.catalog import JACCARD
        >>> terms_of(JACCARD, 0.8).values, terms_of(Containment(4.0), 0.8).least
        ({'bound': 0.8}, 0.25)
    """
    least, greatest = "least(one.size, other.size)", "greatest(one.size, other.size)"
    if isinstance(measure, Containment):
        # The larger set has size_ratio times as many elements at most.
        ratio = float(measure.size_ratio)
        return Terms(f"shared / {least}", f"{greatest} / {least} <= $bound", {"bound": ratio}, 1 / ratio)
    union = "(one.size + other.size - shared)"
    return Terms(f"shared / {union}", f"{least} / {greatest} >= $bound", {"bound": threshold}, 1.0)
