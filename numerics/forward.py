"""The forward pass, written once: `record(network)` is its program.

    x -> [norm] -> attention -> [skip] -> [[norm] -> ffn -> [skip]] -> next layer          (`oracle/NOTATION.md`)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from .attention import attention
from .feedforward import feed_forward
from .network import Layer, Network
from .norm import normalise
from .program import Program


def record(network: Network, shifts: bool = False, silent: int = 0) -> Program:
    """The program of f_theta: input X of shape (d_0, t), output of shape (d_l, t); mlp has t = 1.

    Parameters carry the names and shapes of `network.parameter_shapes()`. With `shifts` two more follow, `in` (d_0, 1) and
    `out` (d_l, 1): constants that are added to all tokens of the input and of the output. The last `silent` coordinates of
    the input are 0.
    """
    p = Program()
    params = {name: p.param(name, shape) for name, shape in network.parameter_shapes()}
    ends = [p.param(name, (d, 1)) for name, d in (("in", network.d[0]), ("out", network.d[-1]))] if shifts else []
    x = p.input((network.d[0], network.t))
    if silent:
        x = p.mul(x, p.const(np.arange(network.d[0])[:, None] < network.d[0] - silent))
    if ends:
        x = p.add(x, ends[0])
    for i, part in _parts(network):
        x = _part(p, network, i, part, params, x)
    p.output = p.add(x, ends[1]) if ends else x
    return p


def record_parts(network: Network) -> Iterator[Program]:
    """The program of each part alone, from stream to stream: attention and ffn of each layer, mlp: one part a layer.

    Their composition is the program of `record`. A part has the parameters of its layer.
    """
    width = network.d[0]
    for i, part in _parts(network):
        p = Program()
        mine = [(name, shape) for name, shape in network.parameter_shapes() if name.startswith(f"{i}.")]
        params = {name: p.param(name, shape) for name, shape in mine}
        p.output = _part(p, network, i, part, params, p.input((width, network.t)))
        width = p.shape(p.output)[0]
        yield p


def _parts(network: Network) -> Iterator[tuple[int, str]]:
    if network.kind == "mlp":
        yield from ((i, "forms") for i in range(1, network.l + 1))
    for layer in network.layers:
        yield layer.index, "attention"
        if layer.ffn:
            yield layer.index, "ffn"


def _part(p: Program, network: Network, i: int, part: str, params: Mapping[str, int], x: int) -> int:
    """The stream after a part of layer i, from the stream x before it."""
    if part == "forms":
        x = p.einsum("nm,mt->nt", params[f"{i}.W"], x)
        return p.power(x, network.r or 1) if i < network.l else x
    layer: Layer = network.layers[i - 1]
    mine = {name.partition(".")[2]: v for name, v in params.items() if name.startswith(f"{i}.")}
    if part == "attention":
        read = normalise(p, network, x, mine.get("g1"), mine.get("s1"))
        y = attention(p, network, layer, mine, read)
    else:
        read = normalise(p, network, x, mine.get("g2"), mine.get("s2"))
        y = feed_forward(p, layer, network.t, mine, read)
    return p.add(y, x) if network.skip else y
