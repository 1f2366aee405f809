"""The comparators line by line, without a thought for speed."""
