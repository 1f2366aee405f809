"""Results -> pictures -> one page."""


def write_page(path, results):
    raise NotImplementedError
