"""Parameter files: .json (names to nested lists) and .npz (numpy arrays), read with limits and without pickle."""

from __future__ import annotations

import json
import math
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..numerics.network import Network
from .exits import CommandError

if TYPE_CHECKING:
    from ..verifiers.points.theta import Theta

MAX_BYTES = 32 << 20  # of a file, and of a member of an archive as its header promises


def read_parameters(path: str, network: Network) -> Theta:
    """The parameter point in a file, exact: floats are the rationals that they are, strings are decimals or fractions.

    Raises `CommandError` (exit 2) with one line for whatever is wrong with the file, `OSError` where it cannot be read.
    """
    readers = {".json": _from_json, ".npz": _from_npz}
    reader = readers.get(Path(path).suffix.lower())
    if reader is None:
        raise CommandError(f"{path}: parameters are read from .json or .npz files")
    given = reader(path, network)
    from ..verifiers.points.theta import ThetaError, exact_theta

    try:
        return exact_theta(network, given)
    except ThetaError as error:
        raise CommandError(f"{path}: {error}") from None


def _from_json(path: str, network: Network) -> Any:
    with Path(path).open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise CommandError(f"{path} has more than {MAX_BYTES} bytes")
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_no_twins, parse_constant=_no_constant)
    except RecursionError:
        raise CommandError(f"{path} is nested too deeply") from None
    except ValueError as error:
        raise CommandError(f"{path} is no JSON of parameters: {error}") from None


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a name occurs twice")
    return made


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a finite number")


def _from_npz(path: str, network: Network) -> dict[str, Any]:
    shapes = dict(network.parameter_shapes())
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if len(names) > len(shapes) + 1 or len(set(names)) < len(names):
                raise CommandError(f"{path} has {len(names)} members; this network has the tensors {', '.join(shapes)}"[:600])
            return {name.removesuffix(".npy"): _member(path, archive, name, shapes) for name in names}
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise CommandError(f"{path} is no .npz archive of plain arrays: {error}") from None


def _member(path: str, archive: zipfile.ZipFile, name: str, shapes: dict[str, tuple[int, ...]]) -> Any:
    """One array; its header is believed only if it promises the shape that the network needs and plain numbers."""
    import numpy as np
    from numpy.lib import format as npy

    tensor = name.removesuffix(".npy")
    if tensor not in shapes:
        return None  # reported as unknown by its name
    with archive.open(name) as file:
        version = npy.read_magic(file)
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read_header(file)
        if dtype.kind not in "iuf" or dtype.itemsize > 8:
            raise CommandError(f"{path}: {tensor} holds {dtype}; only integers and floats up to 64 bits are read, never pickled objects")
        if shape != shapes[tensor]:
            raise CommandError(f"{path}: {tensor} has shape {shape}, this network needs {shapes[tensor]}")
        count = math.prod(shape) * dtype.itemsize
        if count > MAX_BYTES:
            raise CommandError(f"{path}: {tensor} has more than {MAX_BYTES} bytes")
        data = file.read(count)
    if len(data) != count:
        raise CommandError(f"{path}: {tensor} is cut short")
    return np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if fortran else "C")
