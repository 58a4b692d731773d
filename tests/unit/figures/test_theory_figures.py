"""The files in docs/theory/ contain the figures that the package draws.

python -m tests.unit.figures.test_theory_figures      draws them again

Another version of matplotlib draws the same lines in other bytes.  So each file has in a comment what it shows, labels
and numbers, and that is what is compared.
"""

import json
import re
import sys
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from docs.figures.collisions import collisions_figure
from docs.figures.family import Curve, family_figure
from docs.figures.filters import filters_figure
from docs.figures.slots import slots_figure
from stream_lsh.arrays import U64
from stream_lsh.figures.drawing import rendered
from stream_lsh.figures.scurve import scurve_figure
from stream_lsh.lsh.families.functions import Sensitivity
from stream_lsh.lsh.families.grid_triples import GridTriples
from stream_lsh.lsh.families.lines import Lines
from stream_lsh.lsh.families.minhash import MinHash
from stream_lsh.lsh.sample import sampled_agreements
from stream_lsh.lsh.solver import banding_of, choose_banding
from stream_lsh.measure.joins.join import METHODS, join
from stream_lsh.sketch.advice import advise_slots
from stream_lsh.sketch.catalog import scheme
from stream_lsh.text.catalog import shingler

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOCS = Path(__file__).resolve().parents[3] / "docs"
FOLDER = DOCS / "figures"
THRESHOLDS = (0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98)
_SHOWN = re.compile(r"\n<!-- shown: (.*) -->\n$")
_MOST_PLACES = 25


def corpus() -> "Figure":
    """Texts on 25 subjects, of which neighbouring ones share words, and copies of a few."""
    chance = np.random.RandomState(1)
    starts = [40 * (number % 25) for number in range(300)]
    texts = [" ".join(f"w{word}" for word in chance.randint(start, start + 75, 60)) for start in starts]
    texts += [f"{text} and more" for text in texts[:20]]
    seen = sampled_agreements(scheme("fast", 128)(shingler("word:1")(texts)))
    return scurve_figure(choose_banding(0.8, histogram=seen), seen)


def cascades() -> "Figure":
    """Three cascades, the probability that a function agrees as their argument."""
    minhash = MinHash()
    composed = {
        "AND 4, OR 4": minhash.and_(4).or_(4),
        "OR 4, AND 4": minhash.or_(4).and_(4),
        "OR 4, AND 4, AND 4, OR 4": minhash.or_(4).and_(4).and_(4).or_(4),
    }
    places = np.linspace(0, 1, 401)
    curves = [Curve(name, one.amplified(places)[0], one.fixed_points()[0], one.cost) for name, one in composed.items()]
    return family_figure(curves, "AND and OR, one after the other")


def lines() -> "Figure":
    """Random lines of cells of width 1, by how their directions are drawn."""
    families = {
        "uniform, 2 dimensions": Lines(2, 1, uniform=True),
        "uniform, 4 dimensions": Lines(4, 1, uniform=True),
        "normal, any dimension": Lines(4, 1),
    }
    promises = [Sensitivity(0.5, 2, 1 / 2, 1 / 3)]
    return collisions_figure(families, title="Random lines, in widths of a cell", promises=promises)


def fingerprints() -> "Figure":
    """1,024 functions of three squares, any of which may have all three in both prints."""
    many = GridTriples(1000).or_(1024)
    return collisions_figure(
        {"one of 1,024 triples": many, "one triple": GridTriples(1000)},
        title="Fingerprints on a grid, a fifth of the squares occupied",
        promises=[many.sensitivity(0.2, 0.8)],
    )


@cache
def drawn_sets() -> list[U64]:
    """Sets of frequent and rare elements, and copies of which up to a third was replaced."""
    chance = np.random.RandomState(7)  # its stream is frozen, unlike those of newer generators
    originals = [np.unique((3000 * chance.rand(60) ** 3).astype(np.uint64)) for _ in range(600)]
    copies = []
    for original in originals[:300]:
        replaced = chance.rand(original.size) < chance.rand() / 3
        others = (3000 * chance.rand(int(replaced.sum())) ** 3).astype(np.uint64)
        copies.append(np.unique(np.concatenate((original[~replaced], others))))
    return originals + copies


def filters() -> "Figure":
    """The four filters, by their comparisons of the same sets."""
    sets = drawn_sets()
    found = {method: [join(sets, threshold, method=method) for threshold in THRESHOLDS] for method in METHODS}
    compared = {method: [one.compared for one in answers] for method, answers in found.items()}
    return filters_figure(THRESHOLDS, compared, [one.left.size for one in found["suffix"]], len(sets))


FIGURES: dict[str, Callable[[], "Figure"]] = {
    "s-curve": lambda: scurve_figure(banding_of(0.549, 20, 5)),
    "corpus": corpus,
    "slots": lambda: slots_figure(advise_slots(0.5, relative_error=0.1, failure=0.05)),
    "cascades": cascades,
    "lines": lines,
    "fingerprints": fingerprints,
    "filters": filters,
}
DRAWN_BY_HAND = ("overview-dark", "overview-light")
"""Pictures of the README."""
every_figure = pytest.mark.parametrize("name", FIGURES)


def shown(drawn: "Figure") -> dict[str, list[Any]]:
    """The contents of a figure without their places on the paper: labels, and places of curves in their own units."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - optional
    from matplotlib.text import Text  # noqa: PLC0415

    labels = sorted({text.get_text() for text in drawn.findobj(Text) if isinstance(text, Text)} - {""})
    # Numbers beside the axes are chosen by matplotlib.
    labels = [label for label in labels if re.search("[A-Za-z]{2}", label) and "mathdefault" not in label]
    curves = [np.asarray(line.get_xydata(), np.float64) for axes in drawn.axes for line in axes.lines]
    places = [np.linspace(0, len(curve) - 1, min(len(curve), _MOST_PLACES)).astype(int) for curve in curves]
    bars = [bar.get_height() for axes in drawn.axes for bar in axes.patches if isinstance(bar, Rectangle)]
    return {
        "labels": labels,
        "curves": [
            [[_rounded(x) for x in curve[at]] for at in some] for curve, some in zip(curves, places, strict=True)
        ],
        "bars": [_rounded(height) for height in bars],
    }


def _rounded(number: float) -> float:
    return float(f"{number:.5g}")


def written(drawn: "Figure") -> str:
    """A figure as a file."""
    content = json.dumps(shown(drawn), ensure_ascii=False)
    assert "--" not in content
    return f"{rendered(drawn, 'svg').decode().rstrip()}\n<!-- shown: {content} -->\n"


def close(one: Any, other: Any) -> bool:
    """Whether two nested lists are of one shape and have the same numbers, but for rounding."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(close(*pair) for pair in zip(one, other, strict=True))
    return bool(one == pytest.approx(other, rel=1e-3, abs=1e-6))


@pytest.mark.slow
@every_figure
def test_the_file_shows_what_is_drawn_today(name: str) -> None:
    found = _SHOWN.search((FOLDER / f"{name}.svg").read_text(encoding="utf-8"))
    assert found, "draw it again: python -m tests.unit.figures.test_theory_figures"
    stored, today = json.loads(found[1]), shown(FIGURES[name]())
    assert stored["labels"] == today["labels"], "draw it again: python -m tests.unit.figures.test_theory_figures"
    assert close(stored["curves"], today["curves"]), "draw it again: python -m tests.unit.figures.test_theory_figures"
    assert close(stored["bars"], today["bars"]), "draw it again: python -m tests.unit.figures.test_theory_figures"


def test_the_files_are_those_of_the_tour_and_no_others() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md"))
    assert {path.stem for path in FOLDER.glob("*.svg")} == {*FIGURES, *DRAWN_BY_HAND}
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert [name for name in DRAWN_BY_HAND if f"figures/{name}.svg" not in readme] == []
    assert [name for name in FIGURES if f"figures/{name}.svg)" not in pages] == []


def test_other_numbers_and_other_labels_are_noticed() -> None:
    one, other = (shown(scurve_figure(banding_of(0.549, 20, rows))) for rows in (5, 6))
    assert one["labels"] != other["labels"]
    assert not close(one["curves"], other["curves"])
    assert close(one["curves"], shown(FIGURES["s-curve"]())["curves"])


@pytest.mark.slow
def test_every_filter_compares_fewer_pairs_than_the_one_before_and_none_fewer_than_there_are_matches() -> None:
    drawn = filters()
    every, *curves = [np.asarray(line.get_ydata()) for line in drawn.axes[0].lines]
    assert len(curves) == len(METHODS) + 1
    assert all((before >= after).all() for before, after in pairwise(curves))
    assert (every[0] >= curves[0]).all()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each, draw in FIGURES.items():
        (FOLDER / f"{each}.svg").write_text(written(draw()), encoding="utf-8")
    sys.exit()
