"""Which networks are drawn: a domain, and one generator behind every way of drawing from it.

The generator asks for one choice after the other, simplest option first. Asked at random it samples, asked by Hypothesis it is a
strategy that shrinks, asked for every option in turn it enumerates the whole domain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations
from typing import Any

from ...numerics.network import KINDS, NORMS, Ffn, Network, NetworkError

SWITCHES = ("heads", "kv", "dv", "skip", "causal", "window", "rope", "alibi", "bias", "norm", "ffn")
USUAL = tuple(s for s in SWITCHES if s != "norm")  # a proof with norms takes seconds to minutes
NEEDS = {"kv": "heads", "window": "causal", "norm": "skip"}  # drawing the first draws the second with it
BIASES = ("q", "k", "v", "o", "qk", "qkvo")
FFN_BIASES = ("u", "d", "ud", "qkvoud")
ACTIVATIONS: tuple[int | str, ...] = (2, 1, 3, "silu", "gelu", "swiglu")
POWERS = (2, 3, 1)
MAX_SWITCHES = 4  # drawn at once, not counting those that come along
MAX_ROOTS = 4  # square roots of one input, where a norm is drawn: modular ones exist half of the time each

Choose = Callable[[Sequence[Any]], Any]


@dataclass(frozen=True)
class Domain:
    """A finite set of networks: kinds, mechanisms that may occur, and caps on sizes.

    `mechanisms` are words of `SWITCHES`, by default all but norm; at most four of them (and what they need) occur together; a norm
    only with at most four square roots (layers x tokens, twice with ffn). Raises `ValueError` for an unknown kind or
    mechanism, and where no network fits.
    """

    kinds: tuple[str, ...] = KINDS
    max_parameters: int = 60
    max_layers: int = 3
    max_width: int = 5
    max_tokens: int = 4
    mechanisms: tuple[str, ...] = USUAL

    def __post_init__(self) -> None:
        for what, given, known in (("kind", self.kinds, KINDS), ("mechanism", self.mechanisms, SWITCHES)):
            for word in given:
                if word not in known:
                    raise ValueError(f"there is no {what} {word!r}; there are {', '.join(known)}")
        if not self.kinds:
            raise ValueError(f"no kinds were given; there are {', '.join(KINDS)}")
        if min(self.max_layers, self.max_width, self.max_tokens) < 1:
            raise ValueError("layers, widths and tokens are at least 1")
        smallest = min(_Draft(kind).network().parameters for kind in self.kinds)
        if self.max_parameters < smallest:
            raise ValueError(f"no network has {self.max_parameters} parameters; the smallest has {smallest}")

    def __contains__(self, network: Network) -> bool:
        """Whether the generator can draw the network."""
        used = _switches(network)
        carried = {NEEDS[s] for s in used if s in NEEDS}
        return (
            network.kind in self.kinds
            and network.parameters <= self.max_parameters
            and network.l <= self.max_layers
            and (network.norm is None or network.l * network.t * (2 if network.ffn else 1) <= MAX_ROOTS)
            and network.t <= self.max_tokens
            and max(_sizes(network)) <= self.max_width
            and used <= {*self.mechanisms, *(NEEDS[s] for s in self.mechanisms if s in NEEDS)}
            and len(used - carried) <= MAX_SWITCHES
            and network.bias in ("", *BIASES, *(FFN_BIASES if network.ffn else ()))
        )


@dataclass
class _Draft:
    """A network on the way: lists that grow into one value a layer."""

    kind: str
    d: list[int] = field(default_factory=lambda: [1, 1])
    a: list[int] = field(default_factory=lambda: [1])
    heads: list[int] = field(default_factory=lambda: [1])
    kv: list[int] = field(default_factory=lambda: [1])
    dv: list[int] | None = None
    ffn: list[Ffn] | None = None
    more: dict[str, Any] = field(default_factory=dict)

    def network(self) -> Network:
        if self.kind == "mlp":
            return Network("mlp", tuple(self.d), r=self.more.get("r", 1))
        return Network(
            self.kind, tuple(self.d), tuple(self.a), heads=tuple(self.heads), kv=tuple(self.kv),
            dv=None if self.dv is None else tuple(self.dv), ffn=None if self.ffn is None else tuple(self.ffn), **self.more,
        )  # fmt: skip


def draw_network(choose: Choose, domain: Domain) -> Network:
    """A network of the domain, from choices among non-empty sequences whose first option is the simplest.

    An option is offered only if the network with it, and everything later at its simplest, fits the domain: nothing is rejected.
    """
    draft = _Draft(choose([k for k in domain.kinds if _Draft(k).network().parameters <= domain.max_parameters]))
    if draft.kind == "mlp":
        draft.more["r"] = choose(POWERS)
    else:
        _draw_switches(choose, domain, draft)
    roots = MAX_ROOTS // (2 if draft.ffn else 1) if "norm" in draft.more else None
    layers = range(1, min(domain.max_layers, roots or domain.max_layers) + 1)
    l = choose(_initial(layers, lambda n: _fits(_deepened(draft, n), domain)))
    draft = _deepened(draft, l)
    if draft.kind != "mlp":
        draft.more["t"] = choose(range(1, min(domain.max_tokens, roots // l if roots else domain.max_tokens) + 1))
        if "window" in draft.more:
            draft.more["window"] = choose(range(1, max(2, draft.more["t"])))
    _draw_sizes(choose, domain, draft)
    return draft.network()


@lru_cache(maxsize=64)
def _subsets(domain: Domain, kind: str) -> dict[int, list[tuple[str, ...]]]:
    """The sets of switches by number, none that brings along another of the set, as far as a smallest network with them fits."""
    known = [s for s in SWITCHES if s in domain.mechanisms and (s != "alibi" or kind == "softmax")]
    found = {}
    for size in range(min(MAX_SWITCHES, len(known)) + 1):
        sets = [s for s in combinations(known, size) if not {NEEDS[x] for x in s if x in NEEDS} & set(s)]
        sets = [s for s in sets if _fits(_switched(kind, s), domain)]
        if sets:
            found[size] = sets
    return found


def _draw_switches(choose: Choose, domain: Domain, draft: _Draft) -> None:
    subsets = _subsets(domain, draft.kind)
    chosen = choose(subsets[choose(list(subsets))])
    made = _switched(draft.kind, chosen)
    if "ffn" in chosen:
        options = [a for a in ACTIVATIONS if _fits(replace(made, ffn=[Ffn(1, a)]), domain)]
        made.ffn = [Ffn(1, choose(options))]
    if "bias" in chosen:
        options = [b for b in (*BIASES, *(FFN_BIASES if made.ffn else ()))
                   if _fits(replace(made, more={**made.more, "bias": b}), domain)]  # fmt: skip
        made.more["bias"] = choose(options)
    if "norm" in chosen:
        made.more["norm"] = choose([n for n in NORMS if _fits(replace(made, more={**made.more, "norm": n}), domain)])
    draft.__dict__.update(made.__dict__)


def _switched(kind: str, chosen: tuple[str, ...]) -> _Draft:
    """The smallest draft with the switches, and with those that they need."""
    on = {*chosen, *(NEEDS[s] for s in chosen if s in NEEDS)}
    draft = _Draft(kind)
    draft.more = {name: True for name in ("skip", "causal", "rope", "alibi") if name in on}
    draft.more |= {"window": 1} if "window" in on else {}
    draft.more |= {"norm": "rms"} if "norm" in on else {}
    draft.more |= {"bias": "q"} if "bias" in on else {}
    draft.a = [2 if "rope" in on else 1]
    draft.heads = [2 if "heads" in on else 1]
    draft.kv = [1 if "kv" in on else draft.heads[0]]
    draft.dv = [1] if "dv" in on else None
    draft.ffn = [Ffn(1, 2)] if "ffn" in on else None
    return draft


def _deepened(draft: _Draft, l: int) -> _Draft:
    """The draft with its first layer l times."""
    return replace(
        draft, d=[1] * (l + 1), a=draft.a * l, heads=draft.heads * l, kv=draft.kv * l,
        dv=draft.dv and draft.dv * l, ffn=draft.ffn and draft.ffn * l, more=dict(draft.more),
    )  # fmt: skip


def _draw_sizes(choose: Choose, domain: Domain, draft: _Draft) -> None:
    l = len(draft.d) - 1
    top = range(1, domain.max_width + 1)
    if draft.more.get("skip"):
        width = choose(_initial(top, lambda w: _fits(replace(draft, d=[w] * (l + 1)), domain)))
        draft.d = [width] * (l + 1)
    for i in range(l + 1):
        if not draft.more.get("skip"):
            _draw_one(choose, domain, draft, draft.d, i, top)
        if i == l or draft.kind == "mlp":
            continue
        _draw_one(choose, domain, draft, draft.a, i, [a for a in top if a % 2 == 0 or not draft.more.get("rope")] or [2])
        if draft.heads[i] > 1:
            _draw_heads(choose, domain, draft, i)
        if draft.dv is not None:
            _draw_one(choose, domain, draft, draft.dv, i, top)
        if draft.ffn is not None:
            _draw_one(choose, domain, draft, draft.ffn, i, [replace(draft.ffn[i], hidden=h) for h in top])


def _draw_heads(choose: Choose, domain: Domain, draft: _Draft, i: int) -> None:
    grouped = draft.kv[i] < draft.heads[i]
    options = []
    for heads in range(2, max(3, domain.max_width + 1)):
        for kv in [k for k in range(1, heads) if heads % k == 0] if grouped else [heads]:
            draft.heads[i], draft.kv[i] = heads, kv
            if _fits(draft, domain):
                options.append((heads, kv))
    draft.heads[i], draft.kv[i] = choose(options)


def _draw_one(
    choose: Choose, domain: Domain, draft: _Draft, slots: list[Any], i: int, options: Sequence[Any]
) -> None:
    """Choose one size among those that fit; a size can only add parameters, so that the first fits always."""

    def fits(option: Any) -> bool:
        slots[i] = option
        return _fits(draft, domain)

    slots[i] = choose(_initial(options, fits))


def _initial(options: Sequence[Any], fits: Callable[[Any], bool]) -> Sequence[Any]:
    """The options before the first that does not fit: all, or found by bisection."""
    if fits(options[-1]):
        return options
    low, high = 0, len(options) - 1  # options[low] fits, options[high] does not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(options[middle]) else (low, middle)
    return options[:high]


def _fits(draft: _Draft, domain: Domain) -> bool:
    try:
        return draft.network().parameters <= domain.max_parameters
    except NetworkError:
        return False


def _switches(network: Network) -> set[str]:
    on = {name for name in ("skip", "causal", "window", "rope", "alibi", "bias", "norm") if getattr(network, name)}
    on |= {"heads"} if any(h > 1 for h in network.heads) else set()
    on |= {"kv"} if network.kv != network.heads else set()
    return on | {name for name in ("dv", "ffn") if getattr(network, name) is not None}


def _sizes(network: Network) -> Iterator[int]:
    yield from (*network.d, *network.a, *network.heads, *(network.dv or ()), *(f.hidden for f in network.ffn or ()))


def enumerate_networks(domain: Domain) -> Iterator[Network]:
    """Every network that the generator can draw (some more than once), simplest choices first."""
    path: list[list[int]] = []
    while True:
        position = 0

        def choose(options: Sequence[Any]) -> Any:
            nonlocal position
            if position == len(path):
                path.append([0, len(options)])
            position += 1
            return options[path[position - 1][0]]

        yield draw_network(choose, domain)
        while path and path[-1][0] + 1 == path[-1][1]:
            path.pop()
        if not path:
            return
        path[-1][0] += 1
