"""What `stream_lsh` exports is what it says it exports, and importing it loads nothing heavy."""

import inspect
import re
import subprocess
import sys
from importlib.metadata import version

import pytest

import stream_lsh
from stream_lsh import errors
from stream_lsh.cli.commands.catalog import COMMANDS


def test_every_name_of_all_can_be_imported_and_documents_itself() -> None:
    assert stream_lsh.__all__ == sorted(stream_lsh.__all__)
    for name in stream_lsh.__all__:
        assert inspect.getdoc(getattr(stream_lsh, name)), name


def test_all_errors_are_exported_and_drawn_in_their_docstring() -> None:
    drawn = set(re.findall(r"\b[A-Z]\w+", errors.__doc__ or "")) & set(vars(errors))
    classes = {
        name for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, errors.StreamLSHError)
    }
    assert classes == drawn
    assert classes <= set(stream_lsh.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(stream_lsh, "NoSuchThing")
    assert set(stream_lsh.__all__) <= set(dir(stream_lsh))


def test_importing_the_package_loads_no_numpy() -> None:
    code = "import sys, stream_lsh, stream_lsh.cli.main; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603 - our own interpreter


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_loads_no_stream_engine(command: str) -> None:
    code = f"""
import contextlib, io, sys
from stream_lsh.cli.main import main
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    main([{command!r}, "--help"])
sys.exit(bool({{"faust", "aiokafka"}} & set(sys.modules)))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603 - our own interpreter


def test_the_version_is_that_of_the_package() -> None:

    assert stream_lsh.__version__ == version("stream_lsh")
