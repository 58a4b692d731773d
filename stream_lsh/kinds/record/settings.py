"""The settings of a pipeline of records; the profile contains all others."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from stream_lsh.errors import ConfigError
from stream_lsh.kinds.kind import Default
from stream_lsh.kinds.record.profiles import BUNDLED, find_profile
from stream_lsh.records.reading import Reader
from stream_lsh.settings import value_types
from stream_lsh.settings.problems import Problems
from stream_lsh.settings.schema import key
from stream_lsh.settings.toml import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSettings:
    """The profile of the records.

    Attributes:
        reader: of the loaded profile; None until it is loaded; not a key.
    """

    defaults: ClassVar[Mapping[str, Default]] = {"retention_ms": None}
    fields: ClassVar[frozenset[str]] = frozenset({"time", "deleted"})
    topic_keys: ClassVar[frozenset[str]] = frozenset(
        {"matches", "members", "entities", "reviews", "decisions", "dead_letters"}
    )

    profile: str = field(
        default="",
        metadata=key(
            value_types.ANY_TEXT,
            "the profile of the records: people, companies, products, bibliography, or the path of a profile; required",
        ),
    )
    reader: Reader | None = field(default=None, compare=False, repr=False)

    def loaded(self, path: Path, problems: Problems) -> Self:
        """A copy with its profile loaded; adds problems of the profile to `problems`."""
        place = (*path, "profile")
        if not problems.is_valid(place):
            return self
        if not self.profile:
            problems.add(place, f"got none, expected {', '.join(BUNDLED)} or the path of a file, as `kind` is record")
            return self
        try:
            return replace(self, reader=Reader(find_profile(self.profile)))
        except ConfigError as error:
            for problem in error.problems:
                problems.add(place, problem.removeprefix("profile: "))
            return self
