"""GF(p) whose large matrix products are done by a GPU, where JAX sees one; JAX is loaded on first use.

Reference for the check of a product: Freivalds, *Probabilistic machines can use less running time*, IFIP Congress 1977.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .rings import DEFAULT_PRIME, Array, PrimeField

LEAST = 256  # rows, terms and columns of a product that is worth the way to the device and back: estimated, not measured


class DeviceField(PrimeField):
    """GF(p) as `PrimeField`; matrix products with at least `LEAST` rows, terms and columns are done by a JAX device.

    Guaranteed: what the device returns is not trusted. numpy compares each product x y with x (y v) for a random vector v, so
    that a wrong one passes with probability 1/p at most; otherwise it raises `ArithmeticError`. Not guaranteed: that the device does
    the work. Batched products, those of primes with few `terms`, and those for which it has no memory left are numpy's.
    """

    test_shapes = (*PrimeField.test_shapes, (LEAST, LEAST, LEAST))

    def __init__(self, p: int, device: Any):
        super().__init__(p)
        self.device = device
        self._random = np.random.default_rng(p)

    def _product(self, x: Array, y: Array) -> Array:
        if not _large(x, y):
            return super()._product(x, y)
        try:
            product = self._on_device(x, y)
        except RuntimeError:  # other processes may fill its memory
            return super()._product(x, y)
        bound = self.p // 2 + 2
        if not (-bound <= product.min() and product.max() <= bound and self._probably(product, x, y)):
            raise ArithmeticError(f"the matrix product of {self.device} is wrong mod {self.p}")
        return product

    def _on_device(self, x: Array, y: Array) -> Array:
        """What the device says that x @ y is, reduced: integers (numpy float64)."""
        import jax

        rows, terms, columns = (_padded(n) for n in (*x.shape, y.shape[1]))
        with jax.enable_x64(True):
            left = jax.device_put(_with_zeros(x, (rows, terms)), self.device)
            right = jax.device_put(_with_zeros(y, (terms, columns)), self.device)
            padded = np.asarray(_kernel(self.p)(left, right))
        result: Array = np.rint(padded[: len(x), : y.shape[1]])
        return result

    def _probably(self, product: Array, x: Array, y: Array) -> bool:
        """Whether the residues `product` are x @ y in a random direction."""
        v = self._random.integers(-(self.p // 2), self.p // 2 + 1, (y.shape[1], 1)).astype(np.float64)
        return np.array_equal(self.integers(self.matmul(product, v)), self.integers(self.matmul(x, self.matmul(y, v))))

    def add_product(self, target: Array, x: Array, y: Array, scratch: Array | None = None) -> None:
        """target += x y, reduced, in place."""
        if _large(x, y):
            self.reduce_in_place(target, self.matmul(x, y))
        else:
            super().add_product(target, x, y, scratch)


def large_field(p: int = DEFAULT_PRIME) -> PrimeField:
    """GF(p) for large matrices: a `DeviceField` where JAX is installed and its default device is a GPU, otherwise a `PrimeField`.

    Loads JAX. Other accelerators are left alone: they have no float64, or none that rounds as IEEE 754 says.
    """
    try:
        import jax

        device = jax.devices()[0]
    except (ImportError, RuntimeError):  # there is no JAX, or it finds no device
        return PrimeField(p)
    return DeviceField(p, device) if device.platform == "gpu" else PrimeField(p)


def _large(x: Array, y: Array) -> bool:
    return x.ndim == y.ndim == 2 and min(*x.shape, y.shape[1]) >= LEAST


def _padded(n: int) -> int:
    """n rounded up to one of four sizes an octave: few kernels are compiled."""
    step = 1 << max(0, n.bit_length() - 3)
    return -(-n // step) * step


def _with_zeros(x: Array, shape: tuple[int, int]) -> Array:
    padded = np.zeros(shape)
    padded[: len(x), : x.shape[1]] = x
    return padded


@functools.cache
def _kernel(p: int) -> Any:
    """The compiled product of two matrices of residues mod p, reduced as `PrimeField.reduce` does."""
    import jax

    def product(x: Any, y: Any) -> Any:
        exact = jax.numpy.matmul(x, y, precision=jax.lax.Precision.HIGHEST)
        return exact - jax.numpy.rint(exact * (1.0 / p)) * p

    return jax.jit(product)
