"""The conformance check of a PyTorch model; skipped, with the way to get it, where PyTorch is not installed."""

from __future__ import annotations

import pytest
from neuromanifold.oracle.testing import ModelMismatchError, check_model

from .exact_rank import exact

torch = pytest.importorskip("torch", reason="PyTorch is not installed; bash ci/test --torch installs it")

SPEC = "softmax d=3,3,3 a=2 t=3 heads=2 dv=2 skip causal"


def attention(params, x, axis=0, detach=None):
    for layer in (1, 2):
        total = x
        for head in range(2):
            q, k, v, o = (params[f"{layer}.{name}"][head] for name in "QKVO")
            if detach == (layer, head):
                k = k.detach()
            scores = (k @ x).T @ (q @ x)
            mask = torch.triu(torch.ones_like(scores, dtype=torch.bool))
            weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=axis)
            total = total + o @ (v @ x) @ weights
        x = total
    return x


def test_a_right_model_passes():
    found = check_model(attention, SPEC, ask=exact)
    assert (found.framework, found.rank) == ("torch", exact(SPEC).dimension)


def test_a_wrong_axis_and_a_detached_tensor_are_found():
    with pytest.raises(ModelMismatchError, match="softmax over the wrong axis"):
        check_model(lambda p, x: attention(p, x, axis=1), SPEC, ask=exact)
    with pytest.raises(ModelMismatchError, match="numerical rank"):
        check_model(lambda p, x: attention(p, x, detach=(2, 1)), SPEC, ask=exact)
