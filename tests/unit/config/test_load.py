"""Every mistake that a configuration can have, with its message."""

from pathlib import Path

import pytest

from stream_lsh.config import (
    KafkaConfig,
    PipelineConfig,
    SecurityConfig,
    TopicsConfig,
    WorkerConfig,
    load,
    parse,
)
from stream_lsh.errors import ConfigError
from stream_lsh.ledger.clusters.guards.choice import Guards
from stream_lsh.settings.schema import keys_of
from stream_lsh.text.catalog import SPECS
from stream_lsh.wire.field_names import FieldNames

TOPIC = "1 to 249 of the characters A-Z a-z 0-9 . _ -"
SPAN = "a span such as 3d, 12h, 90m, 30s or 500ms"
SIZE = "bytes or a size such as 512KB or 2MB, from 1 to 1073676288 bytes"


TABLES = {
    KafkaConfig: "kafka",
    SecurityConfig: "kafka.security",
    WorkerConfig: "worker",
    PipelineConfig: "pipeline",
    FieldNames: "pipeline.fields",
    Guards: "pipeline.guards",
    TopicsConfig: "pipeline.topics",
}


def problems(text: str, environ: dict[str, str] | None = None) -> list[str]:
    """The mistakes, without the name of the file; a pipeline with a source stands in line 1 unless there is one."""
    text = text if "pipeline" in text else f'pipeline.source = "s"\n{text}'
    with pytest.raises(ConfigError) as caught:
        parse(text, "news.toml", environ or {})
    return [problem.removeprefix("news.toml:") for problem in caught.value.problems]


def pipeline(lines: str) -> str:
    return f'[pipeline]\nsource = "s"\n{lines}'


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("seed = one", "3: not TOML: invalid value at column 8"),
        ("sauce = 1", "3: pipeline.sauce: got an unknown key; did you mean 'source'?"),
        ("retention_ms = 1", "3: pipeline.retention_ms: got an unknown key; did you mean 'retention'?"),
        ("brokers = 1", "3: pipeline.brokers: got an unknown key; it belongs in [kafka]"),
        ("'\\u0000 ' = 1", "3: pipeline.'\\\\u0000 ': got an unknown key; see docs/reference/configuration.md"),
        ("topics.foo = 'x'", "3: pipeline.topics.foo: got an unknown key; see docs/reference/configuration.md"),
        ("guards.size = 3", "3: pipeline.guards.size: got an unknown key; did you mean 'max_size'?"),
        ("name = 'né'", f"3: pipeline.name: got 'n\\xe9', expected {TOPIC}; did you mean 'n'?"),
        ("name = 7", f"3: pipeline.name: got 7, expected {TOPIC}"),
        ("name = ''", f"3: pipeline.name: got '', expected {TOPIC}"),
        ("name = '..'", f"3: pipeline.name: got '..', expected {TOPIC}"),
        ("kind = 'txet'", "3: pipeline.kind: got 'txet', expected text, record, set or vector; did you mean 'text'?"),
        ("kind = 1979-05-27", "3: pipeline.kind: got 1979-05-27, expected text, record, set or vector"),
        ("partitions = 0", "3: pipeline.partitions: got 0, expected a whole number from 1 to 10000"),
        ("partitions = 4.0", "3: pipeline.partitions: got 4.0, expected a whole number from 1 to 10000"),
        ("partitions = true", "3: pipeline.partitions: got true, expected a whole number from 1 to 10000"),
        (
            "shingles = 'words:3'",
            f"3: pipeline.shingles: got 'words:3', expected {SPECS}; of word, k from 1 to 64; did you mean 'word:3'?",
        ),
        (
            "shingles = 3",
            f"3: pipeline.shingles: got 3, expected {SPECS}",
        ),
        ("threshold = 1", "3: pipeline.threshold: got 1, expected a number above 0 and below 1"),
        ("threshold = '0.8'", "3: pipeline.threshold: got '0.8', expected a number above 0 and below 1"),
        (
            "measure = 'contained'",
            "3: pipeline.measure: got 'contained', expected jaccard or containment; did you mean 'containment'?",
        ),
        (
            "measure = 'containment'\nsize_ratio = 0.5",
            "4: pipeline.size_ratio: got 0.5, expected a number from 1 to 100",
        ),
        (
            "size_ratio = 3",
            "3: pipeline.size_ratio: got 3, expected none, as the measure is jaccard: only containment uses it",
        ),
        (
            "method = 'exat'",
            "3: pipeline.method: got 'exat', expected lsh or exact; did you mean 'exact'?",
        ),
        (
            "method = 'exact'\nrecall = 0.9",
            "4: pipeline.recall: got 0.9, expected none, as the method is exact, which finds all: only lsh uses it",
        ),
        (
            "max_candidates = 50\nmethod = 'exact'",
            "3: pipeline.max_candidates: got 50, expected none, as the method is exact, which has no caps: only lsh "
            "uses it",
        ),
        (
            "method = 'exact'\nrows = 6",
            "4: pipeline.rows: got it, expected none, as the method is exact: only lsh has bands",
        ),
        (
            "method = 'exact'\nslots = 1",
            "4: pipeline.slots: got 1, expected 2 to 4096 with the method exact: one for the size of a text, others "
            "for its first shingles",
        ),
        (
            "size_ratio = 60\nmeasure = 'containment'",
            "3: pipeline.size_ratio: with `threshold`, `slots` and `recall`: no banding of 128 slots finds a pair of "
            "similarity 0.01329 with probability 0.99: raise slots to 345, lower recall to 0.819, or raise the "
            "threshold to 0.036; these are Jaccard similarities, of a containment of 0.8 at this `size_ratio`: or "
            "lower that",
        ),
        (
            "mirror_share = 0.2",
            "3: pipeline.mirror_share: got 0.2, expected 0 without `stories`: stories provide the sites of pages",
        ),
        (
            "preset = 'mirrors'\nstories = false",
            "4: pipeline.stories: got false, expected true with a `mirror_share` of 0.1: stories provide the "
            "sites of pages",
        ),
        (
            "stories = true\nmirror_share = 1",
            "4: pipeline.mirror_share: got 1, expected a number from 0 to below 1",
        ),
        ("recall = nan", "3: pipeline.recall: got nan, expected a number above 0 and below 1"),
        ("recall = 0", "3: pipeline.recall: got 0, expected a number above 0 and below 1"),
        (
            "slots = 2",
            "3: pipeline.slots: with `threshold` and `recall`: no banding of 2 slots finds a pair of similarity 0.8 "
            "with probability 0.99: raise slots to 3, lower recall to 0.96, or raise the threshold to 0.9",
        ),
        ("bands = 16", "3: pipeline.bands: got it alone, expected `bands` and `rows` or neither"),
        ("rows = 6", "3: pipeline.rows: got it alone, expected `bands` and `rows` or neither"),
        (
            "bands = 16\nrows = 8",
            "3: pipeline.bands: with `threshold`, `slots`, `rows` and `recall`: 16 bands of 8 rows find a pair of "
            "similarity 0.8 with probability 0.9470, not 0.99: lower recall to 0.947, or take 26 bands",
        ),
        (
            "bands = 26\nrows = 8",
            "3: pipeline.bands: with `threshold`, `slots`, `rows` and `recall`: 26 bands of 8 rows take 208 slots, and "
            "there are 128: raise slots, or take fewer",
        ),
        ("bands = -1\nrows = 8", "3: pipeline.bands: got -1, expected a whole number from 0 to 65536"),
        (
            "normalise = ['nfc', 'casefolded']",
            "3: pipeline.normalise: got 'casefolded', expected names out of nfc, nfkc, casefold, space, accents, "
            "punctuation; did you mean 'casefold'?",
        ),
        (
            "normalise = [1]",
            "3: pipeline.normalise: got a list, expected a list of names out of nfc, nfkc, casefold, "
            "space, accents, punctuation",
        ),
        ("seed = -1", "3: pipeline.seed: got -1, expected a whole number from 0 to 4294967295"),
        ("retention = 3", f'3: pipeline.retention: got 3, expected {SPAN}, up to 1000000d, or "" for no end'),
        ("retention = '-3d'", f"3: pipeline.retention: got '-3d', expected {SPAN}, up to 1000000d, or \"\" for no end"),
        ("lateness = ''", f"3: pipeline.lateness: got '', expected {SPAN}, from 0s to 1000000d"),
        ("lateness = '0.5ms'", f"3: pipeline.lateness: got '0.5ms', expected {SPAN}, from 0s to 1000000d"),
        ("max_candidates = -1", "3: pipeline.max_candidates: got -1, expected a whole number from 0 on"),
        ("max_document_bytes = '1 acre'", f"3: pipeline.max_document_bytes: got '1 acre', expected {SIZE}"),
        ("max_document_bytes = '9GB'", f"3: pipeline.max_document_bytes: got '9GB', expected {SIZE}"),
        ("on_bug = 'halt!'", "3: pipeline.on_bug: got 'halt!', expected halt or dead-letter; did you mean 'halt'?"),
        ("rekey = 'yes'", "3: pipeline.rekey: got 'yes', expected true or false"),
        ("sources = ['s']", "3: pipeline.sources: got an unknown key; did you mean 'source'?"),
        ("fields = 'text'", "3: pipeline.fields: got a string, expected a table"),
        ("fields.text = ''", "3: pipeline.fields.text: got '', expected the name of a field"),
        (
            "fields.text = 'id'",
            "3: pipeline.fields: got the field names ['id', 'id', 'time', 'deleted'], expected four that differ",
        ),
        (
            "topics.matches = '*'",
            f"3: pipeline.topics.matches: got '*', expected {TOPIC}, or \"\" for the default",
        ),
        (
            "topics.members = 's'",
            "3: pipeline.topics.members: got the topic 's', which is `source` of the pipeline 'documents', "
            "expected topics that differ",
        ),
        (
            "topics.members = 'documents_matches'\ntopics.matches = 'documents.matches'",
            "3: pipeline.topics.members: got the topic 'documents_matches', which is `topics.matches` of the pipeline "
            "'documents' ('documents.matches': to Kafka . and _ are the same), expected topics that differ",
        ),
        (
            "topics.members = 'stream-lsh-documents-x'",
            "3: pipeline.topics.members: got the topic 'stream-lsh-documents-x', expected one that does not begin "
            "with 'stream-lsh-documents-', as internal topics do",
        ),
        (
            f"name = '{'n' * 240}'",
            f"3: pipeline.name: got the topic {'n' * 40}… of 253 characters, expected at most 249",
        ),
        (
            f"name = '{'n' * 230}'",
            f"3: pipeline.name: got {'n' * 20 + '…'!r}, whose topic stream-lsh-{'n' * 29}… has 261 characters, "
            "expected at most 249: shorten it or `app_id`",
        ),
    ],
)
def test_a_mistake_in_a_pipeline(lines: str, message: str) -> None:
    assert problems(pipeline(lines)) == [message]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kafak.brokers = 'a:1'", "2: kafak: got an unknown key; did you mean 'kafka'?"),
        ("brokers = 'a:1'", "2: brokers: got an unknown key; it belongs in [kafka]"),
        ("kafka = 1", "2: kafka: got a number, expected a table"),
        (
            "kafka.brokers = 'localhost'",
            "2: kafka.brokers: got 'localhost', expected host:port, several with commas or as a list; "
            "did you mean 'localhost:9092'?",
        ),
        (
            "kafka.brokers = ['a:1', 'b:0']",
            "2: kafka.brokers: got a list with 'b:0', expected host:port, several with commas or as a list",
        ),
        (
            "kafka.brokers = ['a:1', 'b', 2]",
            "2: kafka.brokers: got a list with 'b', expected host:port, several with commas or as a list; did you mean "
            "'b:9092'?",
        ),
        (
            "kafka.brokers = [1]",
            "2: kafka.brokers: got a list with 1, expected host:port, several with commas or as a list",
        ),
        (
            "pipeline.source = ['s', 'né']",
            f"1: pipeline.source: got a list with 'n\\xe9', expected {TOPIC}; several as a list, with `rekey`; did you "
            "mean 'n'?",
        ),
        (
            "kafka.brokers = []",
            "2: kafka.brokers: got an empty list, expected host:port, several with commas or as a list",
        ),
        (
            "kafka.brokers = 'ann:hunter2@a:1'",
            "2: kafka.brokers: got '***@a:1', expected host:port, several with commas or as a list",
        ),
        ("kafka.replication = 0", "2: kafka.replication: got 0, expected a whole number from 1 to 32767"),
        (
            "kafka.min_insync_replicas = 2",
            "2: kafka.min_insync_replicas: got 2, expected at most the 1 of `replication`: "
            "nothing could ever be written",
        ),
        (
            "worker.app_id = 'news room'",
            f"2: worker.app_id: got 'news room', expected {TOPIC}; did you mean 'news-room'?",
        ),
        ("worker.data_dir = 5", '2: worker.data_dir: got 5, expected the path of a folder, or "" for none'),
        ("worker.web = ':6066'", "2: worker.web: got ':6066', expected host:port, or \"\" for none"),
        ("worker.web = 'a:65536'", "2: worker.web: got 'a:65536', expected host:port, or \"\" for none"),
        (
            "worker.session_timeout = '999ms'",
            f"2: worker.session_timeout: got '999ms', expected {SPAN}, from 1s to 1d",
        ),
        (
            "worker.commit_interval = 0",
            f"2: worker.commit_interval: got 0, expected {SPAN}, from 50ms to 1h",
        ),
        (
            "worker.session_timeout = '25d'",  # more ms than a request to join a group can hold
            f"2: worker.session_timeout: got '25d', expected {SPAN}, from 1s to 1d",
        ),
        ("pipeline = 'news'", "1: pipeline: got 'news', expected a table or several"),
        ("pipeline = ['news']", "1: pipeline: got a string, expected a table"),
        ("pipeline = []", "1: pipeline: got none, expected [pipeline] with a source"),
        ("[pipeline]", "1: pipeline.source: got none, expected the topic with the documents"),
        (
            "pipeline.source = ['s', 't']",
            "1: pipeline.source: got 2 topics, expected one: `rekey = true` copies several to one keyed by id",
        ),
        (
            "pipeline.source = []",
            f"1: pipeline.source: got an empty list, expected {TOPIC}; several as a list, with `rekey`",
        ),
        (
            "pipeline.source = ['s', 's']",
            "1: pipeline.source: got a list with 's', expected topics that differ",
        ),
        (
            "pipeline.source = ['s', 1]",
            f"1: pipeline.source: got a list with 1, expected {TOPIC}; several as a list, with `rekey`",
        ),
        ("# pipeline: none yet", "1: pipeline: got none, expected [pipeline] with a source"),
        ("pipeline.source = 's'\nworker = [", "2: not TOML: invalid value"),
        ("pipeline.source = 's'\npipeline.source = 't'", "2: not TOML: cannot overwrite a value"),
        (f"pipeline = {'[' * 5_000}", " got values that are nested too deeply, expected a configuration"),
    ],
)
def test_a_mistake_elsewhere(text: str, message: str) -> None:
    assert problems(text) == [message]


def test_pipelines_without_names_are_asked_for_them() -> None:
    cause = "got none, and the default 'documents' is too like the name of another pipeline (news.toml:{}), expected a"
    first, second, third = (f"[[pipeline]]\nsource = '{source}'\n" for source in "stu")
    assert [problem.partition(" name for")[0] for problem in problems(first + second + third)] == [
        f"3: pipeline.name: {cause.format(1)}",
        f"5: pipeline.name: {cause.format(1)}",
    ]
    (problem,) = problems(f"{first}{second}name = 'DOCUMENTS'\n")
    assert problem.startswith(f"1: pipeline.name: {cause.format(5)}")


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (
            "name = 'NEWS_en'\nsource = 't'",
            "5: pipeline.name: got 'NEWS_en', which is too like 'news-en' (news.toml:2), expected names that differ in "
            "more than case and -, . and _",
        ),
        (
            "name = 'b'\nsource = 's'",
            "6: pipeline.source: got 's', which the pipeline 'news-en' reads (news.toml:3), expected another source: "
            "for the same one run two applications, each with its own `app_id`",
        ),
        (
            "name = 'b'\nsource = ['t', 's']\nrekey = true",
            "6: pipeline.source: got 's', which the pipeline 'news-en' reads (news.toml:3), expected another source: "
            "for the same one run two applications, each with its own `app_id`",
        ),
        (
            "name = 'b'\nsource = ['t', 'news-en-matches']\nrekey = true",
            "6: pipeline.source: got the topic 'news-en-matches', which is `topics.matches` of the pipeline 'news-en', "
            "expected topics that differ",
        ),
        (
            "name = 'b'\nsource = 'news-en-matches'",
            "6: pipeline.source: got the topic 'news-en-matches', which is `topics.matches` of the pipeline 'news-en', "
            "expected topics that differ",
        ),
        (
            "name = 'stream-lsh-b'\nsource = 't'\n[[pipeline]]\nname = 'b'\nsource = 'u'",
            "5: pipeline.name: got the topic 'stream-lsh-b-matches', expected one that does not begin with "
            "'stream-lsh-b-', as internal topics do",
        ),
    ],
)
def test_a_mistake_between_pipelines(second: str, message: str) -> None:
    assert problems(f"[[pipeline]]\nname = 'news-en'\nsource = 's'\n[[pipeline]]\n{second}") == [message]


@pytest.mark.parametrize(
    ("keys", "messages"),
    [
        ({"protocol": "SSLL"}, ["expected PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL; did you mean 'SSL'?"]),
        (
            {"username": "ann", "password": "hunter2", "mechanism": "scram-sha-256"},
            ["SCRAM-SHA-512; did you mean 'SCRAM-SHA-256'?"],
        ),
        (
            {"protocol": "SASL_SSL"},
            [
                "kafka.security.password: got none, expected it or `password_file`, as the protocol is SASL_SSL",
                "kafka.security.username: got none, expected a user, as the protocol is SASL_SSL",
            ],
        ),
        (
            {"protocol": "PLAINTEXT", "username": "ann", "password": "hunter2"},
            [
                "username: got one, expected none, as the protocol is PLAINTEXT: only SASL_SSL and SASL_PLAINTEXT use",
                "password: got one, expected none, as the protocol is PLAINTEXT: only SASL_SSL and SASL_PLAINTEXT use",
            ],
        ),
        (
            {"protocol": "SSL", "mechanism": "PLAIN"},
            ["mechanism: got one, expected none, as the protocol is SSL: only SASL_SSL and SASL_PLAINTEXT use it"],
        ),
        (
            {"protocol": "PLAINTEXT", "ca_file": "FILE"},
            ["ca_file: got one, expected none, as the protocol is PLAINTEXT: only SSL and SASL_SSL use it"],
        ),
        ({"protocol": "SSL", "key_file": "FILE"}, ["key_file: got a key without a certificate, expected `cert_file`"]),
        ({"protocol": "SSL", "ca_file": "nowhere.pem"}, ["ca_file: got 'nowhere.pem', expected the path of a file"]),
        (
            {"username": "ann", "password": "hunter2", "password_file": "FILE"},
            ["password_file: got a file and `password` as well, expected one of them"],
        ),
        (
            {"username": "ann", "password_file": "LINES"},
            ["password_file: got a file of 2 lines, expected one line with the password"],
        ),
        (
            {"username": "ann", "password_file": "BYTES"},
            ["password_file: got a file that cannot be read as UTF-8, expected one line with the password"],
        ),
        ({"username": "ann", "pasword": "hunter2"}, ["got an unknown key; did you mean 'password'?", "got none"]),
    ],
)
def test_a_mistake_in_security(keys: dict[str, str], messages: list[str], tmp_path: Path) -> None:
    contents = {"FILE": b"hunter2\n", "LINES": b"hunter2\nhunter2", "BYTES": b"\xff"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    given = {key: str(tmp_path / value) if value in contents else value for key, value in keys.items()}
    found = problems("[kafka.security]\n" + "\n".join(f"{key} = {value!r}" for key, value in given.items()))
    assert len(found) == len(messages)
    for words in messages:
        assert any(words in problem for problem in found), found
    assert "hunter2" not in str(found)


def test_a_password_of_a_wrong_type_is_not_shown() -> None:
    assert problems("[kafka.security]\nusername = 'ann'\npassword = 1234") == [
        "4: kafka.security.password: got a number (not shown), expected a string"
    ]


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("KAFKA__BROKER", "a:1", "got a variable that overrides nothing; did you mean STREAM_LSH__KAFKA__BROKERS?"),
        ("BROKERS", "a:1", "got a variable that overrides nothing; did you mean STREAM_LSH__KAFKA__BROKERS?"),
        (
            "PIPELINE__SPORT__SEED",
            "2",
            "got a variable that overrides nothing; did you mean STREAM_LSH__PIPELINE__NEWS_EN__SEED?",
        ),
        ("PIPELINE__NEWS_EN__SEED", "two", "got 'two', expected a whole number from 0 to 4294967295"),
        ("PIPELINE__NEWS_EN__RECALL", "99%", "got '99%', expected a number above 0 and below 1"),
        ("PIPELINE__NEWS_EN__REKEY", "1", "got '1', expected true or false"),
        ("PIPELINE__NEWS_EN__SOURCE", "\udcff", "got bytes that are not UTF-8, expected text"),
        ("PIPELINE__NEWS_EN__TOPICS__MATCHES", "s", "got the topic 's', which is `source` of the pipeline"),
        ("KAFKA__SECURITY__PROTOCOL", "TLS", "got 'TLS', expected PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL"),
    ],
)
def test_a_mistake_in_the_environment(variable: str, value: str, message: str) -> None:
    name = f"STREAM_LSH__{variable}"
    (found,) = problems(pipeline("name = 'news-en'"), {name: value, "STREAM_LSH_DATA": "no setting", "PATH": ""})
    assert found.startswith(f"environment: {name}: {message}")


def test_a_variable_like_no_other_has_no_suggestion() -> None:
    assert problems("", {"STREAM_LSH__X": ""}) == ["environment: STREAM_LSH__X: got a variable that overrides nothing"]


def test_two_spellings_of_one_variable_are_a_mistake() -> None:
    environ = {"STREAM_LSH__KAFKA__BROKERS": "a:1", "STREAM_LSH__kafka__brokers": "b:1"}
    assert problems("", environ) == [
        "environment: STREAM_LSH__kafka__brokers: got it and STREAM_LSH__KAFKA__BROKERS, which is the same; "
        "expected one of them"
    ]


def test_all_mistakes_come_at_once_in_the_order_of_the_file() -> None:
    text = pipeline('threshold = 2\n[kafka]\nbrokers = ""\n[worker]\nweb = 1\nzzz = 2')
    found = problems(text, {"STREAM_LSH__X": ""})
    assert [problem.partition(":")[0] for problem in found] == ["3", "5", "7", "8", "environment"]


def test_a_wrong_value_does_not_make_others_wrong() -> None:
    text = "[[pipeline]]\nsource = 1\nname = 1\n[[pipeline]]\nsource = 's'\n[[pipeline]]\nsource = 2\nname = 'b'"
    assert [problem.partition(": got")[0] for problem in problems(text)] == [
        "2: pipeline.source",
        "3: pipeline.name",
        "7: pipeline.source",
    ]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "news.toml").touch()
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "new.toml", {})
    near = str(tmp_path / "news.toml")
    assert str(caught.value) == (
        f"{tmp_path / 'new.toml'}: got no such file, expected a configuration; did you mean {near!r}?"
    )
    with pytest.raises(ConfigError, match=r"got no such file, expected a configuration$"):
        load(tmp_path / "nowhere" / "new.toml", {})


def test_a_folder_and_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"got Is a directory, expected a configuration that can be read$"):
        load(tmp_path, {})
    file = tmp_path / "news.toml"
    file.write_bytes(b"# caf\xc3\xa9\n# caf\xe9\n")
    with pytest.raises(ConfigError) as caught:
        load(file, {})
    assert str(caught.value) == f"{file}:2: got the byte 0xe9, expected TOML in UTF-8"


HURTFUL = ["0", "-1", "1e400", "nan", "true", "''", "'0'", "' '", "'é'", "'*:1'", "'.'", "[]", "[[]]", "[{}]", "{}"]
HURTFUL += ["'\\u0000'", '"\\u0000"', "'[::1]:1'", "07:32:00", "1979-05-27T07:32:00Z", str(10**4000), f"'{'9' * 300}'"]


@pytest.mark.parametrize("value", HURTFUL, ids=range(len(HURTFUL)))
def test_any_value_of_a_key_gives_a_configuration_or_a_mistake_with_its_line(value: str) -> None:
    for cls, path in TABLES.items():
        for key in ["", *keys_of(cls)]:
            text = f"\n{'.'.join(filter(None, (path, key)))} = {value}"
            reported: tuple[str, ...] = ()
            try:
                parse(text if "pipeline" in text else f"{text}\npipeline.source = 's'", "news.toml", {})
            except ConfigError as error:
                reported = error.problems
            assert [problem for problem in reported if not problem.startswith("news.toml:2: ")] == []
