"""A small certificate writer for the tests, built from the replay's own functions (the real one lives elsewhere)."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

PATH = Path(__file__).parents[2] / "verifiers" / "replay.py"


def load(name: str = "replay_under_test") -> Any:
    spec = importlib.util.spec_from_file_location(name, PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


R = load()
P = 2097143


def ranges(indices: list[int]) -> str:
    parts: list[list[int]] = []
    for k in indices:
        if parts and parts[-1][1] == k - 1:
            parts[-1][1] = k
        else:
            parts.append([k, k])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def frozen(net: Any) -> list[str]:
    """The tensors that are frozen in certificates with free scores."""
    side = "Q" if net.bias & set("qk") == {"k"} else "K"
    free = net.kind == "lightning" and not net.rope
    layers = [i for i, x in enumerate(net.layers, 1) if free and x.heads == x.kv > 1]
    return [f"{i}.{name}" for i in layers for name in [side] + ["O"] * bool(net.layers[i - 1].dv)]


def entries(net: Any, names: Any = (), seed: int = 0) -> list[dict[str, Any]]:
    """Every entry of a field list that the conditions of the replay let through; `names` are the frozen tensors."""
    chart = R.Chart(net, R.Source(P, seed), names)
    found = []
    for name, (_, keys) in R.FIELDS.items():
        for i, layer in enumerate(net.layers, 1):
            bounds = {
                "group": range(layer.kv),
                "head": range(layer.heads),
                "unit": range(layer.n if net.kind == "mlp" else layer.h),
                "after": ("input", "attention", "ffn"),
                "to": range(layer.heads),
                "matrix": ("Q", "K", "V", "U", "G"),
                "part": ("attention", "ffn"),
                "inputs": (60,),
            }
            choices: list[dict[str, Any]] = [{}]
            for key in keys.split():
                choices = [{**c, key: x} for c in choices for x in bounds[key]]
            if name == "centre":
                choices = [
                    {**c, **extra}
                    for c in choices
                    for extra in (
                        [{"slice": h} for h in range(layer.heads if c["matrix"] == "Q" else layer.kv)]
                        if c["matrix"] in "QKV"
                        else [{}]
                    )
                ]
            if name == "block" and net.kind == "mlp":
                runs = range(i + 1, len(net.layers) + 1)
                choices = [{"part": "forms", "inputs": 60, "to": j} for j in runs]
            for choice in choices:
                entry = {"field": name, "layer": i, **choice}
                try:
                    if list(R.motions(chart, entry)):
                        found.append(entry)
                except R.ReplayError:
                    pass
    return found


def smaller(net: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Apply reductions while any applies, by trying all sizes."""
    steps: list[dict[str, Any]] = []
    again = True
    while again:
        again = False
        for i, layer in enumerate(net.layers, 1):
            for rule, top in (("head-width", layer.a), ("hidden-width", layer.n)):
                for size in range(1, top):
                    step = {"rule": rule, "layer": i, "size": size}
                    try:
                        net = R.reduced(net, step)
                    except R.ReplayError:
                        continue
                    steps.append(step)
                    again = True
                    break
                if again:
                    break
            if again:
                break
    return net, steps


def text(net: Any) -> str:
    """A spec of a network."""

    def each(values: list[Any]) -> str:
        return ",".join(map(str, values[:1] if len(set(values)) == 1 else values))

    layers = net.layers
    widths = ",".join(map(str, [layers[0].m, *[layer.n for layer in layers]]))
    if net.kind == "mlp":
        return f"mlp d={widths} r={net.power}"
    parts = [net.kind, f"d={widths}", "a=" + each([x.a for x in layers]), f"t={net.t}"]
    parts += ["heads=" + each([x.heads for x in layers]), "kv=" + each([x.kv for x in layers])]
    parts += ["dv=" + each([x.dv for x in layers])] * any(x.dv for x in layers)
    parts += [f for f in R.FLAGS if getattr(net, f)]
    parts += [f"window={net.window}"] * bool(net.window) + ["bias=" + "".join(sorted(net.bias))] * bool(net.bias)
    parts += [f"norm={net.norm}"] * bool(net.norm) + ["ffn=" + each([f"{x.h}:{x.act}" for x in layers])] * net.ffn
    return " ".join(parts)


def pivots(rows: list[int], packed: Any, enough: int) -> tuple[list[int], list[int]]:
    """Rows and columns of a maximal non-zero minor of packed rows, at most `enough` of them."""
    p, basis, kept = packed.p, [], []
    for k, row in enumerate(rows):
        for shift, pivot in basis:
            factor = ((row >> shift) & packed.mask) % p
            if factor:
                row += factor * pivot
        row = packed.reduce(row)
        if row:
            shift = (row.bit_length() - 1) // packed.width * packed.width
            basis.append((shift, packed.reduce(row * (p - pow(row >> shift, -1, p)))))
            kept.append(k)
            if len(kept) == enough:
                break
    return kept, sorted(shift // packed.width for shift, _ in basis)


def jacobian(net: Any, source: Any, inputs: list[int]) -> list[int]:
    packed, flat = R.Packed(source.p), source.flat(net)
    ring = R.Tape(packed, flat, [True] * len(flat))
    w, draw = R.tensors(net, ring.variables), R.drawer(source, source)
    for n in inputs:
        tokens = [[(x, 0) for x in token] for token in source.tokens(net, n)]
        result = R.forward(net, ring, w, tokens, draw, n)
        ring.derive([result[j][i] for i in range(net.layers[-1].n) for j in range(net.t)])
    columns = [packed.entries(column) for column in ring.columns()]
    rows: list[dict[int, int]] = [{} for _ in range(len(inputs) * net.layers[-1].n * net.t)]
    for k, column in enumerate(columns):
        for r, value in column.items():
            rows[r][k] = value
    return [packed.pack(row) for row in rows]


def good_inputs(net: Any, source: Any, wanted: int, tries: int = 20000) -> list[int]:
    found, n = [], 0
    w = R.tensors(net, source.flat(net))
    while len(found) < wanted and n < tries:
        try:
            R.forward(net, R.Modular(source.p), w, source.tokens(net, n), R.drawer(source, source), n)
            found.append(n)
        except R.RootError:
            pass
        n += 1
    return found


def exponents(net: Any, p: int, seed: int) -> dict[str, str]:
    source, packed, rows, count = R.Source(p, seed), R.Packed(p), [], 1
    kept: list[int] = []
    for k in range(5000):
        seen = []
        here, twin = R.Source(p, seed, f"exponents/{k}/"), R.Source(p, seed, f"exponents/{k}/twin/")
        w = R.tensors(net, here.flat(net))
        try:
            for point in (here, twin):
                ring = R.Modular(p)
                R.forward(net, ring, w, point.tokens(net, 0), R.drawer(point, source), 0)
                seen.append(ring.exponents)
        except R.RootError:
            continue
        kept.append(k)
        count = len(seen[0])
        rows.append(packed.pack({j: x - y for j, (x, y) in enumerate(zip(*seen, strict=True))}))
        if len(rows) >= count + 3:
            break
    return {"draws": ranges([kept[k] for k in pivots(rows, packed, count)[0]])}


def radicands(net: Any, p: int, seed: int) -> dict[str, Any]:
    source = R.Source(p, seed)
    count = net.t * sum(2 if layer.h else 1 for layer in net.layers)

    def fails(w: Any, point: Any, n: int) -> Any:
        try:
            R.forward(net, R.Modular(p), w, point.tokens(net, n), R.drawer(point, source), n)
        except R.RootError as error:
            return error.index
        return count

    home = R.Source(p, seed, "radicands/0/")
    w = R.tensors(net, home.flat(net))
    first: dict[int, int] = {}
    for n in range(20000):
        first.setdefault(fails(w, home, n), n)
        if len(first) == count + 1:
            break
    return {"point": [0, first[count]], "witnesses": [first.get(j, 0) for j in range(count)]}


def certificate(spec: str, p: int = P, seed: int = 0, ambient: bool | None = None) -> dict[str, Any]:
    """The best certificate of the rules, as a dictionary; the cheaper upper bound of fields and ambient."""
    net = R.parse(spec)
    source = R.Source(p, seed)
    small, steps = smaller(net)
    fields = entries(small)
    above = R.parameters(small) - R.check_fields(small, source, fields)
    upper: dict[str, Any] = {"rule": "fields", "reductions": steps, "spec": text(small), "frozen": [], "fields": fields}
    try:
        if ambient is not False and (R.ambient(net) < above or ambient):
            above = R.ambient(net)
            upper = {"rule": "ambient", "reductions": [], "spec": spec}
    except R.ReplayError:
        pass
    outputs = net.layers[-1].n * net.t
    count = above // max(1, outputs) + 2
    while True:
        inputs = good_inputs(net, source, count) if net.norm else list(range(count))
        rows, columns = pivots(jacobian(net, source, inputs), R.Packed(p), above)
        if len(rows) == above or count > 4 * (above + 2):
            break
        count *= 2
    inputs = inputs[: max([row // outputs for row in rows], default=-1) + 1]
    result: dict[str, Any] = {
        "format": "neuromanifold-certificate",
        "version": 1,
        "spec": spec,
        "claim": {"lower": len(rows), "upper": above},
        "prime": p,
        "seed": seed,
        "lower": {"rule": "minor", "tokens": net.t, "inputs": ranges(inputs), "rows": ranges(rows), "columns": ranges(columns)},
        "upper": upper,
        "holes": [],
    }
    if R.has_exponentials(net):
        result["exponents"] = exponents(net, p, seed)
    if net.norm:
        result["radicands"] = radicands(net, p, seed)
    return result


def judge(cert: dict[str, Any]) -> Any:
    return R.replay(json.dumps(cert))


def radicands_fail(spec: str, n: int) -> bool:
    """Say whether some radicand has no root at input n of the radicands' point."""
    net = R.parse(spec)
    home, source = R.Source(P, 0, "radicands/0/"), R.Source(P, 0)
    try:
        R.forward(net, R.Modular(P), R.tensors(net, home.flat(net)), home.tokens(net, n), R.drawer(home, source), n)
    except R.RootError:
        return True
    return False
