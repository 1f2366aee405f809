"""An extension of Griffe, which reads docstrings for mkdocstrings."""

import re

from griffe import Extension

EXAMPLES = "Examples\n--------\n"


class ExamplesInSections(Extension):
    """Let mkdocstrings show examples as code, also without a heading."""

    def on_object(self, *, obj, **more):
        """Put a heading before the first example, and take RST's double colons away."""
        if obj.docstring:
            text = re.sub(r"::$", ":", obj.docstring.value, flags=re.MULTILINE)
            if EXAMPLES not in text:
                text = re.sub(r"^>>> ", EXAMPLES + ">>> ", text, count=1, flags=re.MULTILINE)
            obj.docstring.value = text
