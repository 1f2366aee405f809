"""Reports: one self-contained HTML page with interactive figures, made from results files.

`page` puts it together, `figures` draws, `verdict` says in a sentence what a run shows, and
`checks` learns rows again in other units. It may import everything but the command line.
"""

from unitless.report.checks import unit_slider, units_and_comparison
from unitless.report.page import page, write_page
from unitless.report.verdict import verdict

__all__ = ["page", "unit_slider", "units_and_comparison", "verdict", "write_page"]
