"""The classes of a profile; `kinds.record.profiles` reads and writes its file.

The constructors do not validate: `records.check.problems` reports the inconsistencies of a profile.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import category, normalize

LINKS = ("dedupe", "link", "both")
"""dedupe: one source, or sources treated as one; link: only records of different sources; both: any two."""
ORDERS = ("mdy", "dmy")
"""The orders of ambiguous dates."""
PARTS = ("first", "last")
"""The parts of the joined values of other fields."""
KEEPS = ("most-frequent", "most-recent", "longest", "first", "source-priority")
"""The rules by which golden records keep a value of a field; `survivorship` defines them."""

ID_COLUMNS = ("id", "rec_id", "record_id", "unique_id")
SOURCE_COLUMNS = ("source", "data_source", "source_dataset")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of the profile.

    Attributes:
        name: in comparisons and blocking rules.
        type: one of `standardise.catalog.TYPES`.
        columns: its names in files; the first one with a value in a record counts.
        order: one of ORDERS.
        of: fields whose joined values are used if a record has no value of its own.
        part: with `of`, only the `last` word of the joined values (before `jr`), or the `first` ones: all others.
        keep: one of KEEPS: the rule for the golden record.
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
    """The comparison of one field: a comparator and its levels, with their probabilities.

    Attributes:
        field: its name.
        comparator: one of `compare.catalog.COMPARATORS`.
        levels: the thresholds of the comparator; empty: its defaults.
        term_frequency: whether equal rare values weigh more than equal frequent ones.
        m: the probability of each level among matches; empty: not trained.
        u: the probability of each level among all other pairs.
        weight: of the field in the weighted mean, without trained weights.
        given: other comparisons (by `comparison_names`) whose equal values predict that of this field.
        given_u: for each of these, the probability of equal values among other pairs, given that its values are equal.
    """

    field: str
    comparator: str
    levels: tuple[float, ...] = ()
    term_frequency: bool = False
    m: tuple[float, ...] = ()
    u: tuple[float, ...] = ()
    weight: float = 1.0
    given: tuple[str, ...] = ()
    given_u: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LshBlocking:
    """Blocking by shingles of some fields.

    Attributes:
        fields: their names.
        shingles: such as `char:3` or `word:1`.
        threshold: the least Jaccard similarity of the shingles of a pair to find.
        recall: the probability that a pair at the threshold is found.
    """

    fields: tuple[str, ...]
    shingles: str = "char:3"
    threshold: float = 0.5
    recall: float = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The definition of a comparison of records.

    Attributes:
        name: of the profile.
        fields: in the order of a record's values.
        comparisons: in the order of the weights of a pair.
        rules: blocking rules, in the syntax of `block.rules`.
        lsh: LSH blocking.
        id_columns: the names of the id in files.
        source_columns: the names of the source in files.
        source_priority: sources in the order of preference, for fields that keep by `source-priority`.
        link: one of LINKS.
        one_to_one: sources have no duplicates: of the matches of a record with a source only the best counts.
        match: the least probability of a match.
        review: the least probability of a pair to review.
        bridge: the least probability of a pair that alone connects two groups of two or more; 0: any match.
        prior: the probability that two random records are a match; None: not trained.
        missing: texts for a missing value, beside the default ones.
        smoothing: the weight of the expected frequency of a value in records, against the counted ones
            (`frequencies`); with a lower number, frequent values lose weight sooner.
        doubts: about the trained weights, each with advice.
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
    doubts: tuple[str, ...] = ()

    @property
    def learned(self) -> bool:
        """Whether the profile has trained weights."""
        return self.prior is not None and all(comparison.m and comparison.u for comparison in self.comparisons)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return tuple(field.name for field in self.fields)


def comparison_names(profile: Profile) -> list[str]:
    """The name of each comparison: its field, followed by its comparator if the field has several comparisons.

    Example:
        >>> name, born = Field(name="name"), Field(name="born", type="date")
        >>> compared = [("name", "exact"), ("name", "phonetic"), ("born", "date")]
        >>> comparisons = tuple(Comparison(field=field, comparator=comparator) for field, comparator in compared)
        >>> comparison_names(Profile(name="people", fields=(name, born), comparisons=comparisons))
        ['name exact', 'name phonetic', 'born']
    """
    fields = [comparison.field for comparison in profile.comparisons]
    return [
        comparison.field if fields.count(comparison.field) == 1 else f"{comparison.field} {comparison.comparator}"
        for comparison in profile.comparisons
    ]


def without_weights(profile: Profile) -> str:
    """The comparisons that keep a profile from being trained, for a message: " for NAME ...", "" if none has weights.

    Example:
        >>> one, other = (Comparison(field=field, comparator="exact") for field in ("name", "born"))
        >>> trained = Comparison(field="name", comparator="exact", m=(0.9, 0.1), u=(0.1, 0.9))
        >>> profiles = [Profile(name="x", fields=(), comparisons=both) for both in ((one, other), (trained, other))]
        >>> [*map(without_weights, profiles)]
        ['', ' for born']
    """
    without = [
        one for one, compared in zip(comparison_names(profile), profile.comparisons, strict=True) if not compared.m
    ]
    return f" for {', '.join(without)}" if len(without) < len(profile.comparisons) else ""


def folded(column: str) -> str:
    """A column's name for lookups, without case and separators of words; a name of signs alone keeps them.

    Example:
        >>> folded("Given Name"), folded("given_name"), folded("GIVEN-NAME"), folded("%")
        ('givenname', 'givenname', 'givenname', '%')
    """
    name = normalize("NFC", column.casefold())
    # The vowels of Indic scripts and of Thai are marks: without them, words as common as father and address are equal.
    return "".join([one for one in name if one.isalnum() or category(one)[0] == "M"]) or name.strip()


def column_of(names: Sequence[str], columns: Sequence[str]) -> str | None:
    """The first column of a file with one of these names; None if there is none.

    Example:
        >>> column_of(("id", "rec_id"), ["Name", "REC ID"])
        'REC ID'
    """
    by_name = {folded(column): column for column in reversed(columns)}
    return next((by_name[folded(name)] for name in names if folded(name) in by_name), None)
