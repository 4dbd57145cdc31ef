"""What a direct proof costs, predicted before it starts."""

from __future__ import annotations

from dataclasses import dataclass

from ..numerics.network import Network

SECONDS_PER_PRODUCT = 1.2e-9  # measured with `ci/bench` on two cores: modular matrix products, everything included
OVERHEAD = 0.02


@dataclass(frozen=True)
class Cost:
    """Predicted seconds and bytes of a direct proof, and seconds of the independent replay of its certificate."""

    seconds: float
    memory: int
    replay_seconds: float


def predict(network: Network) -> Cost:
    """The predicted cost: elimination of a P x P matrix and of the fields, and the side condition's evaluations."""
    size = network.parameters
    pairs = sum(y.heads for y in network.layers) * network.t**2
    hidden = sum(y.ffn.hidden for y in network.layers if y.ffn) * network.t
    exponents = pairs * (network.kind == "softmax") + hidden
    work = size**3 + exponents**3 + exponents * size * 64 + size * network.t * network.l
    return Cost(OVERHEAD + SECONDS_PER_PRODUCT * work, 8 * 5 * size * size + 8 * exponents**2, OVERHEAD + 8e-9 * size**3)
