"""Fields whose variable has no dimension: networks of width one."""

import pytest
from neuromanifold import oracle


@pytest.mark.parametrize(
    ("spec", "dimension"),
    [("lightning d=1,1 a=1 t=1", 1), ("lightning d=1,1 a=1 t=2", 1), ("lightning d=1,1 a=1 t=2 skip", 1), ("softmax d=1,1 a=1 t=2", 2)],
)
def test_width_one(spec, dimension):
    found = oracle.dimension(spec)
    assert (found.dimension, found.label, oracle.verify(found.certificate).verdict) == (dimension, "proven", "valid")
