"""`--normalise` has the values of the configuration, in every command that compares texts."""

import json
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from stream_lsh.cli.commands.catalog import module_of
from stream_lsh.cli.options.common import parse
from stream_lsh.config import parse as parse_config
from stream_lsh.kinds.kind import as_kind
from stream_lsh.kinds.text.kind import TextKind
from stream_lsh.text.normalise import FORMS
from tests.unit.cli.runs import lines_of, ran, stream_lsh

PLAIN = "Le café créé à côté de l'école fermée hier soir"
BARE = "Le cafe cree a cote de l'ecole fermee hier soir"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(lines_of([{"id": "a", "text": PLAIN}, {"id": "b", "text": BARE}]))
    return path


@pytest.mark.parametrize("command", ["dedup", "allpairs"])
def test_pairs_are_those_of_the_normal_forms(command: str, file: Path) -> None:
    assert stream_lsh(command, file).pairs == {}
    assert stream_lsh(command, file, "--normalise", "nfc, accents").pairs == {("a", "b"): 1.0}


def test_a_query_has_the_same_normal_forms(file: Path) -> None:
    run = stream_lsh(
        "dedup", file, "--normalise", "accents", "--query", "-", stdin=lines_of([{"id": "q", "text": BARE}])
    )
    assert {one["id"] for one in run.out} == {"a", "b"}


def test_plagiarism_compares_normal_forms(file: Path) -> None:
    options = ("--json", "--min-shared", "3", "--min-words", "3")
    assert stream_lsh("plagiarism", file, *options).out == []
    assert stream_lsh("plagiarism", file, *options, "--normalise=accents").out[0]["similarity"] == 1.0


def test_explain_compares_normal_forms_and_shows_the_original(file: Path) -> None:
    (explained,) = stream_lsh("explain", "a", "b", file, "--json", "--normalise", "accents").out
    assert "école" in json.dumps(explained, ensure_ascii=False)
    assert explained["comparison"]["similarity"] == 1.0


def test_tune_proposes_the_normal_forms_for_a_pipeline(tmp_path: Path) -> None:
    text = ran("tune", "--normalise", "nfkc,accents").stdout.decode()
    keys = text.partition("For a pipeline:")[2]
    assert tomllib.loads(keys)["normalise"] == ["nfkc", "accents"]
    (pipeline,) = parse_config(f"[pipeline]\nsource = 'x'\n{keys}", "x.toml", {}).pipelines
    assert as_kind(pipeline.kind, TextKind).normalise == ("nfkc", "accents")
    assert "normalise" not in ran("tune").stdout.decode()


@pytest.mark.parametrize("command", ["dedup", "tune", "allpairs", "plagiarism"])
def test_an_unknown_form_is_rejected_with_the_nearest_name(command: str, file: Path) -> None:
    run = ran(command, file, "--normalise", "nfc,acents")
    assert run.returncode == 2
    assert b"--normalise: got 'acents'" in run.stderr
    assert b"did you mean 'accents'?" in run.stderr


@pytest.mark.parametrize("command", ["dedup", "tune", "explain", "allpairs", "news", "mirrors", "plagiarism"])
def test_the_help_names_all_forms_and_the_default_is_that_of_the_configuration(command: str) -> None:
    parser = import_module(module_of(command)).make_parser()
    (option,) = [one for one in parser._actions if one.dest == "normalise"]
    assert option.help is not None
    assert all(form in option.help for form in FORMS)
    positional = ["a", "b", "f"] if command == "explain" else ["f"]
    assert parse(parser, positional).normalise == TextKind().normalise
    assert parse(parser, [*positional, "--normalise", ""]).normalise == ()
