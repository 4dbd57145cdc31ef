"""The cases of a claim: the points of `where` at which `when` holds; all of them, or guided samples of a large grid."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Sequence

from ..gate.claims import Claim, parse_claims
from ..gate.expressions import Value
from ..gate.instances import MAX_GRID, Instance, instance_at, instances, size_key
from ..gate.load import Loaded
from .case import Case, Unlisted
from .guide import CANDIDATES, Guide

PATIENCE = 200  # draws in a row that gave nothing new: the grid is taken to be exhausted


class Grid:
    """A claim's points as a space. Raises the gate's `Uncheckable` where a point does not make a network."""

    def __init__(self, claim: Claim):
        self.claim = claim

    def cases(self, seed: int, examples: int) -> Iterator[Case | None]:
        """All points, the smallest network first, where there are no more than `examples`; otherwise samples of them."""
        if self.complete(examples):
            todo = instances(self.claim)
            yield from [None] * todo.left_out
            yield from map(_case, todo.found)
        else:
            yield from self._samples(random.Random(f"neuromanifold:{seed}"))

    def _samples(self, rng: random.Random) -> Iterator[Case | None]:
        guide, seen, idle = Guide(), set[str](), 0
        while idle < PATIENCE:
            candidates = []
            for _ in range(CANDIDATES):
                instance = instance_at(self.claim, self._point(rng))
                idle += 1
                if instance is None or instance.network is None:
                    yield None
                elif (case := _case(instance)).key not in seen:
                    candidates.append((case, instance.network))
            if candidates:
                chosen = guide.pick(candidates)
                seen.add(chosen.key)
                idle = 0
                yield chosen

    def _point(self, rng: random.Random) -> dict[str, Value]:
        """A point; every other value is drawn next to an earlier one or at an end, where hypotheses have their edges."""
        point: dict[str, Value] = {}
        for name in rng.sample(list(self.claim.where), len(self.claim.where)):
            values = self.claim.where[name]
            near = [values[0], values[-1]]
            near += [v + s for v in point.values() for s in (-1, 0, 0, 1) if isinstance(v, int) and v + s in values]
            point[name] = rng.choice(near) if rng.random() < 0.5 else values[rng.randrange(len(values))]
        return {name: point[name] for name in self.claim.where}

    def complete(self, examples: int) -> bool:
        """Whether all points are enumerated."""
        return self.claim.grid <= min(examples, MAX_GRID)

    def simpler(self, case: Case) -> Iterator[Case]:
        """One value, or two, replaced by the first or by the one before it."""
        moves = {name: _earlier(self.claim.where[name], value) for name, value in case.values}
        singles = [{name: v} for name, found in moves.items() for v in found]
        pairs = [a | b for i, a in enumerate(singles) for b in singles[i + 1 :] if not a.keys() & b.keys()]
        for change in singles + pairs:
            instance = instance_at(self.claim, dict(case.values) | change)
            if instance is not None and size_key(instance.network) < case.size:
                yield _case(instance)

    def below(self, case: Case) -> Iterator[Case]:
        """All smaller instances; not listed for grids of more than 100,000 points."""
        if self.claim.grid > MAX_GRID:
            raise Unlisted(f"where has {self.claim.grid} points, more than {MAX_GRID}")
        yield from (_case(i) for i in self._sorted if size_key(i.network) < case.size)

    @functools.cached_property
    def _sorted(self) -> tuple[Instance, ...]:
        return instances(self.claim).found

    def admits(self, case: Case) -> bool:
        """Whether the values are points of `where` that still make this network."""
        values = dict(case.values)
        if values.keys() != self.claim.where.keys() or any(v not in self.claim.where[n] for n, v in values.items()):
            return False
        instance = instance_at(self.claim, values)
        return instance is not None and str(instance) == case.spec


def _case(instance: Instance) -> Case:
    return Case(str(instance), tuple(instance.values.items()))


def _earlier(values: Sequence[Value], value: Value) -> list[Value]:
    at = values.index(value)
    return [] if at == 0 else [values[0]] if at == 1 else [values[0], values[at - 1]]


def grid(network: str, where: dict[str, object], when: str | None = None) -> Grid:
    """The points of `where` as cases of a Python conjecture; `network`, `where` and `when` are those of a claim file.

    Raises `ValueError` that says what is wrong with them.
    """
    row = {"network": network, "where": where, "at_least": 0} | ({"when": when} if when else {})
    claims, problems = parse_claims(Loaded({"claim": [row]}, ()))
    if problems:
        raise ValueError("; ".join(map(str, problems)))
    return Grid(claims[0])
