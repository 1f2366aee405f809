"""Results -> pictures -> one page that opens anywhere, made from the results file alone."""

from unitless.report.page import page, write_page

__all__ = ["page", "write_page"]
