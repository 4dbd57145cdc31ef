"""The cases of a Python conjecture over a `Domain`: guided draws, one-step reductions, and all smaller networks level by level."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from ...numerics.network import Network, NetworkError
from ..gate.instances import size_key
from .case import Case, Unlisted
from .domain import Domain, draw_network, enumerate_networks
from .guide import CANDIDATES, Guide

PATIENCE = 200  # draws in a row that gave nothing new: the domain is taken to be exhausted
MAX_LISTED = 1_500  # draws of the generator spent on listing smaller networks

When = Callable[[Network], bool]


class Drawn:
    """A domain, and the condition under which the conjecture speaks of a network."""

    def __init__(self, domain: Domain, when: When | None = None):
        self.domain, self.when = domain, when or (lambda network: True)

    def cases(self, seed: int, examples: int) -> Iterator[Case | None]:
        """Guided draws without repetition."""
        rng = random.Random(f"neuromanifold:{seed}")
        guide, seen, idle = Guide(), set[str](), 0
        while idle < PATIENCE:
            candidates = []
            for _ in range(CANDIDATES):
                network = draw_network(rng.choice, self.domain)
                spec = str(network)
                idle += 1
                if spec in seen:
                    continue
                if self.when(network):
                    candidates.append((Case(spec), network))
                else:
                    seen.add(spec)
                    idle = 0
                    yield None
            if candidates:
                chosen = guide.pick(candidates)
                seen.add(chosen.spec)
                idle = 0
                yield chosen

    def complete(self, examples: int) -> bool:
        """Never claimed: a domain is sampled."""
        return False

    def simpler(self, case: Case) -> Iterator[Case]:
        """One switch off, one layer less, or one size (or two) smaller."""
        found = {str(n): n for n in reductions(case.network) if n in self.domain and size_key(n) < case.size}
        for network in sorted(found.values(), key=size_key):
            if self.when(network):
                yield Case(str(network))

    def below(self, case: Case) -> Iterator[Case]:
        """All smaller networks of the domain, by number of parameters; raises `Unlisted` at the number where they are too many."""
        spent = 0
        for parameters in range(1, case.network.parameters + 1):
            try:
                level = replace(self.domain, max_parameters=parameters)
            except ValueError:  # no network is as small
                continue
            found: dict[str, Network] = {}
            for network in enumerate_networks(level):
                spent += 1
                if spent > MAX_LISTED:
                    raise Unlisted(f"there are too many networks of {parameters} parameters")
                if network.parameters == parameters:
                    found[str(network)] = network
            for network in sorted(found.values(), key=size_key):
                if size_key(network) < case.size and self.when(network):
                    yield Case(str(network))

    def admits(self, case: Case) -> bool:
        """Whether the network belongs to the domain and the conjecture speaks of it."""
        return case.network in self.domain and self.when(case.network)


def reductions(network: Network) -> Iterator[Network]:
    """Networks one step simpler, as far as they are networks."""
    for change in _changes(network):
        try:
            yield replace(network, **change)
        except NetworkError:
            continue


def _changes(network: Network) -> Iterator[dict[str, Any]]:
    n = network
    off = {"skip": False, "causal": False, "window": None, "rope": False, "alibi": False, "norm": None, "dv": None}
    yield from ({name: value} for name, value in off.items() if getattr(n, name) != value)
    yield {"skip": False, "norm": None}
    yield {"causal": False, "window": None}
    yield {"ffn": None, "bias": "".join(c for c in n.bias if c not in "ud")}
    yield {"heads": (1,) * len(n.heads), "kv": (1,) * len(n.kv)}
    yield {"kv": n.heads}
    yield from ({"bias": n.bias.replace(c, "")} for c in n.bias)
    yield from ({"ffn": tuple(replace(f, activation=2) for f in n.ffn)} for _ in [0] if n.ffn)
    if n.l > 1:
        for i in range(n.l):
            yield {"d": n.d[: i + 1] + n.d[i + 2 :]} | _without(n, i)
            yield {"d": n.d[:i] + n.d[i + 1 :]} | _without(n, i)
    shrunk = list(_smaller_sizes(n))
    yield from shrunk
    yield from (_both(x, y, n) for x, y in pairwise(shrunk))
    for name in ("d", "a", "heads", "dv"):
        values = getattr(n, name)
        if values and min(values) > 1:
            yield {name: tuple(v - 1 for v in values)} | ({"kv": (1,) * n.l} if name == "heads" else {})
    if n.rope:
        yield {"a": tuple(max(2, a - 2) for a in n.a)}
    if n.r is not None and n.r > 1:
        yield {"r": n.r - 1}


def _without(network: Network, i: int) -> dict[str, Any]:
    """The lists of all layers but one."""
    lists = {name: getattr(network, name) for name in ("a", "heads", "kv", "dv", "ffn")}
    return {name: v[:i] + v[i + 1 :] for name, v in lists.items() if v}


def _smaller_sizes(n: Network) -> Iterator[dict[str, Any]]:
    if n.t > 1:
        yield {"t": n.t - 1}
        yield {"t": 1}
    for name in ("d", "a", "heads", "dv"):
        values = getattr(n, name) or ()
        for i, v in enumerate(values):
            for smaller in dict.fromkeys((1, v // 2, v - 1)):
                if 0 < smaller < v:
                    change = {name: (*values[:i], smaller, *values[i + 1 :])}
                    if name == "heads":
                        kv = 1 if n.kv[i] < v else smaller
                        change["kv"] = (*n.kv[:i], kv, *n.kv[i + 1 :])
                    yield change
    for i, f in enumerate(n.ffn or ()):
        if n.ffn and f.hidden > 1:
            yield {"ffn": (*n.ffn[:i], replace(f, hidden=f.hidden - 1), *n.ffn[i + 1 :])}


def _both(x: dict[str, Any], y: dict[str, Any], n: Network) -> dict[str, Any]:
    """Two changes at once; of one list, the smaller of each value."""
    made = {**x, **y}
    for name in x.keys() & y.keys():
        if isinstance(x[name], tuple) and name != "ffn":
            made[name] = tuple(map(min, x[name], y[name]))
    return made
