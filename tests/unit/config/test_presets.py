"""Presets: defaults that go together, which other settings override."""

from dataclasses import fields

import pytest

from stream_lsh.config import PipelineConfig, parse, settings_shown
from stream_lsh.errors import ConfigError
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.kinds.text.presets import PRESETS


def pipeline(lines: str, environ: dict[str, str] | None = None) -> PipelineConfig:
    return parse(f'[pipeline]\nname = "wire"\nsource = "s"\n{lines}', "news.toml", environ or {}).pipelines[0]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_has_fields_of_a_pipeline_and_makes_one_that_can_run(name: str) -> None:
    own = {field.name for field in fields(TextKind)}
    assert PRESETS[name].keys() <= own | {field.name for field in fields(PipelineConfig)}
    made = pipeline(f'preset = "{name}"')
    set_in = {field: getattr(made.kind if field in own else made, field) for field in PRESETS[name]}
    assert set_in == PRESETS[name]
    assert made.kind.stored_settings() != pipeline("").kind.stored_settings()


def test_settings_of_the_file_or_a_variable_override_the_preset() -> None:
    made = pipeline('preset = "news"\nthreshold = 0.7\nhtml = "off"', {"STREAM_LSH__PIPELINE__WIRE__RETENTION": "1d"})
    kind = as_kind(made.kind, TextKind)
    assert (kind.threshold, kind.html, made.retention_ms) == (0.7, "off", 86_400_000)
    assert (kind.stories, kind.min_characters) == (True, 200)


def test_a_variable_can_name_the_preset() -> None:
    assert pipeline('preset = "none"', {"STREAM_LSH__PIPELINE__WIRE__PRESET": "news"}).kind.stories


def test_the_preset_is_shown_as_the_origin_of_its_settings() -> None:
    config = parse('[pipeline]\nname = "wire"\nsource = "s"\npreset = "news"\nthreshold = 0.7', "news.toml", {})
    origins = {one.key.removeprefix("pipeline.wire."): one.origin for one in settings_shown(config)}
    assert origins["stories"] == origins["retention"] == origins["html"] == "preset news"
    assert origins["threshold"] == "news.toml:5"
    assert origins["recall"] == "default"


def test_an_unknown_preset_is_reported_with_the_known_ones() -> None:
    with pytest.raises(ConfigError) as caught:
        pipeline('preset = "newz"\ntreshold = 1')
    assert caught.value.problems[0].startswith("news.toml:4: pipeline.preset: got 'newz', expected none")
    assert "did you mean 'news'?" in caught.value.problems[0]
    assert len(caught.value.problems) == 2


def test_shorter_texts_have_no_shingles_and_both_settings_belong_to_the_fingerprint() -> None:
    scheme = as_kind(pipeline("min_characters = 10").kind, TextKind).scheme()
    signatures = scheme.sign(["a b c d e", "a b c d e f", ""])
    assert (signatures.digests != 0).tolist() == [False, True, False]
    assert [found.size for found in scheme.shingle_sets(["a b c d e", "a b c d e f"])] == [0, 4]
    assert "min_characters" not in pipeline("").kind.scheme().settings
    assert scheme.settings["min_characters"] == 10
    assert pipeline('html = "main"').kind.stored_settings()["html"] == "main"
    assert "html" not in pipeline("").kind.stored_settings()
