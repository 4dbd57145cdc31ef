"""Large products mod p by a JAX device, here its CPU: the same pivots as by numpy, and nothing wrong is believed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from neuromanifold.numerics import device
from neuromanifold.numerics.device import DeviceField, large_field
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.rank import RowSpace, kernel, pivots, rank, self_test
from neuromanifold.numerics.rings import DEFAULT_PRIME, PrimeField
from neuromanifold.verifiers import certificate

jax = pytest.importorskip("jax", reason="JAX is missing: products on its devices are not tested")
CPU = jax.devices("cpu")[0]
FEW_TERMS = 10_949_971  # a prime whose sums of `terms` go to the device, and are shorter than those of the matrices below


class Watched(DeviceField):
    """Notes the shapes of the products that the device did."""

    def __init__(self, p: int = DEFAULT_PRIME):
        super().__init__(p, CPU)
        self.shapes: list[tuple[int, int, int]] = []

    def _on_device(self, x, y):
        self.shapes.append((*x.shape, y.shape[1]))
        return super()._on_device(x, y)


def residues(n: int, m: int, r: int, ring: PrimeField) -> np.ndarray:
    """A random n x m matrix of rank r (with overwhelming probability)."""
    rng = np.random.default_rng([n, m, r])
    return ring.matmul(*(ring.lift(rng.integers(0, ring.p, shape)) for shape in ((n, r), (r, m))))


@pytest.mark.parametrize("p", [DEFAULT_PRIME, FEW_TERMS])
@pytest.mark.parametrize(("n", "m", "r"), [(700, 700, 700), (1_300, 600, 590), (600, 1_100, 560), (1_030, 1_030, 530)])
def test_pivots_are_those_of_numpy(n, m, r, p):
    plain, ring = PrimeField(p), Watched(p)
    matrix = residues(n, m, r, plain)
    self_test(ring)
    ring.shapes.clear()
    found = pivots(matrix, ring)
    assert ring.shapes, "the device did nothing"
    assert found == pivots(matrix, plain) and len(found.rows) == r


def test_row_spaces_and_kernels_are_those_of_numpy():
    plain, ring = PrimeField(), Watched()
    matrix = residues(900, 1_000, 620, plain)
    spaces = RowSpace(1_000, ring), RowSpace(1_000, plain)
    for rows in (matrix[:400], matrix[400:]):
        assert np.array_equal(*(space.add(rows) for space in spaces))
    assert np.array_equal(*(plain.integers(space.rest) for space in spaces))
    assert np.array_equal(*(plain.integers(kernel(matrix, field)) for field in (ring, plain)))
    assert ring.shapes


@pytest.mark.parametrize("p", [DEFAULT_PRIME, FEW_TERMS])
@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, -1)])
def test_sums_of_extreme_residues(p, signs):
    """All entries as large as they get, as many terms as fit, one more, and many more: nothing is rounded."""
    ring = Watched(p)
    for terms in (ring.terms, ring.terms + 1, 2 * ring.terms + device.LEAST):
        x, y = np.full((device.LEAST, terms), signs[0] * (p // 2 + 2.0)), np.full((terms, device.LEAST), signs[1] * (p // 2 + 2.0))
        assert np.all(ring.integers(ring.matmul(x, y)) == signs[0] * signs[1] * terms * (p // 2 + 2) ** 2 % p)
        ring.add_product(target := x[:, : device.LEAST].copy(), x, y)
        assert np.all(ring.integers(target) == (signs[0] * (p // 2 + 2) + signs[0] * signs[1] * terms * (p // 2 + 2) ** 2) % p)
    assert len(ring.shapes) == 2 * (1 + 1 + 3) and max(k for _, k, _ in ring.shapes) == ring.terms


def test_small_and_batched_products_stay_here():
    ring = Watched()
    ring.matmul(np.ones((device.LEAST, device.LEAST)), np.ones((device.LEAST, device.LEAST - 1)))
    ring.matmul(np.ones((2, device.LEAST, device.LEAST)), np.ones((2, device.LEAST, device.LEAST)))
    assert not ring.shapes


def one_more(z):
    return z.at[7, 9].add(1)


FAULTS = {
    "one entry": one_more,
    "not a number": lambda z: z.at[7, 9].set(float("nan")),
    "not reduced": lambda z: z.at[7, 9].add(DEFAULT_PRIME),
    "all zero": lambda z: 0 * z,
    "transposed": lambda z: z.T,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_product_is_refused(fault, monkeypatch):
    """By the self-test, and after one that passed; the twin, without a fault, is accepted."""

    class Fresh(DeviceField):
        """A class that the self-test has not seen yet."""

    x = residues(300, 300, 300, PrimeField())
    honest = device._kernel(DEFAULT_PRIME)
    self_test(tested := DeviceField(DEFAULT_PRIME, CPU))
    assert rank(x, Fresh(DEFAULT_PRIME, CPU)) == 300
    monkeypatch.setattr(device, "_kernel", lambda p: lambda a, b: FAULTS[fault](honest(a, b)))

    class FreshToo(DeviceField):
        pass

    with pytest.raises(ArithmeticError, match=r"matrix product of .+ is wrong"):
        self_test(FreshToo(DEFAULT_PRIME, CPU))
    with pytest.raises(ArithmeticError, match=r"matrix product of .+ is wrong"):
        tested.matmul(x, x)


def test_a_product_in_single_precision_is_refused(monkeypatch):
    def single(p):
        return lambda a, b: PrimeField(p).reduce(np.asarray(a, dtype=np.float32) @ np.asarray(b, dtype=np.float32))

    monkeypatch.setattr(device, "_kernel", single)
    with pytest.raises(ArithmeticError, match=r"matrix product of .+ is wrong"):
        DeviceField(DEFAULT_PRIME, CPU).matmul(*[residues(300, 300, 300, PrimeField())] * 2)


def test_the_self_test_does_not_rest_on_the_check_of_products(monkeypatch):
    """It compares with integer arithmetic, whatever the device field itself thinks of the product."""
    honest = device._kernel(DEFAULT_PRIME)
    monkeypatch.setattr(device, "_kernel", lambda p: lambda a, b: one_more(honest(a, b)))
    monkeypatch.setattr(DeviceField, "_probably", lambda *_: True)

    class Fresh(DeviceField):
        pass

    with pytest.raises(ArithmeticError, match="this machine's matrix product is wrong"):
        self_test(Fresh(DEFAULT_PRIME, CPU))


def test_a_device_without_memory_costs_time_only(monkeypatch):
    def full(p):
        raise RuntimeError("RESOURCE_EXHAUSTED")

    monkeypatch.setattr(device, "_kernel", full)
    matrix = residues(600, 600, 500, PrimeField())
    assert pivots(matrix, DeviceField(DEFAULT_PRIME, CPU)) == pivots(matrix, PrimeField())


@pytest.mark.parametrize(("platform", "expected"), [("cpu", PrimeField), ("tpu", PrimeField), ("METAL", PrimeField), ("gpu", DeviceField)])
def test_a_device_is_used_where_it_is_a_gpu(platform, expected, monkeypatch):
    class Device:
        pass

    Device.platform = platform
    monkeypatch.setattr(jax, "devices", lambda: [Device()])
    assert type(large_field()) is expected


def test_without_a_device_or_without_jax_numpy_does_the_work(monkeypatch):
    assert type(large_field()) is PrimeField or jax.devices()[0].platform == "gpu"

    def none():
        raise RuntimeError("no backend")

    monkeypatch.setattr(jax, "devices", none)
    assert type(large_field()) is PrimeField
    monkeypatch.setitem(sys.modules, "jax", None)
    assert type(large_field()) is PrimeField


def test_a_proof_by_a_device_is_the_same(monkeypatch):
    network = parse("softmax d=17,17,17 a=4 t=3 bias=o")
    expected = certificate.prove_bounds(network)
    ring = Watched()
    monkeypatch.setattr(device, "LEAST", 64)
    monkeypatch.setattr(certificate, "large_field", lambda p: ring)
    assert certificate.prove_bounds(network) == expected and not ring.shapes
    monkeypatch.setattr(certificate, "DEVICE_PARAMETERS", 0)
    assert certificate.prove_bounds(network) == expected and ring.shapes


@pytest.mark.parametrize(("least", "loaded"), [(certificate.DEVICE_PARAMETERS, False), (0, True)])
def test_small_proofs_do_not_load_jax(least, loaded):
    code = (
        "import sys; from neuromanifold.numerics.notation import parse; from neuromanifold.verifiers import certificate;"
        f" certificate.DEVICE_PARAMETERS = {least}; proof = certificate.prove_bounds(parse('lightning d=3,3 a=2 t=2'));"
        " print(proof.lower, 'jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["16", str(loaded)]


@pytest.mark.parametrize("wide", [False, True])
def test_matrices_of_jax(wide):
    """Ranks and pivots of JAX arrays, with and without 64 bits; an array that JAX holds is never overwritten."""
    matrix = np.random.default_rng(1).integers(-999, 1_000, (40, 9)) @ np.random.default_rng(2).integers(-9, 10, (9, 50))
    ring = PrimeField()
    expected = pivots(ring.lift(matrix), ring)
    with jax.enable_x64(wide):
        for dtype in ("int32", "float32", *(["float64", "int64"] if wide else [])):
            held = jax.numpy.asarray(matrix, dtype=dtype)
            assert held.dtype == dtype and rank(held, ring) == 9 == len(expected.rows)
            assert pivots(held, ring) == pivots(held, ring, overwrite=True) == expected
            assert np.array_equal(held, matrix)
            assert len(kernel(held, ring)) == 41
