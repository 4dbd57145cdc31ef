"""What a direct proof costs, predicted before it starts."""

from __future__ import annotations

from dataclasses import dataclass

from ..numerics.network import Network
from .coordinates.certify import block_columns, token_choices, uncovered
from .reductions import reduce
from .tokens import token_counts

SECONDS_PER_PRODUCT = 1.2e-9  # measured with `ci/bench` on two cores: modular matrix products, everything included
COORDINATE_SECONDS = 2e-5  # a squared column of the largest block
OVERHEAD = 0.02
DIRECT_PARAMETERS = 400  # up to here a direct proof is as fast, and its certificate shows a minor of the network itself


@dataclass(frozen=True)
class Cost:
    """Predicted seconds and bytes of a direct proof, and seconds of the independent replay of its certificate."""

    seconds: float
    memory: int
    replay_seconds: float


def prefers_coordinates(network: Network) -> bool:
    """Whether a coordinate certificate is tried first: for networks whose direct proof takes long."""
    if network.parameters <= DIRECT_PARAMETERS:
        return False
    _, narrowed = reduce(network)
    return uncovered(narrowed) is None and bool(token_choices(narrowed))


def predict(network: Network) -> Cost:
    """The predicted cost of the proof that `prove_bounds` makes: by a coordinate certificate where one applies, else directly.

    Direct: elimination of a P x P matrix and of the fields, and the side condition's evaluations.
    """
    if prefers_coordinates(network):
        columns = block_columns(network)
        return Cost(0.3 + COORDINATE_SECONDS * columns**2, 8 * 12 * columns**2 + (1 << 26), 0.3 + 8e-9 * columns**3)
    size, tokens = network.parameters, token_counts(network)[0]
    pairs = sum(y.heads for y in network.layers) * tokens**2
    hidden = sum(y.ffn.hidden for y in network.layers if y.ffn) * tokens
    exponents = pairs * (network.kind == "softmax") + hidden
    work = size**3 + exponents**3 + exponents * size * 64 + size * tokens * network.l
    return Cost(OVERHEAD + SECONDS_PER_PRODUCT * work, 8 * 5 * size * size + 8 * exponents**2, OVERHEAD + 8e-9 * size**3)
