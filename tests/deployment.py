"""The contents of docker-compose.yml, deploy/Dockerfile and .dockerignore, for tests that compare them with the code.

No container engine is needed.  `worker` is the service that builds our image; the others run it too.
"""

import json
import shlex
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parents[1]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = sorted(name for name in SERVICES if name != "broker")
"""The services that run our image."""


class Instruction(NamedTuple):
    """One instruction of a Dockerfile, continuation lines joined."""

    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """Its words, in either form, and without options such as `--from=`."""
        if self.text.startswith("["):
            return list(json.loads(self.text))
        return [word for word in shlex.split(self.text) if not word.startswith("--")]


def stages(text: str) -> list[list[Instruction]]:
    """The instructions of a Dockerfile by stage; each begins with its FROM."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    found: list[list[Instruction]] = []
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        name, _, rest = line.strip().partition(" ")
        if name == "FROM":
            found.append([])
        found[-1].append(Instruction(name, rest.strip()))
    return found


BUILD, FINAL = stages((ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8"))


def of(stage: list[Instruction], name: str) -> list[Instruction]:
    """The instructions of a name."""
    return [one for one in stage if one.name == name]


def variables(stage: list[Instruction], before: Mapping[str, str]) -> dict[str, str]:
    """The environment that the ENV instructions of a stage lead to."""
    found = dict(before)
    for one in of(stage, "ENV"):
        for name, _, value in (word.partition("=") for word in one.words):
            found[name] = value.replace("$PATH", found.get("PATH", ""))
    return found


def sent(path: str, patterns: str) -> bool:
    """Whether a `.dockerignore` lets a file reach the builder: the last pattern that fits it or its folder decides."""
    parts = path.split("/")
    spots = ["/".join(parts[: size + 1]) for size in range(len(parts))]
    kept = True
    for line in patterns.splitlines():
        pattern = line.strip()
        if pattern and not pattern.startswith("#"):
            bare = pattern.removeprefix("!").strip("/")
            names = [bare, bare.removeprefix("**/")] if bare.startswith("**/") else [bare]
            # `*` stands for no slash, `**/` for any folders or none.
            if any(
                fnmatchcase(spot, name) and (bare.startswith("**/") or spot.count("/") == name.count("/"))
                for spot in spots
                for name in names
            ):
                kept = pattern.startswith("!")
    return kept


def mounts(service: str) -> dict[str, Path]:
    """Path in the container to the file or folder of ours that is mounted there."""
    pairs = [volume.split(":") for volume in SERVICES[service].get("volumes", ())]
    return {pair[1]: ROOT / pair[0] for pair in pairs if pair[0].startswith(".")}


def command(service: str) -> list[str]:
    """The command of one of our services, with the paths of our mounted files."""
    (image,) = of(FINAL, "ENTRYPOINT")
    words = [*SERVICES[service].get("entrypoint", image.words), *SERVICES[service]["command"]]
    mounted = mounts(service)
    return [str(mounted.get(word, word)) for word in words]
