"""The deployment agrees with the code, as far as that can be tested without a container engine.

Compared with the code: docker-compose.yml (its commands, files, variables, versions), deploy/Dockerfile (its versions,
sources and entry point; its build commands are run, in another folder) and .dockerignore.  With a real broker:
tests/kafka/clients/test_compose.py.  Not seen here: whether the base images exist, and what
the container engine makes of it all.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from stream_lsh import __version__
from stream_lsh.config import load
from stream_lsh.worker.brokers.maven import KAFKA_VERSION
from tests.deployment import BUILD, COMPOSE, FINAL, OURS, ROOT, SERVICES, command, mounts, of, sent, stages, variables
from tests.evaluation.brokers import IMAGE
from tests.patience import PATIENCE

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
IGNORED = (ROOT / ".dockerignore").read_text(encoding="utf-8")
NEWS = ROOT / "deploy" / "news.toml"
NO_BROKER = "127.0.0.1:1"
"""An address at which no broker is."""


def sources() -> set[str]:
    """The files of the package."""
    found = {str(path.relative_to(ROOT)) for path in (ROOT / "stream_lsh").rglob("*") if path.is_file()}
    return {name for name in found if "__pycache__" not in name}


def run(words: Sequence[str], environ: Mapping[str, str], folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # noqa: S603 - the project's own commands
        words, env=dict(environ), cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE
    )


def last_line(done: "subprocess.CompletedProcess[str]") -> str:
    """The last line of a command's standard error: the client of Kafka may have logged lines before."""
    return (done.stderr.splitlines() or [""])[-1]


# -- docker-compose.yml


def test_compose_refers_to_nothing_that_is_not_there() -> None:
    for name, service in SERVICES.items():
        for other, how in service.get("depends_on", {}).items():
            assert other in SERVICES, name
            assert how["condition"] != "service_healthy" or "healthcheck" in SERVICES[other], name
        volumes = [volume.split(":")[0] for volume in service.get("volumes", ())]
        assert {volume for volume in volumes if volume[0] not in "./"} <= set(COMPOSE["volumes"]), name
        assert all(path.is_file() for path in mounts(name).values()), name
    assert [name for name in OURS if "build" in SERVICES[name]] == ["worker"]
    build = SERVICES["worker"]["build"]
    assert (ROOT / build["context"] / build["dockerfile"]).is_file()


def test_compose_has_two_workers_a_feeder_and_a_tail() -> None:
    assert {command(name)[1] for name in OURS} == {"worker", "feed", "tail"}
    workers = SERVICES["worker"]["deploy"]["replicas"]
    partitions = load(NEWS, {}).pipelines[0].partitions
    assert 2 == workers <= partitions


def test_services_that_end_with_an_error_restart() -> None:
    assert {service["restart"] for service in SERVICES.values()} == {"on-failure"}


def test_each_worker_has_a_writable_data_folder_of_its_own() -> None:
    (home,) = of(FINAL, "WORKDIR")
    folder = load(NEWS, {}).worker.data_dir
    assert folder is not None
    assert not folder.is_absolute()
    # A volume without a name belongs to one container, and takes the owner of the image's folder.
    assert home.text in SERVICES["worker"]["volumes"]
    assert f"--home-dir {home.text}" in of(FINAL, "RUN")[0].text


def test_versions_agree() -> None:
    assert SERVICES["broker"]["image"] == IMAGE == f"apache/kafka:{KAFKA_VERSION}"
    pom = (ROOT / "stream_lsh" / "worker" / "brokers" / "kafka" / "pom.xml").read_text(encoding="utf-8")
    assert f"<artifactId>kafka_2.13</artifactId><version>{KAFKA_VERSION}</version>" in pom
    assert {SERVICES[name]["image"] for name in OURS} == {f"stream-lsh:{__version__}"}
    labels = dict(word.split("=", 1) for one in of(FINAL, "LABEL") for word in one.words)
    assert labels["org.opencontainers.image.version"] == __version__ == PROJECT["version"]
    assert labels["org.opencontainers.image.licenses"] == PROJECT["license"]


def test_the_broker_is_where_the_others_look_for_it() -> None:
    settings = SERVICES["broker"]["environment"]
    advertised = [address.split("://")[1] for address in settings["KAFKA_ADVERTISED_LISTENERS"].split(",")]
    for name in OURS:
        config = load(NEWS, SERVICES[name]["environment"])
        assert config.origins["kafka.brokers"] == "environment STREAM_LSH__KAFKA__BROKERS"
        assert config.kafka.brokers[0] in advertised
    inside = advertised[0].split(":")[1]
    assert SERVICES["broker"]["healthcheck"]["test"][-1].endswith(f"/localhost/{inside}")
    (on_the_host,) = load(NEWS, {}).kafka.brokers
    assert on_the_host in advertised
    port = on_the_host.split(":")[1]
    assert SERVICES["broker"]["ports"] == [f"127.0.0.1:{port}:{port}"]  # no other machine: there is no password


@pytest.mark.parametrize("service", OURS)
def test_commands_files_and_variables_of_compose_are_accepted(service: str, tmp_path: Path) -> None:
    environ = {**os.environ, **SERVICES[service]["environment"], "STREAM_LSH__KAFKA__BROKERS": NO_BROKER}
    program, *arguments = command(service)
    assert program in PROJECT["scripts"]
    done = run([sys.executable, "-m", "stream_lsh", *arguments], {**environ, "PYTHONPATH": str(ROOT)}, tmp_path)
    # Any other error would be reported instead, or first.
    assert last_line(done).startswith(f"stream-lsh: kafka.brokers: got no answer from {NO_BROKER}"), done.stderr
    assert done.returncode == 1


# -- deploy/Dockerfile


def test_the_image_has_a_python_that_the_package_is_for() -> None:
    bases = {of(stage, "FROM")[0].words[0] for stage in (BUILD, FINAL)}
    assert len(bases) == 1  # what the first stage installs runs in the second
    version = re.fullmatch(r"python:(3\.(\d+))-slim", bases.pop())
    assert version is not None
    assert f"Programming Language :: Python :: {version[1]}" in PROJECT["classifiers"]
    assert PROJECT["requires-python"] == ">=3.11"
    assert int(version[2]) >= 11


def test_the_image_runs_as_an_unprivileged_user_and_receives_signals() -> None:
    (user,), (entry,), (default,) = of(FINAL, "USER"), of(FINAL, "ENTRYPOINT"), of(FINAL, "CMD")
    assert re.fullmatch(r"([1-9]\d*):\1", user.text)
    assert f"--uid {user.text.split(':')[0]} --user-group" in of(FINAL, "RUN")[0].text
    assert entry.text.startswith("[")
    assert entry.words == list(PROJECT["scripts"])
    assert default.words == ["--help"]
    assert variables(FINAL, {})["PYTHONUNBUFFERED"] == "1"


def test_nothing_is_built_in_the_last_stage() -> None:
    assert not [one for one in of(FINAL, "RUN") if re.search(r"\b(pip|apt|apt-get|gcc|make)\b", one.text)]
    (copied,) = of(FINAL, "COPY")
    assert copied.text.startswith(f"--from={of(BUILD, 'FROM')[0].text.split(' AS ')[1]} ")


def test_the_image_has_the_libraries_of_all_pipelines() -> None:
    (script,) = of(BUILD, "RUN")
    (extras,) = re.findall(r"\.whl\)\[([\w,]+)\]", script.text)
    assert extras.split(",") == [
        "allpairs",
        "code",
        "embedded",
        "html",
        "kafka",
        "parquet",
        "plots",
        "records",
        "stem",
        "web",
    ]
    assert set(extras.split(",")) <= PROJECT["optional-dependencies"].keys()


def test_the_extra_for_records_has_the_libraries_of_records() -> None:
    libraries = (ROOT / "stream_lsh" / "records" / "libraries.py").read_text(encoding="utf-8")
    needed = {re.split("[>=<]", one)[0] for one in PROJECT["optional-dependencies"]["records"]}
    assert needed == set(re.findall(r"^ +import (\w+)", libraries, re.MULTILINE))


def test_everything_that_is_copied_exists_and_reaches_the_builder() -> None:
    copied = {name for one in of(BUILD, "COPY") for name in one.words[:-1]}
    assert copied == {"pyproject.toml", "README.md", "LICENSE", "stream_lsh"}
    assert all((ROOT / name).exists() for name in copied)
    assert all(sent(name, IGNORED) for name in copied | sources())


@pytest.mark.parametrize(
    "name", [".git/HEAD", ".venv/bin/python", "state/x", "news.toml", ".env", "stream_lsh/cli/__pycache__/main.pyc"]
)
def test_nothing_else_reaches_the_builder(name: str) -> None:
    assert not sent(name, IGNORED)


def test_patterns_are_read_as_docker_reads_them() -> None:
    assert not sent("a/b/c", "*")
    assert sent("a/b/c", "*\n!a")
    assert not sent("a/b/c", "*\n!a\na/b")
    assert not sent("a/b/c.pyc", "*\n!a\n**/*.pyc")
    assert sent("a/b", "# a/b\n\nb\n*/c")


def test_instructions_are_read_as_docker_reads_them() -> None:
    first, second = stages('# x\nFROM a AS b\nRUN c \\\n# comment about d\n && d\nFROM e\nENTRYPOINT ["f", "g"]\n')
    assert [(one.name, one.text.split()) for one in first] == [("FROM", ["a", "AS", "b"]), ("RUN", ["c", "&&", "d"])]
    assert second[1].words == ["f", "g"]


@pytest.mark.packaging
def test_the_image_as_it_would_be_built_runs(tmp_path: Path) -> None:
    """The build commands of the Dockerfile, run in a folder that holds what it copies; then what it starts."""
    places = {"/src": tmp_path / "src", "/wheels": tmp_path / "wheels", "/opt/stream-lsh": tmp_path / "image"}
    for name in (name for one in of(BUILD, "COPY") for name in one.words[:-1]):
        places["/src"].mkdir(exist_ok=True)
        target = places["/src"] / name
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target)
    (script,) = of(BUILD, "RUN")
    text = script.text.replace("--no-cache-dir ", "")
    for path, place in places.items():
        text = text.replace(path, str(place))
    clean = {name: os.environ[name] for name in ("HOME", "PATH", "LANG") if name in os.environ}
    clean["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{clean['PATH']}"
    settings = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "HTTP", "http", "SSL_"))}
    built = run(["/bin/bash", "-ec", text], {"PIP_NO_COMPILE": "1", **settings, **clean}, places["/src"])
    assert built.returncode == 0, built.stderr

    (wheel,) = places["/wheels"].iterdir()
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == sources()
    assert {"stream_lsh/py.typed", "stream_lsh/worker/brokers/kafka/pom.xml"} <= packed

    environ = {**variables(FINAL, clean), **SERVICES["worker"]["environment"], "STREAM_LSH__KAFKA__BROKERS": NO_BROKER}
    environ["PATH"] = environ["PATH"].replace("/opt/stream-lsh", str(places["/opt/stream-lsh"]))
    program = shutil.which("stream-lsh", path=environ["PATH"])
    assert program == str(places["/opt/stream-lsh"] / "bin" / "stream-lsh")
    home = tmp_path / "home"
    home.mkdir()
    assert run([program, "--version"], environ, home).stdout == f"stream-lsh {__version__}\n"
    where = "import stream_lsh; print(stream_lsh.__file__)"
    found = run([str(Path(program).parent / "python"), "-c", where], environ, home)
    assert found.stdout.startswith(str(places["/opt/stream-lsh"]))
    records = home / "customers.toml"
    records.write_text('[pipeline]\nsource = "customers"\nkind = "record"\nprofile = "people"\n', encoding="utf-8")
    for arguments in (command("worker")[1:], ["worker", "--config", str(records)]):
        done = run([program, *arguments], environ, home)
        assert last_line(done).startswith(f"stream-lsh: kafka.brokers: got no answer from {NO_BROKER}"), done.stderr
        assert done.returncode == 1
