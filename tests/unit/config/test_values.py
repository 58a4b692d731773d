"""The values of valid configurations."""

import dataclasses
import json
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_lsh.config import (
    Config,
    KafkaConfig,
    PipelineConfig,
    Secret,
    SecurityConfig,
    TopicsConfig,
    WorkerConfig,
    load,
    parse,
    settings_shown,
    settings_text,
)
from stream_lsh.config.environment import folded
from stream_lsh.config.kafka import MECHANISMS
from stream_lsh.config.pipeline_keys import pipeline_keys
from stream_lsh.config.topics import INTERNAL_TOPICS, PUBLIC_TOPICS, TABLES
from stream_lsh.errors import ConfigError, InvariantError
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.set.kind import SetKind
from stream_lsh.kinds.set.settings import GridConfig
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.kinds.vector.kind import VectorKind
from stream_lsh.ledger.clusters.guards.choice import Guards
from stream_lsh.pipeline.limits import Limits
from stream_lsh.settings.schema import Key, keys_of
from stream_lsh.text.normalise import FORMS
from stream_lsh.wire.field_names import FieldNames

SMALLEST = "[pipeline]\nsource = 's'\n"

# -- writing a configuration


def to_toml(config: Config) -> str:
    """A file with every key, those with default values too."""
    pipelines = [
        _table(pipeline, "[[pipeline]]", "pipeline", pipeline_keys(type(pipeline.kind)))
        for pipeline in config.pipelines
    ]
    return "\n".join(
        [_table(config.kafka, "[kafka]", "kafka"), _table(config.worker, "[worker]", "worker"), *pipelines]
    )


def _read(table: Any, key: Key) -> Any:
    """The value of a key: of a pipeline, or of its kind."""
    if key.name == "kind":
        return table.kind.name
    return getattr(table, key.field) if hasattr(table, key.field) else getattr(table.kind, key.field)


def _table(table: Any, header: str, path: str, keys: Mapping[str, Key] | None = None) -> str:
    lines, inner = [header], []
    for key in (keys_of(table.__class__) if keys is None else keys).values():
        value = _read(table, key)
        if key.value_type is not None:
            lines.append(f"{key.name} = {_value(value, key.name, key.field)}")
        elif value is not None:
            inner.append(_table(value, f"[{path}.{key.name}]", f"{path}.{key.name}", key.inner()))
    return "\n".join([*lines, *inner])


def _value(value: object, name: str, field: str) -> str:
    if isinstance(value, tuple):
        return json.dumps(list(value))
    if field != name:  # a span
        return '""' if value is None else f'"{value}ms"'
    if isinstance(value, Secret):
        return _quoted(value.reveal())
    plain = "" if value is None else str(value) if isinstance(value, Path) else value
    return _quoted(plain) if isinstance(plain, str) else json.dumps(plain)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def to_environment(config: Config) -> dict[str, str]:
    """The same as variables."""
    variables: dict[str, str] = {}
    for path, table in (("KAFKA", config.kafka), ("WORKER", config.worker)):
        variables |= _variables(table, path)
    for pipeline in config.pipelines:
        variables |= _variables(pipeline, f"PIPELINE__{folded(pipeline.name)}", pipeline_keys(type(pipeline.kind)))
    return {f"STREAM_LSH__{name}": value for name, value in variables.items()}


def _variables(table: Any, path: str, keys: Mapping[str, Key] | None = None) -> dict[str, str]:
    found: dict[str, str] = {}
    for key in (keys_of(table.__class__) if keys is None else keys).values():
        value, name = _read(table, key), f"{path}__{key.name.upper()}"
        if key.value_type is None:
            found |= {} if value is None else _variables(value, name, key.inner())
        elif isinstance(value, tuple):
            found[name] = ",".join(value)
        else:
            text = tomllib.loads(f"x = {_value(value, key.name, key.field)}")["x"]
            found[name] = str(text).lower() if isinstance(text, bool) else str(text)
    return found


# -- any valid configuration

NAMES = st.text("abcXYZ019._-", min_size=1, max_size=20).filter(lambda name: name not in (".", ".."))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
ADDRESSES = st.builds("{}:{}".format, st.sampled_from(["localhost", "k-1.example", "[::1]"]), st.integers(1, 65_535))
SPANS = st.integers(0, 10**12)
ENDLESS = st.none() | st.integers(1, 10**12)
SHARES = st.floats(0.3, 0.9)
SECURITY = st.none() | st.builds(
    SecurityConfig,
    protocol=st.sampled_from(["SASL_SSL", "SASL_PLAINTEXT"]),
    mechanism=st.sampled_from(MECHANISMS),
    username=TEXTS,
    password=TEXTS.map(Secret),
)
FIELDS = st.lists(TEXTS, min_size=7, max_size=7, unique=True).map(lambda names: FieldNames(*names))
BOUNDS = st.just(0) | st.integers(2, 1_000)
GUARDS = st.builds(
    Guards,
    bridge_similarity=st.just(0.0) | st.floats(0.9, 0.999),
    representative_similarity=st.just(0.0) | st.floats(0.9, 0.999),
    max_diameter=BOUNDS,
    max_size=BOUNDS,
    one_per_source=st.booleans(),
)
SOURCES = NAMES.map(lambda name: f"q{name}")
PIPELINES = st.builds(
    PipelineConfig,
    sources=SOURCES.map(lambda topic: (topic,)),
    name=NAMES.map(lambda name: f"p{name}"),
    partitions=st.integers(1, 10_000),
    kind=st.builds(
        TextKind,
        shingles=st.builds("{}:{}".format, st.sampled_from(["char", "word"]), st.integers(1, 64)),
        threshold=SHARES,
        recall=SHARES,
        slots=st.integers(64, 300),
        normalise=st.lists(st.sampled_from(list(FORMS))).map(tuple),
        seed=st.integers(0, 2**32 - 1),
        stories=st.booleans(),
    ),
    retention_ms=ENDLESS,
    lateness_ms=SPANS,
    max_documents=st.integers(0, 2**48 - 1),
    max_candidates=st.integers(0, 2**31 - 1),
    max_document_bytes=st.integers(1, 2**29),
    max_ahead_ms=ENDLESS,
    on_bug=st.sampled_from(["halt", "dead-letter"]),
    fields=FIELDS,
    guards=GUARDS,
    topics=st.builds(
        TopicsConfig, matches=st.just("") | NAMES.map(lambda name: f"t{name}"), keep_forever=st.booleans()
    ),
    app_id=st.just("application"),
)


def with_settings(pipeline: PipelineConfig, **settings: Any) -> PipelineConfig:
    """The same pipeline of texts with other settings of its kind."""
    return replace(pipeline, kind=replace(as_kind(pipeline.kind, TextKind), **settings))


PIPELINES |= st.builds(
    lambda pipeline, ratio: with_settings(pipeline, measure="containment", size_ratio=ratio), PIPELINES, st.floats(1, 3)
)
PIPELINES |= st.builds(
    lambda pipeline, share: with_settings(pipeline, stories=True, mirror_share=share), PIPELINES, st.floats(0.01, 0.99)
)
VALUED = st.builds(
    PipelineConfig,
    sources=SOURCES.map(lambda topic: (topic,)),
    name=NAMES.map(lambda name: f"p{name}"),
    app_id=st.just("application"),
)
PIPELINES |= st.builds(
    lambda pipeline, bag, threshold, items: replace(
        pipeline, kind=SetKind(bag=bag, threshold=threshold), fields=FieldNames(items=f"i{items}")
    ),
    VALUED,
    st.booleans(),
    SHARES,
    TEXTS,
)
PIPELINES |= st.builds(
    lambda pipeline, squares, functions: replace(
        pipeline, kind=SetKind(family="grid", grid=GridConfig(squares=squares, functions=functions))
    ),
    VALUED,
    st.integers(3, 9_999),
    st.integers(1, 9),
)
PIPELINES |= st.builds(
    lambda pipeline, measure, distance: replace(
        pipeline, kind=VectorKind(measure=measure, dimension=64, distance=distance)
    ),
    VALUED,
    st.sampled_from(["cosine", "euclidean", "hamming"]),
    st.floats(1, 9),
)
REKEYED = st.builds(
    lambda pipeline, sources: replace(pipeline, rekey=True, sources=tuple(sources)),
    PIPELINES,
    st.lists(SOURCES, min_size=1, max_size=3, unique=True),
)


def _distinct(pipelines: tuple[PipelineConfig, ...]) -> bool:
    """Whether no two names and no two topics are equal once folded; their characters rule out that they nest."""
    topics = [topic for pipeline in pipelines for topic in (*pipeline.sources, *pipeline.public_topics.values())]
    names = [pipeline.name for pipeline in pipelines]
    return all(len({folded(one) for one in several}) == len(several) for several in (topics, names))


CONFIGS = st.builds(
    Config,
    kafka=st.integers(1, 5).flatmap(
        lambda copies: st.builds(
            KafkaConfig,
            brokers=st.lists(ADDRESSES, min_size=1, max_size=3).map(tuple),
            replication=st.just(copies),
            min_insync_replicas=st.integers(0, copies),
            security=SECURITY,
        )
    ),
    worker=st.builds(
        WorkerConfig,
        app_id=st.just("application"),
        data_dir=st.none() | TEXTS.filter(lambda text: "\0" not in text).map(Path),
        standbys=st.integers(0, 100),
        web=st.just("") | ADDRESSES,
        session_timeout_ms=st.integers(1_000, 10**6),
        commit_interval_ms=st.integers(50, 10**6),
    ),
    pipelines=st.lists(PIPELINES | REKEYED, min_size=1, max_size=3).map(tuple).filter(_distinct),
)


@settings(max_examples=60)
@given(config=CONFIGS)
def test_any_configuration_comes_back_from_its_file(config: Config) -> None:
    text = to_toml(config)
    again = parse(text, "news.toml", {})
    assert again == config
    assert {origin.partition(":")[0] for origin in again.origins.values()} == {"news.toml"}
    where = {shown.key: shown.origin for shown in settings_shown(again)}
    for key, origin in where.items():
        if origin != "default":
            line = text.split("\n")[int(origin.rpartition(":")[2]) - 1]
            assert line.startswith(f"{key.rpartition('.')[2]} = ")


@settings(max_examples=60)
@given(config=CONFIGS)
def test_any_configuration_comes_back_from_the_environment(config: Config) -> None:
    file = "\n".join(f"[[pipeline]]\nname = '{pipeline.name}'" for pipeline in config.pipelines)
    again = parse(file, "news.toml", to_environment(config))
    assert again == config
    assert {origin.partition(" ")[0] for origin in again.origins.values()} == {"environment"}


# -- defaults and origins


def test_every_field_is_a_key() -> None:
    for cls in (
        KafkaConfig,
        SecurityConfig,
        WorkerConfig,
        PipelineConfig,
        TextKind,
        SetKind,
        VectorKind,
        TopicsConfig,
        FieldNames,
        Guards,
        GridConfig,
    ):
        derived = {"app_id", "parse_rules"} if cls is PipelineConfig else set()
        fields = {field.name for field in dataclasses.fields(cls)} - derived
        assert {key.field for key in keys_of(cls).values()} == fields
        assert {key.name for key in keys_of(cls).values() if key.required} == (
            {"source"} if cls is PipelineConfig else set()
        )
    assert set(PUBLIC_TOPICS) < keys_of(TopicsConfig).keys()


def test_the_smallest_configuration_is_all_defaults() -> None:
    config = parse(SMALLEST, "news.toml", {})
    assert config == Config(pipelines=(PipelineConfig(sources=("s",)),))
    assert {one.key for one in settings_shown(config) if one.origin != "default"} == {"pipeline.documents.source"}
    again = parse(to_toml(config), "news.toml", {})
    assert again == config  # so every default is a valid value


def test_a_table_and_a_list_of_tables_are_equivalent() -> None:
    several = [
        "[pipeline]\nname = 'a'\nsource = 's'\n[pipeline.fields]\ntext = 'body'",
        "[[pipeline]]\nname = 'a'\nsource = 's'\n[pipeline.fields]\ntext = 'body'",
        "pipeline = [{name = 'a', source = 's',\n fields.text = 'body'}]".replace(",\n", ","),
        "pipeline.name = 'a'\npipeline.source = 's'\npipeline.fields = {text = 'body'}",
    ]
    configs = [parse(text, "news.toml", {}) for text in several]
    assert all(config == configs[0] for config in configs)
    lines = [config.origins["pipeline.a.fields.text"] for config in configs]
    assert lines == ["news.toml:5", "news.toml:5", "news.toml:1", "news.toml:3"]


def test_a_variable_goes_before_the_file_and_its_name_folds() -> None:
    text = "[[pipeline]]\nname = 'News-en.EU'\nsource = 1\nthreshold = 0.7"
    environ = {
        "STREAM_LSH__pipeline__news_en_eu__source": "s",
        "STREAM_LSH__PIPELINE__NEWS_EN_EU__NORMALISE": "nfkc, casefold",
        "STREAM_LSH__PIPELINE__NEWS_EN_EU__RETENTION": "0",
        "STREAM_LSH__PIPELINE__NEWS_EN_EU__MAX_DOCUMENT_BYTES": "512KB",
        "STREAM_LSH__PIPELINE__NEWS_EN_EU__REKEY": "True",
    }
    config = parse(text, "news.toml", environ)
    expected = PipelineConfig(
        name="News-en.EU",
        sources=("s",),
        kind=TextKind(threshold=0.7, normalise=("nfkc", "casefold")),
        retention_ms=None,
        max_document_bytes=512 * 1024,
        rekey=True,
    )
    assert config.pipelines == (expected,)
    origins = {shown.key: shown.origin for shown in settings_shown(config)}
    assert origins["pipeline.News-en.EU.source"] == "environment STREAM_LSH__pipeline__news_en_eu__source"
    assert origins["pipeline.News-en.EU.threshold"] == "news.toml:4"
    assert origins["pipeline.News-en.EU.recall"] == "default"


def test_security_may_come_from_the_environment_alone() -> None:
    security = parse(SMALLEST, "news.toml", {"STREAM_LSH__KAFKA__SECURITY__PROTOCOL": "SSL"}).kafka.security
    assert security == SecurityConfig(protocol="SSL")


def test_a_file_with_a_byte_order_mark_and_carriage_returns(tmp_path: Path) -> None:
    file = tmp_path / "news.toml"
    file.write_bytes(b"\xef\xbb\xbf" + SMALLEST.replace("\n", "\r\n").encode() + b"threshold = 0.5\r\n")
    config = load(file, {})
    assert config.pipelines[0].kind.least == 0.5
    assert config.origins["pipeline.documents.threshold"] == f"{file}:3"


# -- secrets


def test_a_password_is_shown_nowhere(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("hunter2\n")
    text = f"{SMALLEST}[kafka.security]\nusername = 'ann'\n"
    direct = parse(f"{text}password = 'hunter2'", "news.toml", {})
    from_file = parse(f"{text}password_file = '{file}'", "news.toml", {})
    from_variable = parse(text, "news.toml", {"STREAM_LSH__KAFKA__SECURITY__PASSWORD": "hunter2"})
    for config in (direct, from_file, from_variable):
        security = config.kafka.security
        assert security is not None
        assert security.password is not None
        assert security.password.reveal() == "hunter2"
        for shown in (repr(config), str(config), str(dataclasses.asdict(config)), settings_text(config)):
            assert "hunter2" not in shown
        assert 'kafka.security.password = "***"' in settings_text(config)


def test_secrets_compare_by_what_they_hide() -> None:
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a")}) == 1


# -- values derived from the settings


def test_the_text_of_the_settings_has_what_holds() -> None:
    text = f"{SMALLEST}topics.matches = 'm'\n[kafka]\nreplication = 3"
    lines = [" ".join(line.split()) for line in settings_text(parse(text, "news.toml", {})).splitlines()]
    assert "kafka.min_insync_replicas = 2 # default" in lines
    assert "kafka.security = none # default" in lines
    assert 'pipeline.documents.topics.matches = "m" # news.toml:3' in lines
    assert 'pipeline.documents.topics.dead_letters = "documents-dead-letters" # default' in lines
    assert 'pipeline.documents.retention = "3d" # default' in lines


@pytest.mark.parametrize(("replication", "set_to", "holds"), [(1, 0, 1), (2, 0, 1), (3, 0, 2), (3, 1, 1), (3, 3, 3)])
def test_in_sync_replicas(replication: int, set_to: int, holds: int) -> None:
    assert KafkaConfig(replication=replication, min_insync_replicas=set_to).in_sync_replicas == holds


def test_topics() -> None:
    pipeline = PipelineConfig(name="news", sources=("s",), topics=TopicsConfig(members="who"), app_id="app")
    assert pipeline.public_topics == {
        "matches": "news-matches",
        "members": "who",
        "clusters": "news-clusters",
        "dead_letters": "news-dead-letters",
    }
    assert pipeline.internal_topic("bands") == "app-news-bands"
    assert [pipeline.changelog_topic(table) for table in TABLES] == [
        "app-news-documents-changelog",
        "app-news-buckets-changelog",
        "app-news-ledger-changelog",
    ]
    assert (pipeline.source, pipeline.documents_topic) == ("s", "s")
    rekeyed = replace(pipeline, sources=("s", "t"), rekey=True)
    assert (rekeyed.source, rekeyed.documents_topic) == ("s", "app-news-intake")
    assert all(pipeline.internal_topic(name).startswith(pipeline.internal_prefix) for name in INTERNAL_TOPICS)
    with pytest.raises(InvariantError, match="got the internal topic 'matches', expected one of intake, bands"):
        pipeline.internal_topic("matches")


def test_internal_topics_of_two_pipelines_are_never_one() -> None:
    # `a-b` + X could only be `a` + `b-X`, so no name may end with another one.
    assert [(one, other) for one in INTERNAL_TOPICS for other in INTERNAL_TOPICS if one.endswith(f"-{other}")] == []


def test_retention_of_the_public_topics_and_size_of_messages() -> None:
    pipeline = PipelineConfig(sources=("s",), retention_ms=5, lateness_ms=7, max_document_bytes=10)
    assert pipeline.public_retention_ms == 86_400_012
    assert pipeline.max_message_bytes == 262_144 + 65_536
    assert replace(pipeline, max_document_bytes=1 << 20).max_message_bytes == (1 << 20) + 65_536
    assert replace(pipeline, kind=TextKind(method="exact")).max_message_bytes == 262_144 + 65_536 + 200 * 128 * 16
    assert dataclasses.replace(pipeline, retention_ms=None).public_retention_ms == -1
    assert dataclasses.replace(pipeline, topics=TopicsConfig(keep_forever=True)).public_retention_ms == -1


def test_scheme_and_limits_are_those_of_the_settings() -> None:
    pipeline = PipelineConfig(
        sources=("s",),
        kind=TextKind(threshold=0.7, slots=64, shingles="char:4", normalise=("nfkc",), seed=9, recall=0.9),
    )
    scheme = as_kind(pipeline.kind, TextKind).scheme()
    assert scheme.banding is not None
    assert (scheme.slots, scheme.banding.threshold, scheme.banding.recall) == (64, 0.7, 0.9)
    assert {key: scheme.settings[key] for key in ("shingles", "normalise", "seed")} == {
        "shingles": "char:4",
        "normalise": "nfkc",
        "seed": 9,
    }
    limits = PipelineConfig(sources=("s",), retention_ms=7, lateness_ms=3, max_documents=2, max_candidates=5).limits()
    assert limits == Limits(7, 3, 2, cap_candidates=5)
    assert PipelineConfig(sources=("s",), max_candidates=0).limits() == Limits(
        259_200_000, cap_postings=0, cap_candidates=0
    )
    with pytest.raises(ConfigError):
        PipelineConfig(sources=("s",), kind=TextKind(slots=1)).kind.scheme()


def test_bands_and_rows_are_chosen_unless_they_are_pinned() -> None:
    pinned = PipelineConfig(sources=("s",), kind=TextKind(bands=26, rows=8, slots=208))
    scheme = as_kind(pinned.kind, TextKind).scheme()
    assert scheme.banding is not None
    assert (scheme.banding.bands, scheme.banding.rows, scheme.width) == (26, 8, 27)
    assert (scheme.settings["bands"], scheme.settings["rows"]) == (26, 8)
    chosen = as_kind(PipelineConfig(sources=("s",)).kind, TextKind).scheme().banding
    assert chosen is not None
    assert (chosen.bands, chosen.rows) == (16, 6)
    with pytest.raises(ConfigError, match="take 208 slots"):
        replace(pinned, kind=TextKind(bands=26, rows=8)).kind.scheme()


def test_the_exact_method_has_no_caps_whatever_the_default() -> None:
    pipeline = PipelineConfig(sources=("s",), kind=TextKind(method="exact", threshold=0.9, slots=32))
    assert pipeline.limits() == Limits(259_200_000, cap_postings=0, cap_candidates=0)
    assert pipeline.kind.scheme().settings["method"] == "exact"
    assert (
        replace(pipeline, kind=SetKind(method="exact", threshold=0.9, slots=32)).kind.scheme().settings["method"]
        == "exact"
    )
    assert pipeline.kind.scheme().slots == 32


def test_the_address_of_the_web() -> None:
    assert WorkerConfig().web_address == ("127.0.0.1", 6066)
    assert WorkerConfig(web="[::1]:80").web_address == ("::1", 80)
    assert WorkerConfig(web="").web_address is None
