"""Figures are files that show their numbers, the same bytes every time."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from docs.figures.collisions import collisions_figure
from docs.figures.family import Curve, family_figure
from docs.figures.filters import filters_figure
from docs.figures.similarities import similarities_figure
from docs.figures.slots import slots_figure
from stream_lsh.errors import ConfigError
from stream_lsh.figures.drawing import format_of, rendered, save
from stream_lsh.figures.scurve import scurve_figure
from stream_lsh.lsh.families.bit_sampling import BitSampling
from stream_lsh.lsh.families.family import Composed, Family
from stream_lsh.lsh.families.hyperplanes import Hyperplanes
from stream_lsh.lsh.solver import banding_of, choose_banding
from stream_lsh.lsh.spread import Agreements
from stream_lsh.sketch.advice import advise_slots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAIRS = np.zeros(129)
PAIRS[[0, 1, 2, 30, 110, 128]] = 89_907, 5_000, 300, 40, 12, 7
SEEN = Agreements(PAIRS, 437)
PLACES = np.linspace(0, 1, 101)
FAMILIES = [
    Curve("AND 4, OR 4", 1 - (1 - PLACES**4) ** 4, 0.7245, 16),
    Curve("OR 4, AND 4", (1 - (1 - PLACES) ** 4) ** 4, 0.2755, 16),
]
COLLISIONS: dict[str, Family | Composed] = {"4 bits": BitSampling(4), "two of them": BitSampling(4).and_(2)}
FIGURES: dict[str, Callable[[], "Figure"]] = {
    "scurve": lambda: scurve_figure(choose_banding(0.8)),
    "scurve of a corpus": lambda: scurve_figure(choose_banding(0.8, histogram=SEEN), SEEN),
    "similarities": lambda: similarities_figure(PAIRS, choose_banding(0.8), 437),
    "family": lambda: family_figure(FAMILIES, "Cascades"),
    "collisions": lambda: collisions_figure(COLLISIONS, promises=[COLLISIONS["4 bits"].sensitivity(1, 3)]),
    "slots": lambda: slots_figure(advise_slots(0.6, relative_error=0.2, failure=0.1)),
    "filters": lambda: filters_figure((0.8, 0.9), {"length": (90, 70), "prefix": (12, 5)}, (3, 0), 15),
}
every_figure = pytest.mark.parametrize("name", FIGURES)


def words(drawn: "Figure") -> str:
    """The text of an SVG, in one line."""
    svg = rendered(drawn, "svg").decode()
    return " ".join(re.findall(r"<text[^>]*>([^<]*)<", svg))


@pytest.mark.slow
@every_figure
def test_equal_numbers_give_equal_bytes(name: str) -> None:
    for format in ("svg", "png") if name == "scurve" else ("svg",):
        assert rendered(FIGURES[name](), format) == rendered(FIGURES[name](), format)


@every_figure
def test_the_extension_determines_the_format_of_a_file(name: str, tmp_path: Path) -> None:
    save(FIGURES[name](), str(tmp_path / "a.png"))
    save(FIGURES[name](), str(tmp_path / "a.SVG"))
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG\r\n")
    svg = (tmp_path / "a.SVG").read_text()
    assert svg.startswith("<?xml")
    assert "prefers-color-scheme: dark" in svg
    assert not re.search(r"<dc:date>|\b20[0-9][0-9]-[01][0-9]", svg)


@every_figure
def test_every_colour_has_one_for_the_dark(name: str) -> None:
    style, _, picture = rendered(FIGURES[name](), "svg").decode().partition("</style>")
    for place in ("{}: {}", '{}="{}"'):
        light = set(re.findall(place.format("(?:fill|stroke)", "(#[0-9a-f]{6})"), style))
        used = set(re.findall(place.format("(?:fill|stroke)", "(#[0-9a-f]{6})"), picture))
        assert used <= light
    assert "#ffffff" in picture


def test_the_s_curve_shows_threshold_recall_half_point_and_areas() -> None:
    text = words(scurve_figure(choose_banding(0.8)))
    for number in ("16 bands of 6 rows", "96 slots", "threshold 0.8", "recall 0.9923", "of 0.59", "0.219", "0.00015"):
        assert number in text
    assert "missed pairs: area 0.00007" in words(scurve_figure(choose_banding(0.95)))
    assert "recall 0.8670" in words(scurve_figure(banding_of(0.8, 14, 9)))


def test_the_pairs_and_the_candidates_of_a_corpus_are_shown() -> None:
    banding = choose_banding(0.8, histogram=SEEN)
    text = words(scurve_figure(banding, SEEN))
    candidates = (banding.false_candidates + banding.true_candidates) * PAIRS.sum()
    assert "437" in text
    assert f"all pairs: {PAIRS.sum():,.0f}" in text
    assert f"candidates: {candidates:,.0f}" in text


def test_similarities_show_their_pairs_and_need_some() -> None:
    text = words(similarities_figure(PAIRS, choose_banding(0.8), 437))
    for part in ("95,266 pairs of 437 documents", "16 bands of 6", "threshold 0.8"):
        assert part in text
    assert words(similarities_figure(PAIRS)).startswith("0.0")
    for nothing in (np.zeros(3), np.zeros(0)):
        with pytest.raises(ConfigError, match="got no pairs"):
            similarities_figure(nothing)


def test_families_show_names_fixed_points_and_costs() -> None:
    text = words(family_figure(FAMILIES, "Cascades"))
    for part in ("Cascades", "the base family", "AND 4, OR 4, 16 functions, fixed at 0.725", "fixed at 0.276"):
        assert part in text
    assert "AND 4" in words(family_figure([Curve("AND 4", PLACES**4)]))


@pytest.mark.parametrize("curves", [[], FAMILIES * 3, [Curve("one place", np.zeros(1))]])
def test_invalid_curves_are_rejected(curves: list[Curve]) -> None:
    with pytest.raises(ConfigError, match=f"got {len(curves)}, expected 1 to 5"):
        family_figure(curves)


def test_collisions_show_their_distance_and_their_guarantees() -> None:
    labels = labels_of(FIGURES["collisions"]())
    assert {"coordinates that differ", "≥ 0.75 at 1", "≤ 0.25 at 3", "4 bits", "two of them"} <= labels


def test_slots_show_the_slots_that_each_bound_needs() -> None:
    advice = advise_slots(0.6, relative_error=0.2, failure=0.1)
    labels = labels_of(slots_figure(advice))
    assert {f"{advice.slots:,} slots", f"{advice.by_chernoff:,} slots", "0.1 is allowed"} <= labels


def test_filters_show_all_pairs_and_those_that_match() -> None:
    labels = labels_of(FIGURES["filters"]())
    assert {"all pairs", "length", "prefix", "reach the threshold"} <= labels
    assert any("105 pairs of 15 sets" in label for label in labels)


def labels_of(drawn: "Figure") -> set[str]:
    from matplotlib.text import Text  # noqa: PLC0415 - optional

    return {text.get_text() for text in drawn.findobj(Text) if isinstance(text, Text)}


def test_families_of_two_distances_none_and_too_many_are_refused() -> None:
    for families in (
        {},
        {"bits": BitSampling(4), "planes": Hyperplanes(4)},
        {f"{n}": BitSampling(n) for n in range(4, 10)},
    ):
        with pytest.raises(ConfigError, match="families: got"):
            collisions_figure(families)


def test_filters_without_a_number_for_each_threshold_and_an_accuracy_of_two_slots_are_refused() -> None:
    with pytest.raises(ConfigError, match="compared: got 1 filters"):
        filters_figure((0.8, 0.9), {"length": (90,)}, (3, 1), 15)
    with pytest.raises(ConfigError, match="expected 3 at least"):
        slots_figure(advise_slots(0.9, relative_error=0.9, failure=0.9))


@pytest.mark.parametrize("path", ["curve", "curve.pdf", "svg"])
def test_other_endings_are_refused(path: str) -> None:
    with pytest.raises(ConfigError, match="expected png or svg"):
        format_of(path)
