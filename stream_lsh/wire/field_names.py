"""The names of the fields of a message in the source."""

from dataclasses import dataclass

from stream_lsh.errors import ConfigError


@dataclass(frozen=True, slots=True)
class FieldNames:
    """What the source calls the fields of a document; each of the first four must be another one.

    What stories read besides may be one of them: the URL is the id of many a page.  `items` and `vector` are what is
    compared of a set and of a vector, in place of the text.
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
