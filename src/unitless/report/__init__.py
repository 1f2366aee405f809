"""Reports: one self-contained HTML page with figures, made from a results file."""

from unitless.report.page import page, write_page

__all__ = ["page", "write_page"]
