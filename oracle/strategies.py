"""Hypothesis strategies for attention networks, their parameters, symmetries and certificates, for anybody's own tests.

    from hypothesis import given
    from neuromanifold.oracle import strategies as nm

    @given(nm.networks(kinds=("softmax",), max_parameters=40))
    def test_something(network): ...

Values shrink towards small networks of few mechanisms and towards zero entries; a network's repr is its one-line notation. Importing this
module changes no setting and loads no profile: deadlines and health checks are the user's own.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from hypothesis.strategies import DrawFn, SearchStrategy

from ..numerics.network import KINDS, Network
from ..numerics.rings import Array, Ring
from .conformance.symmetry import exchanged, flow
from .fuzz.case import Case, Unlisted
from .fuzz.domain import USUAL, Domain, draw_network
from .fuzz.drawn import When

BATCH = 100
ENTRIES = 100  # a larger array repeats one value except at a few drawn entries
LARGEST = 3  # of an entry

Parameters = dict[str, Array]


def networks(
    kinds: tuple[str, ...] = KINDS,
    *,
    max_parameters: int = 60,
    max_layers: int = 3,
    max_width: int = 5,
    max_tokens: int = 4,
    mechanisms: tuple[str, ...] = USUAL,
) -> SearchStrategy[Network]:
    """Networks of the given kinds with at most so many parameters, and of the given mechanisms at most four at once.

    `mechanisms` are heads, kv, dv, skip, causal, window, rope, alibi, bias, ffn and norm; norm only on request, since a proof with
    norms may take a minute. Every draw succeeds: nothing is filtered. Shrinks towards few choices: one layer, width 1, one
    token, few mechanisms; a line that is short, not always the shortest.
    Raises `ValueError` for unknown words or where no network fits.
    """
    domain = Domain(tuple(kinds), max_parameters, max_layers, max_width, max_tokens, tuple(mechanisms))
    strategy = _networks(domain)
    strategy.__dict__["domain"] = domain  # a conjecture over this strategy draws, shrinks and lists by the domain
    return strategy


@st.composite
def _networks(draw: DrawFn, domain: Domain) -> Network:
    return draw_network(lambda options: draw(st.sampled_from(options)), domain)


def parameters(network: Network, ring: Ring | None = None) -> SearchStrategy[Parameters]:
    """One array for each name of `network.parameter_shapes()`, with entries -3..3, lifted to the ring (float64 without one).

    Small integers often make special points: nothing generic is guaranteed, which is what a test wants. Shrinks towards zeros.
    """
    shapes = dict(network.parameter_shapes())
    return st.fixed_dictionaries({name: _arrays(shape, ring) for name, shape in shapes.items()})


def inputs(network: Network, ring: Ring | None = None) -> SearchStrategy[Array]:
    """An input X of shape (d_0, t), entries as in `parameters`."""
    return _arrays((network.d[0], network.t), ring)


def _arrays(shape: tuple[int, ...], ring: Ring | None) -> SearchStrategy[Array]:
    elements = st.integers(-LARGEST, LARGEST)
    fill = st.nothing() if math.prod(shape) <= ENTRIES else None
    drawn = hnp.arrays(np.int64, shape, elements=elements, fill=fill)
    return drawn.map(lambda array: array.astype(np.float64) if ring is None else ring.lift(array))


@dataclass(frozen=True)
class Symmetry:
    """A transformation of parameters that changes no function: the flow of a field for a short time, or an exchange of two heads.

    Called with float64 parameters, it returns moved ones. A flow is integrated with a relative error near 1e-10, for entries of
    order 1; an exchange is exact.
    """

    network: Network
    name: str
    place: str
    _move: Any

    def __call__(self, params: Mapping[str, Array]) -> Parameters:
        """The parameters moved."""
        moved: Parameters = self._move(params)
        return moved

    def __repr__(self) -> str:
        return f"<{self.name}, {self.place}, of {str(self.network)!r}>"


def symmetries(network: Network) -> SearchStrategy[Symmetry]:
    """The symmetries that the oracle knows of the network: short flows of its catalogue's fields, and exchanges of two key/value groups.

    Not guaranteed: that there are no others. Empty (`st.nothing()`) for a network without any, which some polynomial ones are.
    """
    from ..verifiers.symmetries import catalogue

    choices: list[SearchStrategy[Symmetry]] = []
    for field in catalogue(network):
        if field.variable.kind == "null":  # taken mod p: it has no flow over the reals
            continue
        size = len(field.variable.basis())
        if not size:
            continue
        places = "".join(f", {k} {v}" for k, v in field.index.items())
        directions = st.lists(st.integers(-1, 1), min_size=size, max_size=size) if size <= ENTRIES else st.just([1] * size)
        choices.append(
            directions.map(
                lambda d, field=field, places=places: Symmetry(  # type: ignore[misc]
                    network, field.name, f"layer {field.layer}{places}",
                    functools.partial(flow, network, field, direction=np.array(d, dtype=np.float64)),
                )
            )
        )  # fmt: skip
    for layer in () if network.alibi else network.layers:  # with alibi each head has its own slope
        choices += [st.just(_exchange(network, layer.index, g)) for g in range(layer.kv - 1)]
    return st.one_of(choices) if choices else st.nothing()


def _exchange(network: Network, layer: int, group: int) -> Symmetry:
    def move(params: Mapping[str, Array]) -> Parameters:
        return exchanged(network, params, layer, group, group + 1).params

    return Symmetry(network, "exchange of heads", f"layer {layer}, groups {group} and {group + 1}", move)


@st.composite
def equivalent_pairs(draw: DrawFn, network: Network) -> tuple[Parameters, Parameters]:
    """Parameters and their image under a symmetry: two points with the same function, up to the symmetry's rounding.

    Where no symmetry is known the two are equal.
    """
    first = draw(parameters(network))
    known = symmetries(network)
    return first, dict(first) if known.is_empty else draw(known)(first)


def certificates(of: SearchStrategy[Network] | None = None) -> SearchStrategy[str]:
    """Texts of certificates that the oracle writes for networks (by default one layer, at most 12 parameters): `valid` when replayed.

    Each distinct network is proved once a process; a small one takes some 10 ms.
    """
    if of is None:
        of = networks(max_parameters=12, max_layers=1)
    _certificate("lightning d=1,1 a=1 t=1")  # loads the provers now, outside of any test's time
    return of.map(lambda network: _certificate(str(network)))


@functools.lru_cache(maxsize=4_096)
def _certificate(spec: str) -> str:
    from ..verifiers.certificate import dumps
    from .dimension import dimension

    answer = dimension(spec)
    if answer.certificate is None:
        raise ArithmeticError(f"{spec}: no certificate was written: {answer.evidence}")
    return dumps(answer.certificate)


class FromStrategy:
    """Any Hypothesis strategy of networks as the cases of a conjecture. It can be sampled; its networks cannot be listed."""

    def __init__(self, strategy: SearchStrategy[Network], when: When | None = None):
        self.strategy, self.when = strategy, when or (lambda network: True)

    def cases(self, seed: int, examples: int) -> Iterator[Case | None]:
        """Batches of examples without repetition, until a batch has nothing new."""
        seen: set[str] = set()
        batch = 0
        while new := [n for n in self._draw(f"{seed}/{batch}") if str(n) not in seen and not seen.add(str(n))]:  # type: ignore[func-returns-value]
            batch += 1
            for network in new:
                yield Case(str(network)) if self.when(network) else None

    def _draw(self, label: str) -> list[Network]:
        drawn: list[Network] = []

        @seed(int.from_bytes(label.encode(), "big"))
        @settings(max_examples=BATCH, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
        @given(self.strategy)
        def collect(network: Network) -> None:
            drawn.append(network)

        collect()
        return drawn

    def simpler(self, case: Case) -> Iterator[Case]:
        """Smaller networks among three batches of draws."""
        for batch in range(3):
            for network in self._draw(f"{case.spec}/{batch}"):
                smaller = Case(str(network))
                if smaller.size < case.size and self.when(network):
                    yield smaller

    def below(self, case: Case) -> Iterator[Case]:
        """Never listed."""
        raise Unlisted("a strategy that is not networks(...) does not list its networks")

    def admits(self, case: Case) -> bool:
        """Whether the condition holds; whether the strategy could draw the network is not known."""
        return self.when(case.network)

    def complete(self, examples: int) -> bool:
        """Never claimed."""
        return False
