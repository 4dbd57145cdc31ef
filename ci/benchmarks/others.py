"""What others wrote, for columns that are there only where it is installed: Debian's macaulay2, fflas-ffpack (with a fast BLAS, libopenblas-dev), PyTorch."""

from __future__ import annotations

import ctypes
import functools
import importlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent


@functools.cache
def find(name: str) -> Any:
    """What `PROGRAMS` makes of a name, else the Python module of that name; None, after one line on stderr, where it is missing."""
    try:
        return PROGRAMS[name]() if name in PROGRAMS else importlib.import_module(name)
    except (ImportError, OSError, subprocess.CalledProcessError) as error:
        print(f"ci/bench: no column for {name}: {error}", file=sys.stderr)
        return None


def macaulay2() -> Callable[..., str]:
    """The output of lightning.m2, from a fresh process, as a function of its arguments."""

    def script(*arguments: str) -> str:
        return _output("M2", "--script", str(HERE / "lightning.m2"), *arguments)

    script()  # without arguments it loads its package and ends
    return script


def fflas_ffpack() -> Callable[[NDArray[np.float64], int], int]:
    """The rank mod p of a matrix of balanced residues, compiled from rank.cpp for this machine."""
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder, "rank.so"))
        flags = _output("pkg-config", "--cflags", "--libs", "fflas-ffpack").split()
        _output("c++", "-O3", "-march=native", "-shared", "-fPIC", str(HERE / "rank.cpp"), "-o", library, *flags)
        rank_mod = ctypes.CDLL(library).rank_mod
    doubles = np.ctypeslib.ndpointer(np.float64, ndim=2, flags="C_CONTIGUOUS")
    rank_mod.argtypes = [ctypes.c_double, ctypes.c_size_t, ctypes.c_size_t, doubles]
    rank_mod.restype = ctypes.c_size_t
    return lambda matrix, p: int(rank_mod(p, *matrix.shape, matrix))


PROGRAMS: dict[str, Callable[[], Any]] = {"Macaulay2": macaulay2, "fflas-ffpack": fflas_ffpack}


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
