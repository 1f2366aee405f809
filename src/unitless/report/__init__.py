"""Reports: one self-contained HTML page with interactive figures, made from results files."""

from unitless.report.checks import unit_slider, units_and_comparison
from unitless.report.page import page, write_page
from unitless.report.verdict import verdict

__all__ = ["page", "unit_slider", "units_and_comparison", "verdict", "write_page"]
