"""The recipes of CONTRIBUTING.md: what they name exists, and following them in miniature does what they say."""

import ast
import importlib.util
import re
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from neuromanifold import oracle
from neuromanifold.numerics.network import Network
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.rings import NotInvertible, matmul_einsum
from neuromanifold.oracle.answer import Contradiction, Evidence, decide
from neuromanifold.oracle.theorems.conditions import hypothesis
from neuromanifold.oracle.theorems.theorem import CONJECTURE, PROVED, Applied, Missed, Theorem
from neuromanifold.verifiers.claims.model import Check, Claim, Verdict, run_claim

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
# What the recipes name, and where it is defined.
NAMED = {
    "numerics/network.py": ["Network", "Network.parameter_shapes"],
    "numerics/notation.py": ["parse"],
    "numerics/evaluate.py": ["evaluate", "jacobian"],
    "numerics/rings.py": ["Ring", "NotInvertible"],
    "oracle/answer.py": ["Contradiction"],
    "oracle/theorems/__init__.py": ["_ALL"],
    "oracle/theorems/theorem.py": ["Theorem", "Hypothesis", "NonExample.harmless", "PROVED", "CONJECTURE"],
    "tests/oracle/test_theorems.py": ["SMALL"],
    "tests/numerics/conftest.py": ["MECHANISMS"],
    "tests/numerics/test_conformance.py": ["disagreements"],
    "tests/verifiers/test_replay.py": ["MECHANISMS"],
    "verifiers/claims/fieldclaims.py": ["COVERS"],
    "verifiers/claims/failures.py": ["CLAIMS"],
    "verifiers/claims/model.py": ["Claim", "FAMILIES"],
    "verifiers/replay.py": ["forward", "motions"],
    "verifiers/symmetries/__init__.py": ["catalogue"],
    "verifiers/symmetries/norm.py": ["fields"],
}


def definitions(body, prefix=""):
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield prefix + node.name
            if isinstance(node, ast.ClassDef):
                yield from definitions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.Assign):
            yield from (prefix + t.id for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield prefix + node.target.id


def test_every_file_that_is_named_exists():
    paths = set(re.findall(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:md|toml))`", TEXT))
    assert len(paths) >= 20
    assert [p for p in sorted(paths) if not (ROOT / p).exists()] == []


@pytest.mark.parametrize("file", NAMED)
def test_every_name_is_defined_there(file):
    found = set(definitions(ast.parse((ROOT / file).read_text()).body))
    assert [n for n in NAMED[file] if n not in found] == []
    for name in NAMED[file]:
        assert name.rpartition(".")[2] in TEXT, f"{name} is no longer named: take it out of this table"


def test_every_folder_of_code_is_in_the_wheel():
    listed = (ROOT / "pyproject.toml").read_text()
    for init in [p for folder in ("numerics", "verifiers", "oracle") for p in (ROOT / folder).rglob("__init__.py")]:
        assert f'"neuromanifold.{".".join(init.parent.relative_to(ROOT).parts)}"' in listed


# ------------------------------------------------------------------------------------------------------- add a theorem


def theorem(extra: int, status: str) -> Theorem:
    return Theorem(
        id="softmax-one-dimensional-heads",
        statement="One softmax layer with a = 1.",
        formula="2 d - 1 + d^2",
        hypotheses=(
            hypothesis("softmax", "softmax attention", lambda n: n.kind == "softmax", "lightning d=2,2 a=1 t=2", 6),
            hypothesis("thin", "a = 1", lambda n: n.a == (1,), "softmax d=2,2 a=2 t=2", 8),
        ),
        value=lambda n: 2 * n.d[0] - 1 + n.d[0] ** 2 + extra,
        citation="this test",
        status=status,
    )


def evidence(found: Theorem, network: Network) -> Evidence:
    result = found.evaluate(network)
    assert isinstance(result, Applied)
    return Evidence("value", result.value, "theorem", found.status, found.id)


def test_a_theorem_in_miniature():
    right = theorem(0, PROVED)
    for d in (2, 3):
        network = parse(f"softmax d={d},{d} a=1 t=2")
        assert evidence(right, network).value == oracle.dimension(network).dimension
    for condition in right.hypotheses:
        example = condition.non_example
        missed = right.evaluate(parse(example.spec))
        assert isinstance(missed, Missed) and missed.failed == (condition,)
        assert oracle.dimension(example.spec).dimension == example.dimension != right.value(parse(example.spec))


def test_what_a_theorem_may_say():
    network = parse("softmax d=3,3 a=1 t=2")
    size = network.parameters
    assert decide(str(network), size, 0, size, [evidence(theorem(0, PROVED), network)]).label == "formula"
    assert decide(str(network), size, 0, size, [evidence(theorem(0, CONJECTURE), network)]).label == "numerical"
    with pytest.raises(Contradiction):
        decide(str(network), size, 14, 14, [evidence(theorem(1, PROVED), network)])
    assert decide(str(network), size, 14, 14, [evidence(theorem(1, CONJECTURE), network)]).dimension == 14


# --------------------------------------------------------------------------------------------------------- add a claim


def claim(*routes: str, answer: str = "proved") -> Claim:
    def engine(subject, deadline):
        wrong = [n for n in range(subject) if n * n - n != n * (n - 1)]
        return Verdict("unknown" if wrong else answer, f"{subject} values tried")

    return Claim("square", "n^2 - n", "n^2 - n = n (n - 1)", "n < 5", "this test", tuple(Check(r, engine, 5) for r in routes))


def test_a_claim_in_miniature():
    assert run_claim(claim("sympy", "free algebra"), 5).status == "proved"
    assert run_claim(claim("sympy"), 5).status == "unknown"
    assert run_claim(claim("sympy", "z3 reals"), 5).status == "unknown"  # one family
    assert run_claim(claim("sympy", "free algebra", answer="refuted"), 5).status == "unknown"  # no counterexample


# ------------------------------------------------------------------------------------------------- add a number system


class PlainField:
    """GF(p) as Python integers in object arrays."""

    formal = True

    def __init__(self, p=2_097_143):
        self.p = p

    def _each(self, function, x):
        made = np.empty(x.size, dtype=object)
        made[:] = [function(v) for v in x.reshape(-1)]
        return made.reshape(x.shape)

    def lift(self, array):
        return self._each(self._residue, np.asarray(array, dtype=object))

    def _residue(self, value):
        if isinstance(value, float):
            raise TypeError("floats are not exact")
        value = Fraction(value)
        if value.denominator % self.p == 0:
            raise NotInvertible(f"{value}")
        return value.numerator * pow(value.denominator, -1, self.p) % self.p

    def integers(self, x):
        return np.asarray(x, dtype=np.int64)

    def einsum(self, left, right, out, x, y):
        return self._each(lambda v: v % self.p, np.asarray(matmul_einsum(left, right, out, x, y, np.matmul), dtype=object))

    def add(self, x, y):
        return np.asarray((x + y) % self.p, dtype=object)

    def mul(self, x, y):
        return np.asarray(x * y % self.p, dtype=object)

    def reciprocal(self, x):
        if not np.all(x):
            raise NotInvertible("0")
        return self._each(lambda v: pow(v, -1, self.p), x)

    def root(self, x):
        """One of the r with r^2 x = 1; p = 3 mod 4."""
        r = self._each(lambda v: pow(v, (self.p + 1) // 4, self.p), self.reciprocal(x))
        if not np.all((r * r * x) % self.p == 1):
            raise NotInvertible("no square")
        return r

    def exp(self, x, exponentials):
        raise TypeError("an exponential is a unit of the point")


class LyingField(PlainField):
    """1/x is x where x is 2."""

    def reciprocal(self, x):
        return np.where(x == 2, x, super().reciprocal(x))


def load(name):
    spec = importlib.util.spec_from_file_location(f"contributing_{name}", ROOT / "tests" / "numerics" / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_a_number_system_in_miniature():
    suite, cases = load("test_conformance"), load("conftest").all_cases()[::4]
    compared, wrong = suite.disagreements(PlainField(), cases, suite.modulo(PlainField()))
    assert not wrong and compared > 200
    assert suite.disagreements(LyingField(), cases, suite.modulo(LyingField()))[1]
    with pytest.raises(TypeError):
        PlainField().lift(np.array([0.5]))
