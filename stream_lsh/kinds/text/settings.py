"""The settings of a pipeline of texts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from stream_lsh.errors import ConfigError
from stream_lsh.kinds.kind import Default, SharedSettings
from stream_lsh.kinds.shingled.settings import ShingleSettings
from stream_lsh.kinds.text.presets import PRESETS
from stream_lsh.settings import value_types
from stream_lsh.settings.problems import Problems
from stream_lsh.settings.schema import key
from stream_lsh.settings.toml import Path
from stream_lsh.settings.value_types import choice, whole
from stream_lsh.text.catalog import DEFAULT
from stream_lsh.text.page import require


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSettings(ShingleSettings):
    """The settings of texts: their shingles, and the contents of clusters."""

    presets: ClassVar[Mapping[str, Mapping[str, Default]]] = PRESETS
    fields: ClassVar[frozenset[str]] = frozenset({"id", "text", "time", "deleted", "title", "source", "url"})
    topic_keys: ClassVar[frozenset[str]] = frozenset({"matches", "members", "clusters", "mirror_sites", "dead_letters"})

    preset: str = field(
        default="none",
        metadata=key(
            choice(("none", *PRESETS)),
            "a set of defaults for articles or for pages; other keys override it",
        ),
    )
    shingles: str = field(
        default=DEFAULT,
        metadata=key(
            value_types.SHINGLES,
            "the shingles of a text; [which to choose](../guides/choosing-parameters.md#shingles)",
        ),
    )
    normalise: tuple[str, ...] = field(
        default=("nfc",),
        metadata=key(value_types.NORMAL_FORMS, "the normal forms of a text, in order"),
    )
    html: str = field(
        default="off",
        metadata=key(
            choice(("off", "main", "page")),
            "texts are HTML pages: `main` compares the article, `page` all visible text",
        ),
    )
    min_characters: int = field(default=0, metadata=key(whole(0), "a shorter text has no shingles, and so no matches"))
    stories: bool = field(
        default=False,
        metadata=key(
            value_types.FLAG,
            "clusters have a headline, outlets and the first document, from the fields `title`, `source` and `url`",
        ),
    )
    mirror_share: float = field(
        default=0.0,
        metadata=key(
            value_types.LEAST_SHARE,
            "the minimum share of mirrored pages of a published pair of sites; 0: none; requires `stories`",
        ),
    )

    def check(self, path: Path, problems: Problems, shared: SharedSettings) -> None:
        """Report contradictions, and a missing library for pages."""
        self._check_html(path, problems)
        self._check_mirrors(path, problems)
        ShingleSettings.check(self, path, problems, shared)

    def _check_mirrors(self, path: Path, problems: Problems) -> None:
        share, stories = (*path, "mirror_share"), (*path, "stories")
        if not self.mirror_share or self.stories or not problems.is_valid(share, stories):
            return
        why = "stories provide the sites of pages"
        if problems.has(share):
            problems.add(share, f"got {self.mirror_share:g}, expected 0 without `stories`: {why}")
        else:
            problems.add(stories, f"got false, expected true with a `mirror_share` of {self.mirror_share:g}: {why}")

    def _check_html(self, path: Path, problems: Problems) -> None:
        if self.html != "off":
            try:
                require()
            except ConfigError as error:
                problems.add((*path, "html"), str(error))
