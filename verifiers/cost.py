"""What a proof costs, predicted before it starts."""

from __future__ import annotations

from dataclasses import dataclass

from ..numerics.network import Network
from .coordinates.certify import block_columns, token_choices, uncovered
from .reductions import reduce
from .tokens import token_counts

# Seconds of one core, measured with `ci/bench`:
ELIMINATION = 1.4e-11  # a column cubed: exact matrix products at BLAS speed
ENTRIES = 1.2e-7  # an entry of the Jacobian: made, moved and reduced a few times
SATURATION = 1.3  # eliminations, where inputs come to add few rows each
DRAWS = 5e-8  # a drawn entry of the side condition's points
REPLAY = 8e-9  # a column cubed, in Python integers
COORDINATE_SECONDS, COORDINATE_REPLAY = 2e-5, 2e-4  # a squared column of the largest block
OVERHEAD = 0.03
DIRECT_PARAMETERS = 150  # up to here a direct proof is hardly slower, and its certificate shows a minor of the network itself


@dataclass(frozen=True)
class Cost:
    """Predicted seconds and bytes of a proof, and seconds of the independent replay of its certificate."""

    seconds: float
    memory: int
    replay_seconds: float


@dataclass(frozen=True)
class Budget:
    """Seconds and bytes that a proof may be predicted to take."""

    seconds: float
    memory: int

    def refusal(self, cost: Cost) -> str | None:
        """Why a proof of this cost is not tried, or None."""
        if cost.seconds > self.seconds:
            return f"not tried: predicted {cost.seconds:.3g} s exceed the budget of {self.seconds:g} s"
        if cost.memory > self.memory:
            return f"not tried: predicted {cost.memory / 2**30:.3g} GiB exceed {self.memory / 2**30:g} GiB"
        return None


def prefers_coordinates(network: Network) -> bool:
    """Whether a coordinate certificate is tried first: for networks whose direct proof takes long."""
    if network.parameters <= DIRECT_PARAMETERS:
        return False
    _, narrowed = reduce(network)
    return uncovered(narrowed) is None and bool(token_choices(narrowed))


def predict(network: Network) -> Cost:
    """The predicted cost of the proof that `prove_bounds` tries first: by a coordinate certificate where one may apply, else directly.

    Within a factor of about three on one core; not guaranteed: anything about a machine that is busy or has little memory.
    """
    if prefers_coordinates(network):
        columns = block_columns(network)
        return Cost(0.3 + COORDINATE_SECONDS * columns**2, 8 * 12 * columns**2 + (1 << 26), 0.05 + COORDINATE_REPLAY * columns**2)
    return direct(network)


def direct(network: Network) -> Cost:
    """The predicted cost of a direct proof: a Jacobian of P x P entries, its elimination and that of the fields, and the side
    condition's draws.

    Not counted: the search for further fields, where the bounds of a small network do not meet; it takes seconds.
    """
    size, tokens = network.parameters, token_counts(network)[0]
    pairs = sum(y.heads for y in network.layers) * tokens**2
    hidden = sum(y.ffn.hidden for y in network.layers if y.ffn) * tokens
    exponents = pairs * (network.kind == "softmax") + hidden
    seconds = OVERHEAD + SATURATION * ELIMINATION * size**3 + ENTRIES * size**2
    seconds += ELIMINATION * exponents**3 + DRAWS * exponents * size
    return Cost(seconds, (1 << 27) + 18 * size**2 + 8 * exponents * (exponents + 4 * size), OVERHEAD + REPLAY * size**3)
