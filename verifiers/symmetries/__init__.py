"""The catalogue of symmetry fields: every known polynomial vector field that annihilates a network's function."""

from __future__ import annotations

from collections.abc import Iterator

from ...numerics.network import Network
from . import attention, feedforward, norm, streams
from .field import Field, Variable
from .linear import LinearBlocks
from .nulls import Null, nulls, spanning

__all__ = ["Field", "LinearBlocks", "Null", "Variable", "catalogue", "nulls", "spanning"]


def catalogue(network: Network) -> Iterator[Field]:
    """All fields of the table in `verifiers/CERTIFICATES.md` section 7 whose conditions this network meets."""
    if network.kind == "mlp":
        yield from feedforward.mlp_fields(network)
    for layer in network.layers:
        for mechanism in (attention, streams, feedforward, norm):
            yield from mechanism.fields(network, layer)
