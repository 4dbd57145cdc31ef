"""`neuromanifold explain`: the answer of one network as a short proof."""

from __future__ import annotations

from .. import console, exits


def explain(
    spec: str,
    /,
    *,
    json: bool = False,
    timeout: float | None = None,
    seed: int = 0,
) -> int:
    """Explain the dimension of a network like a short proof: bounds, symmetries, point, how to recheck by hand.

    Parameters
    ----------
    spec
        A network in one line: "softmax d=10,10,10 a=2 t=3".
    json
        Print one JSON object: the answer and its explanation as `text`.
    timeout
        Seconds after which the best proven bounds so far are explained.
    seed
        Chooses the random point.
    """
    from ...numerics.notation import parse
    from ..asking import ask, check_limits

    check_limits(seed, timeout)
    answer, interrupted = ask(parse(spec), seed, timeout)
    from ..explain import explain as explanation

    text = explanation(answer)
    if json:
        console.result_json({**answer.to_json(), "text": text})
    else:
        console.result(text.rstrip("\n"))
    return exits.INTERRUPTED if interrupted else exits.HOLDS
