"""The instruction set of this processor, for which the compiled modules are built and chosen.

`meson.build` runs this file: from source, only the level of the machine at hand is built. A wheel
for x86-64 has a second copy of the modules, for processors with AVX2 and fused multiply-add, in the
folder `avx2`; `choose` finds them there. All copies give the same bits.
"""

import platform
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

PACKAGE = "unitless"
FASTER = Path(__file__).parent / "avx2"


def level() -> str:
    """The argument of the compiler's -march, empty if none is needed."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return ""
    return "x86-64-v3" if has_avx2() else "x86-64-v2"


def has_avx2() -> bool:
    """Whether this processor has AVX2 and fused multiply-add, as the operating system says."""
    if sys.platform == "win32":
        import ctypes

        AVX2 = 40  # PF_AVX2_INSTRUCTIONS_AVAILABLE; every processor with it has FMA
        return bool(ctypes.windll.kernel32.IsProcessorFeaturePresent(AVX2))
    if sys.platform == "darwin":
        import subprocess

        names = ["machdep.cpu.features", "machdep.cpu.leaf7_features"]
        listed = subprocess.run(["sysctl", "-n", *names], capture_output=True, text=True).stdout
        return {"avx2", "fma"} <= set(listed.lower().split())
    try:
        listed = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="ignore")
    except OSError:
        return False
    return {"avx2", "fma"} <= set(listed.split())


class FasterModules:
    """Finds compiled modules of this package in the folder for this processor first."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module of that name in the folder, if it is there."""
        root, _, rest = name.partition(".")
        if root != PACKAGE or "." not in rest:
            return None
        package = rest.rpartition(".")[0].replace(".", "/")
        return PathFinder.find_spec(name, [str(FASTER / package)])


def choose() -> None:
    """Use the faster modules from now on, if they are installed and this processor can."""
    if FASTER.is_dir() and has_avx2():
        sys.meta_path.insert(0, FasterModules)


if __name__ == "__main__":
    print(level())
