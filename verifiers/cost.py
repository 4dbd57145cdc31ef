"""What a direct proof costs, predicted before it starts."""

from __future__ import annotations

from dataclasses import dataclass

from ..numerics.network import Network
from .certificate import DIRECT_PARAMETERS
from .coordinates.certify import block_columns, token_choices, uncovered

SECONDS_PER_PRODUCT = 1.2e-9  # measured with `ci/bench` on two cores: modular matrix products, everything included
COORDINATE_SECONDS = 2e-5  # a squared column of the largest block
OVERHEAD = 0.02


@dataclass(frozen=True)
class Cost:
    """Predicted seconds and bytes of a direct proof, and seconds of the independent replay of its certificate."""

    seconds: float
    memory: int
    replay_seconds: float


def predict(network: Network) -> Cost:
    """The predicted cost of the proof that `prove_bounds` makes: by a coordinate certificate where one applies, else directly.

    Direct: elimination of a P x P matrix and of the fields, and the side condition's evaluations.
    """
    if network.parameters > DIRECT_PARAMETERS and uncovered(network) is None and token_choices(network):
        columns = block_columns(network)
        return Cost(0.3 + COORDINATE_SECONDS * columns**2, 8 * 12 * columns**2 + (1 << 26), 0.3 + 8e-9 * columns**3)
    size = network.parameters
    pairs = sum(y.heads for y in network.layers) * network.t**2
    hidden = sum(y.ffn.hidden for y in network.layers if y.ffn) * network.t
    exponents = pairs * (network.kind == "softmax") + hidden
    work = size**3 + exponents**3 + exponents * size * 64 + size * network.t * network.l
    return Cost(OVERHEAD + SECONDS_PER_PRODUCT * work, 8 * 5 * size * size + 8 * exponents**2, OVERHEAD + 8e-9 * size**3)
