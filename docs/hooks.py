"""Hooks of MkDocs: the site also has the benchmarks and the changelog, and links to them work in both places."""

import json
import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "benchmarks/README.md": "benchmarks.md",
    "benchmarks/documents/README.md": "benchmarks/documents.md",
    "benchmarks/worker/README.md": "benchmarks/worker.md",
    "benchmarks/records/README.md": "benchmarks/records.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages outside of docs/, and where they are in the site."""
NOTEBOOKS = {
    f"docs/notebooks/{path.name}": f"notebooks/{path.stem}.md"
    for path in sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
}
"""Notebooks, and their pages in the site."""
OUTSIDE = re.compile(r"\]\((?!/)([^)\s:#]+)(#[^)\s]*)?\)")


def on_files(files: "Files", config: Any) -> "Files":
    """Add the pages from outside of docs/, and the pictures and data of the benchmarks."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - tests of the links do without MkDocs

    for source, target in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, target, content=relinked(text, source, target)))
    for source, target in NOTEBOOKS.items():
        notebook = json.loads((ROOT / source).read_text(encoding="utf-8"))
        page = relinked(as_markdown(notebook, Path(source).name), source, target)
        files.append(File.generated(config, target, content=page))
    for result in sorted((ROOT / "benchmarks" / "results").iterdir()):
        files.append(File.generated(config, f"benchmarks/{result.name}", abs_src_path=str(result)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links from docs/ to pages outside of it lead to their copies in the site."""
    if page.file.src_uri in {*PAGES.values(), *NOTEBOOKS.values()}:
        return markdown
    return relinked(markdown, f"docs/{page.file.src_uri}", page.file.src_uri)


def as_markdown(notebook: dict[str, Any], name: str) -> str:
    """A notebook with its outputs as a page, with a link to its file below the title.

    Args:
        notebook: as stored.
        name: of its file, beside the page.
    """
    parts = list[str]()
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        parts += map(_output, cell.get("outputs", ()))
    title, _, rest = parts[0].partition("\n")
    parts[0] = f"{title}\n\n[Download the notebook]({name}){{ download }}\n{rest}"
    return "\n\n".join(parts) + "\n"


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {"text/plain": output.get("text", [])})
    if "text/html" in data:  # the theme styles tables without a class
        return re.sub(r'<table class="[^"]*">', "<table>", "".join(data["text/html"]))
    return f"```text\n{''.join(data['text/plain']).rstrip()}\n```"


def relinked(text: str, source: str, target: str) -> str:
    """The text of a page of the project with its links as they are in the site.

    Args:
        text: Markdown.
        source: the path of the page in the project.
        target: its path in the site.
    """

    def link(match: re.Match[str]) -> str:
        path = os.path.normpath(PurePosixPath(source).parent / match[1])
        if path in PAGES or (path in NOTEBOOKS and path != source):
            there = (PAGES | NOTEBOOKS)[path]
        elif path.startswith("docs/"):
            there = path.removeprefix("docs/")
        elif path.startswith("benchmarks/results/"):
            there = f"benchmarks/{PurePosixPath(path).name}"
        else:
            return match[0]
        return f"]({os.path.relpath(there, PurePosixPath(target).parent)}{match[2] or ''})"

    return OUTSIDE.sub(link, text)
