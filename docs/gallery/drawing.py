"""What the scripts of the gallery share: one size, transparent SVG, colours for light and dark."""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
GREY = "#808890"
mpl.rcParams.update(
    {
        "figure.figsize": (7.2, 3.4),
        "figure.constrained_layout.use": True,
        "savefig.transparent": True,
        "svg.hashsalt": "unitless",
        "text.color": GREY,
        "axes.labelcolor": GREY,
        "axes.edgecolor": GREY,
        "xtick.color": GREY,
        "ytick.color": GREY,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "legend.frameon": False,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
)


def save(figure, script):
    """Write the picture beside the script, or into the folder given on the command line."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(script).parent
    path = folder / (Path(script).stem + ".svg")
    figure.savefig(path, metadata={"Date": None})
    print(f"wrote {path.name}")
