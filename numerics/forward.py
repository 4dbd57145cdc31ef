"""The forward pass, written once: `record(network)` is its program.

    x -> [norm] -> attention -> [skip] -> [[norm] -> ffn -> [skip]] -> next layer          (`oracle/NOTATION.md`)
"""

from __future__ import annotations

from .attention import attention
from .feedforward import feed_forward
from .network import Network
from .norm import normalise
from .program import Program


def record(network: Network) -> Program:
    """The program of f_theta: input X of shape (d_0, t), output of shape (d_l, t); mlp has t = 1.

    Parameters carry the names and shapes of `network.parameter_shapes()`.
    """
    p = Program()
    shapes = dict(network.parameter_shapes())
    params = {name: p.param(name, shape) for name, shape in shapes.items()}
    x = p.input((network.d[0], network.t))
    if network.kind == "mlp":
        for i in range(1, network.l + 1):
            x = p.einsum("nm,mt->nt", params[f"{i}.W"], x)
            if i < network.l:
                x = p.power(x, network.r or 1)
    for layer in network.layers:
        mine = {name.partition(".")[2]: v for name, v in params.items() if name.startswith(f"{layer.index}.")}
        read = normalise(p, network, x, mine.get("g1"), mine.get("s1"))
        y = attention(p, network, layer, mine, read)
        x = p.add(y, x) if network.skip else y
        if layer.ffn:
            read = normalise(p, network, x, mine.get("g2"), mine.get("s2"))
            y = feed_forward(p, layer, network.t, mine, read)
            x = p.add(y, x) if network.skip else y
    p.output = x
    return p

