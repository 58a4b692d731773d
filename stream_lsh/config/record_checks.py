"""Pipelines of records: their profile is read, and what only says something of texts is refused."""

from collections.abc import Iterator
from dataclasses import replace

from stream_lsh.config.model import PipelineConfig
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.record.profiles import BUNDLED, find_profile
from stream_lsh.records.reading import Reader
from stream_lsh.settings.problems import Notes
from stream_lsh.settings.toml_lines import Path

_OF_TEXTS = (
    "preset", "shingles", "threshold", "method", "measure", "size_ratio", "recall", "slots", "bands", "rows",
    "normalise", "seed", "html", "min_characters", "shadow", "stories", "mirror_share", "fields.id", "fields.text",
    "fields.title", "fields.source",
    "fields.url", "topics.clusters", "topics.mirror_sites",
)  # fmt: skip
"""Keys that a profile takes the place of, or that say nothing of records."""


def with_profile(pipeline: PipelineConfig, path: Path, notes: Notes) -> PipelineConfig:
    """The same with what its profile says; noted is whatever is wrong with it, or does not go with the kind."""
    place = (*path, "profile")
    if not notes.sound((*path, "kind"), place):
        return pipeline
    if pipeline.kind != "record":
        if pipeline.profile:
            notes.problem(place, f"got {pipeline.profile!r}, expected none: profiles are of records, `kind` is not")
        return pipeline
    for key in _foreign(path, notes):
        notes.problem(key, "got it, expected none: it is about texts; of records the profile says all this")
    if not pipeline.profile:
        notes.problem(place, f"got none, expected {', '.join(BUNDLED)} or the path of a file, as `kind` is record")
        return pipeline
    try:
        known = find_profile(pipeline.profile)
    except ConfigError as error:
        for problem in error.problems:
            notes.problem(place, problem.removeprefix("profile: "))
        return pipeline
    return replace(pipeline, known=Reader(known))


def _foreign(path: Path, notes: Notes) -> Iterator[Path]:
    return (place for key in _OF_TEXTS if notes.has(place := (*path, *key.split("."))))
