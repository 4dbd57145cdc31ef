"""The foreign project's own test."""

import attn
from neuromanifold.oracle.testing import check_model


def test_attention_is_the_network_we_say():
    check_model(attn.forward, "softmax d=4,4,4 a=4 t=3 heads=2 dv=2 skip causal rope", tokens="rows")
