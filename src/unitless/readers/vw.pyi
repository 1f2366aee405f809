from collections.abc import Iterator

from unitless.readers.blocks import FileBlock, Options, Position
from unitless.readers.source import Source

REASONS: dict[int, str]

def blocks(source: Source, options: Options, start: Position) -> Iterator[FileBlock]: ...
