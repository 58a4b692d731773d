"""What is known of a kind of records, as values; `kinds.record.profiles` reads and writes the file.

What is made by hand has not been checked: `problems` says what does not fit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

LINKS = ("dedupe", "link", "both")
"""dedupe: one source, or sources that are taken for one; link: only records of different sources; both: any two."""
KEEPS = ("most-frequent", "most-recent", "longest", "first", "source-priority")
"""Which value of a field stands for all records of one thing; `survivorship` says what each of them is."""

ID_COLUMNS = ("id", "rec_id", "record_id", "unique_id")
SOURCE_COLUMNS = ("source", "data_source", "source_dataset")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of the profile.

    Attributes:
        name: what comparisons and blocking rules call it.
        type: out of `standardise.catalog.TYPES`.
        columns: the names that files have for it; the first one in which a record has a value counts.
        order: of dates that can be read in two ways, `mdy` or `dmy`.
        of: fields whose values, one after the other, stand in where a record has no value of its own.
        part: with `of`, only the `last` word of that, or the `first` ones, which are all the others.
        keep: out of KEEPS: whose value the golden record has.
    """

    name: str
    type: str = "text"
    columns: tuple[str, ...] = ()
    order: str = "mdy"
    of: tuple[str, ...] = ()
    part: str = ""
    keep: str = "most-frequent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How two values of a field are compared, and what each level is worth.

    Attributes:
        field: its name.
        comparator: out of `compare.catalog.COMPARATORS`.
        levels: where the comparator cuts; none: its usual ones.
        term_frequency: rare values weigh more than frequent ones when they are equal.
        m: the probability of each level among matches; none: not learned yet.
        u: the same among all other pairs.
        weight: what the field counts for as long as nothing was learned.
    """

    field: str
    comparator: str
    levels: tuple[float, ...] = ()
    term_frequency: bool = False
    m: tuple[float, ...] = ()
    u: tuple[float, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LshBlocking:
    """Blocking by shingles of some fields.

    Attributes:
        fields: their names.
        shingles: such as `char:3` or `word:1`.
        threshold: Jaccard similarity of the shingles from which pairs are to be found.
        recall: the probability that a pair at the threshold is found.
    """

    fields: tuple[str, ...]
    shingles: str = "char:3"
    threshold: float = 0.5
    recall: float = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A kind of records.

    Attributes:
        name: of the kind.
        fields: in the order in which a record's values are kept.
        comparisons: in the order in which the weights of a pair are told.
        rules: blocking rules, as `block.rules` has them.
        lsh: LSH blocking.
        id_columns: the names that files have for the id.
        source_columns: likewise for the source.
        source_priority: sources in the order in which they are believed, for fields that keep by `source-priority`.
        link: out of LINKS.
        one_to_one: sources have no duplicates: of the matches of a record with a source only the best counts.
        match: the probability from which a pair is a match.
        review: the probability from which somebody should look at a pair that is none.
        bridge: the probability from which a single pair may hold two groups of two or more together; 0: any match.
        prior: the probability that two records taken at random are a match; None: not learned yet.
        missing: texts that stand for no value, beside the usual ones.
        smoothing: records that the expected frequency of a value counts for against those that were seen
            (`frequencies`); the fewer, the sooner a value that many share weighs little.
    """

    name: str
    fields: tuple[Field, ...]
    comparisons: tuple[Comparison, ...]
    rules: tuple[str, ...] = ()
    lsh: tuple[LshBlocking, ...] = ()
    id_columns: tuple[str, ...] = ID_COLUMNS
    source_columns: tuple[str, ...] = SOURCE_COLUMNS
    source_priority: tuple[str, ...] = ()
    link: str = "both"
    one_to_one: bool = False
    match: float = 0.5
    review: float = 0.1
    bridge: float = 0.999
    prior: float | None = None
    missing: tuple[str, ...] = ()
    smoothing: float = 1000.0

    @property
    def learned(self) -> bool:
        """Whether the profile says what each level is worth."""
        return self.prior is not None and all(comparison.m and comparison.u for comparison in self.comparisons)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return tuple(field.name for field in self.fields)


def folded(column: str) -> str:
    """A column's name as it is looked up: neither case nor what parts words matters.

    Example:
        >>> folded("Given Name"), folded("given_name"), folded("GIVEN-NAME")
        ('givenname', 'givenname', 'givenname')
    """
    return "".join(filter(str.isalnum, column.casefold()))


def column_of(names: Sequence[str], columns: Sequence[str]) -> str | None:
    """The first column of a file that is called by one of some names; None where none is.

    Example:
        >>> column_of(("id", "rec_id"), ["Name", "REC ID"])
        'REC ID'
    """
    by_name = {folded(column): column for column in reversed(columns)}
    return next((by_name[folded(name)] for name in names if folded(name) in by_name), None)
