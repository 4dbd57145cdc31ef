"""What Hypothesis loads at its own import: `st.from_type(Network)` draws networks. Nothing heavy, and our strategies only on use."""

from __future__ import annotations

from typing import Any


def register() -> None:
    """Tell Hypothesis, which is loaded already when it calls this, how to draw a `Network`."""
    from hypothesis import strategies

    from ..numerics.network import Network

    strategies.register_type_strategy(Network, _networks)


def _networks(kind: type) -> Any:
    from .strategies import networks

    return networks()
