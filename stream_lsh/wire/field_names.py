"""The names of the fields of a message in the source."""

from dataclasses import dataclass

from stream_lsh.errors import ConfigError


@dataclass(frozen=True, slots=True)
class FieldNames:
    """The field names of a document in the source; the first four must differ.

    The fields of stories may repeat one of them: the URL is the id of many pages.  `items` and `vector` replace the
    text in the comparison of sets and vectors.
    """

    id: str = "id"
    text: str = "text"
    time: str = "time"
    deleted: str = "deleted"
    title: str = "title"
    source: str = "source"
    url: str = "url"
    items: str = "items"
    vector: str = "vector"

    def __post_init__(self) -> None:
        names = [self.id, self.text, self.time, self.deleted]
        if len(set(names)) < len(names):
            raise ConfigError(f"got the field names {names}, expected four that differ")


DEFAULT_NAMES = FieldNames()
