"""The notebooks in docs/notebooks run offline, and their stored outputs are those of the run.

python -m tests.test_notebooks      runs them and stores the outputs

A cell runs as IPython runs it: printed text is a stream, and the value of a last expression is its result, as text and,
if the object has `_repr_html_`, as HTML.
"""

import ast
import io
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from docs.hooks import NOTEBOOKS, as_markdown
from tests.test_docs import argument_problems, command_problems, link_problems, sentences
from tests.test_language import problems

ROOT = Path(__file__).resolve().parents[1]
PATHS = [ROOT / source for source in NOTEBOOKS]
Notebook = dict[str, Any]
every_notebook = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def read(path: Path) -> Notebook:
    notebook: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def stored(notebook: Notebook) -> str:
    """The text of a file, in the form that Jupyter stores."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def executed(notebook: Notebook) -> Notebook:
    """The notebook with the outputs of a run, cell after cell in one namespace, in an empty folder."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                cells.append(cell)
                continue
            count += 1
            outputs = [*_outputs("".join(cell["source"]), namespace, count)]
            cells.append(cell | {"execution_count": count, "outputs": outputs})
    return notebook | {"cells": cells}


def _outputs(source: str, namespace: dict[str, Any], count: int) -> Iterator[dict[str, Any]]:
    tree, value = ast.parse(source), None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), namespace)  # noqa: S102 - the project's own documents
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)  # noqa: S307
    if printed.getvalue():
        yield {"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)}
    if value is not None:
        shown = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            shown = {"text/html": value._repr_html_().splitlines(keepends=True)} | shown
        yield {"data": shown, "execution_count": count, "metadata": {}, "output_type": "execute_result"}


def words_of(notebook: Notebook) -> str:
    return "\n\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")


@every_notebook
def test_the_stored_outputs_are_those_of_a_run(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert stored(executed(read(path))) == text, "run python -m tests.test_notebooks"


@every_notebook
def test_a_notebook_is_short_and_its_words_are_those_of_the_project(path: Path) -> None:
    notebook = read(path)
    words = words_of(notebook)
    assert words.startswith("# ")
    assert [*problems(f"{path.stem}.md", words), *link_problems(words, path)] == []
    assert [*command_problems(words), *argument_problems(words)] == []
    assert max(len(sentence.split()) for sentence in sentences(words)) <= 40
    assert len(notebook["cells"]) <= 25
    assert path.stat().st_size < 150_000
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])


def test_the_site_has_every_notebook_with_its_outputs() -> None:
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.ipynb")} == {*NOTEBOOKS}
    for path in PATHS:
        page = as_markdown(read(path), path.name)
        for cell in read(path)["cells"]:
            assert "".join(cell["source"]).removeprefix("# ").split("\n", 2)[-1] in page
            for output in cell.get("outputs", ()):
                data = output.get("data", {"text/plain": output.get("text")})
                shown = "".join(data.get("text/html", data["text/plain"])).rstrip()
                assert re.sub(r'<table class=".*?">', "<table>", shown) in page
        assert page.count("```") % 2 == 0


def test_results_run_and_fail_as_cells_do() -> None:
    code = {"cell_type": "code", "source": ["x = 2\n", "print(x)\n", "x * 3"], "outputs": [], "execution_count": None}
    (cell,) = executed({"cells": [code]})["cells"]
    assert [output["output_type"] for output in cell["outputs"]] == ["stream", "execute_result"]
    assert cell["outputs"][1]["data"] == {"text/plain": ["6"]}
    with pytest.raises(NameError):
        executed({"cells": [code | {"source": ["y"]}]})


if __name__ == "__main__":
    for file in PATHS:
        file.write_text(stored(executed(read(file))), encoding="utf-8")
    sys.stderr.write(f"{len(PATHS)} notebooks\n")
