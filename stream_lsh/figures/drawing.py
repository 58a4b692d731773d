"""The common parts of all figures: size, colours, and rendering to bytes.

Equal numbers give equal bytes with the same version of matplotlib: no dates, no random names.  An SVG follows the light
or dark mode of its reader, and its text stays text; a PNG is light.  The colours are safe for red-green colour
blindness, and no information is given by colour alone.
"""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from stream_lsh.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")

INK, MUTED, RULE, GROUND = "#1f2328", "#59636e", "#d1d9e0", "#ffffff"
BLUE, ORANGE, GREEN, PURPLE = "#1f6fc4", "#b3550a", "#1a7f64", "#8250a8"
LIGHT_BLUE, LIGHT_ORANGE, GREY = "#c3dcf5", "#f4cfae", "#b6bfc8"
SERIES = ((BLUE, "-"), (ORANGE, "--"), (GREEN, "-."), (PURPLE, (0, (5, 1, 1, 1, 1, 1))), (INK, ":"))
"""Colours and line styles of several curves in one figure."""
_DARK = {
    INK: "#e6edf3", MUTED: "#9198a1", RULE: "#2a313c", GROUND: "#0d1117", BLUE: "#5aa9ff", ORANGE: "#f29a4a",
    GREEN: "#4cc9a0", PURPLE: "#c297e8", LIGHT_BLUE: "#173a5e", LIGHT_ORANGE: "#5c3413", GREY: "#4d5661",
}  # fmt: skip
_UNDATED: dict[str, dict[str, None]] = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
_STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10.0,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "grid.color": RULE,
    "legend.frameon": False,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "svg.fonttype": "none",
    "svg.hashsalt": "stream_lsh",
}


def require() -> None:
    """Check that figures can be drawn.

    Raises:
        ConfigError: the library is missing -> install the extra.
    """
    try:
        import matplotlib  # noqa: F401, PLC0415 - optional
    except ImportError:
        raise ConfigError('drawing needs matplotlib: pip install "stream_lsh[plots]"') from None


def format_of(path: str) -> str:
    """The format of a figure, by the ending of its file name.

    Raises:
        ConfigError: another ending.

    Example:
        >>> format_of("curve.SVG")
        'svg'
    """
    ending = Path(path).suffix[1:].lower()
    if ending not in FORMATS:
        raise ConfigError(f"{path}: got the ending {ending!r}, expected {' or '.join(FORMATS)}")
    return ending


def figure(title: str, subtitle: str, heights: tuple[int, ...] = (1,)) -> "tuple[Figure, list[Axes]]":
    """An empty figure, with axes below each other that share their x axis.

    Args:
        title: of the figure.
        subtitle: in smaller letters below the title.
        heights: of the axes, as shares.
    """
    require()
    from matplotlib import rc_context  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with rc_context(_STYLE):
        made = Figure(figsize=(8.0, 3.0 + 1.6 * len(heights)), facecolor=GROUND)
        grid = made.subplots(len(heights), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights})
        made.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1)
        axes = list(grid[:, 0])
        for axis in axes:
            axis.set_facecolor(GROUND)
            axis.grid(True, axis="y", linewidth=0.6)
            axis.set_axisbelow(True)
        axes[0].set_title(subtitle, fontsize=9.5, color=MUTED, pad=10)
        axes[0].annotate(
            title, (0, 1), xycoords="axes fraction", xytext=(0, 30), textcoords="offset points", fontsize=13,
            fontweight="bold", color=INK,
        )  # fmt: skip
    return made, axes


def legend(axes: "Axes", place: Literal["upper left", "upper center", "lower left", "lower right"]) -> None:
    """Add a legend for the lines and areas."""
    axes.legend(loc=place, frameon=False, fontsize=9, labelcolor=INK)


def rendered(drawn: "Figure", format: str) -> bytes:
    """A figure as the bytes of a file, of one of FORMATS."""
    from matplotlib import rc_context  # noqa: PLC0415

    into = io.BytesIO()
    with rc_context(_STYLE):
        drawn.savefig(into, format=format, dpi=150, metadata=_UNDATED[format])
    data = into.getvalue()
    return _light_and_dark(data.decode()).encode() if format == "svg" else data


def save(drawn: "Figure", path: str) -> None:
    """Write a figure to a file, in the format of its ending.

    Raises:
        ConfigError: another ending.
        OSError: it cannot be written.
    """
    Path(path).write_bytes(rendered(drawn, format_of(path)))


def _light_and_dark(svg: str) -> str:
    """The picture with a second set of colours, for dark mode."""
    rules = [
        # Colours are in styles; those behind a hatching are in an attribute.
        f'[style*="{what}: {light}"], [{what}="{light}"] {{ {what}: {dark} !important }}'
        for light, dark in _DARK.items()
        for what in ("fill", "stroke")
    ]
    style = "\n".join(["<style>@media (prefers-color-scheme: dark) {", *rules, "}</style>"])
    head, end, rest = svg.partition("<defs>")
    return f"{head}{style}\n {end}{rest}"
