"""Conditions on networks that several theorems share."""

from __future__ import annotations

from collections.abc import Callable

from ...numerics.network import Network
from .theorem import Hypothesis, NonExample


def hypothesis(
    name: str,
    words: str,
    holds: Callable[[Network], bool],
    spec: str,
    dimension: int,
    harmless: str = "",
) -> Hypothesis:
    """A hypothesis with its non-example; `harmless` gives the reason where the formula survives without it."""
    return Hypothesis(name, words, holds, NonExample(spec, dimension, bool(harmless), harmless))


def lightning(n: Network) -> bool:
    """Linear attention."""
    return n.kind == "lightning"


def softmax(n: Network) -> bool:
    """Attention normalised by the softmax over the keys."""
    return n.kind == "softmax"


def one_layer(n: Network) -> bool:
    """l = 1."""
    return n.l == 1


def one_head(n: Network) -> bool:
    """Every layer has a single head."""
    return set(n.heads) <= {1}


def tokens_mix(n: Network) -> bool:
    """Some query sees another key than its own."""
    return not n.sees_itself_only


def no_mask(n: Network) -> bool:
    """Every query sees every key."""
    return not n.causal


def no_skip(n: Network) -> bool:
    """The layer's output replaces the stream (so there is no norm either)."""
    return not n.skip


def no_rope(n: Network) -> bool:
    """No rotary positions that act."""
    return not n.rotates


def no_bias(n: Network) -> bool:
    """No bias vectors."""
    return not n.bias


def no_ffn(n: Network) -> bool:
    """Attention only."""
    return n.ffn is None


def no_norm(n: Network) -> bool:
    """The stream is read as it is."""
    return n.norm is None


def full_value(n: Network) -> bool:
    """V is d' x d, without output matrix O."""
    return n.dv is None


def visible_tokens(n: Network) -> int:
    """The longest stretch of tokens that one query sees."""
    return n.t if n.window is None else min(n.t, n.window)
