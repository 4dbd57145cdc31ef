"""For other people's test suites: assertions about dimensions, and the conformance check of a forward pass.

from neuromanifold.oracle.testing import assert_dimension, check_model

def test_redundancy():
    assert_dimension("lightning d=3,3 a=2 t=2", 16)

def test_my_attention():
    check_model(my_attention.forward, "softmax d=4,4 a=2 t=3 heads=2 dv=2 skip causal")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ..numerics.network import Network
    from .answer import Answer
    from .conformance.check import Conformance
    from .conformance.model import Framework


class ModelMismatchError(AssertionError):
    """A forward pass is not that of the network; `conformance` has everything that was found."""

    def __init__(self, message: str, conformance: Conformance):
        super().__init__(message)
        self.conformance = conformance


def assert_dimension(
    network: str | Network,
    value: int,
    require: Literal["proven", "formula", "numerical"] = "proven",
    *,
    ask: Callable[[str], Answer] | None = None,
) -> Answer:
    """Assert that the dimension of a network's function space is `value`, known at least by the label `require`.

    Returns the answer. Guaranteed on return: what the label says. The `AssertionError` shows what was claimed, what is
    certified, label, gap and the command that reproduces it; it is also raised where the label is too weak to decide.
    `ask` answers in place of the oracle. Raises `NetworkError` for text that is no network.
    """
    __tracebackhide__ = True  # pytest shows the caller's line
    from .answer import LABELS

    if require not in LABELS or isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"value={value!r}, require={require!r}: an integer, and one of {', '.join(LABELS)}")
    answer = (ask or _oracle)(str(network))
    low, high = answer.known(require)
    if low == high == value:
        return answer
    verdict = "refuted" if not low <= value <= high else f"undecided at the required label {require!r}"
    lines = [
        f"{answer.spec}: the claimed dimension is {verdict}",
        f"  claimed:   {value}",
        f"  certified: {answer.certified}",
        f"  label:     {answer.label} (required: {require})",
        f"  gap:       {answer.gap}",
        f'  reproduce: neuromanifold dimension "{answer.spec}" --require {require}',
    ]
    raise AssertionError("\n".join(lines))


def check_model(
    fn: Callable[..., Any],
    network: str | Network,
    *,
    adapter: Callable[[dict[str, Any]], Any] | None = None,
    constants: Mapping[str, Any] | None = None,
    framework: Framework = "auto",
    tokens: Literal["columns", "rows"] = "columns",
    tolerance: float | None = None,
    require: Literal["proven", "formula", "numerical"] = "proven",
    seed: int = 0,
    ask: Callable[[str], Answer] | None = None,
) -> Conformance:
    """Assert that `fn(params, X)`, in NumPy, JAX or PyTorch, computes the network.

    `params` is a dict of float64 arrays, `1.Q` of shape (heads, a, d), `1.K` and `1.V` of (kv, a, d) and (kv, d', d), and so
    on (`Network.parameter_shapes()`), or what `adapter` makes of it; `X` is one input (d, t), or (t, d) with
    `tokens="rows"`, and the output likewise. `constants` gives `angles` of rope and `slopes` of alibi, else the usual ones.

    Checked at random parameters and inputs: outputs within an error bound of 4096 roundings a layer of the output's dtype
    (or `tolerance`), times max(1, |f|); every known symmetry of the network leaves the outputs unchanged; gradients
    finite; the Jacobian's numerical rank is the certified dimension. NOT guaranteed: anything at other parameters and
    inputs, or that a named fault is the code's: it is one that gives the same outputs.
    Raises `ModelMismatchError` with every failure, its layer, head and parameter; `ValueError` for unknown options.
    """
    __tracebackhide__ = True
    from ..numerics.network import Network
    from ..numerics.notation import parse
    from .conformance.check import examine

    known = network if isinstance(network, Network) else parse(network)
    found = examine(
        fn, known, ask=ask or _oracle, adapter=adapter, constants=constants, framework=framework, tokens=tokens,
        tolerance=tolerance, require=require, seed=seed,
    )  # fmt: skip
    if found.failures:
        lines = [f"{getattr(fn, '__qualname__', fn)} does not compute {known}"]
        raise ModelMismatchError("\n".join([*lines, *(f"  - {f}" for f in found.failures)]), found)
    return found


def _oracle(spec: str) -> Answer:
    from .dimension import dimension

    return dimension(spec)
