"""Families whose dimension is certified for all sizes at once: machine-checked formulas, beside the quoted theorems.

The list says what to expect; nothing is answered from it. `neuromanifold dimension FAMILY --certificate FILE` proves each anew,
and a test does so for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class CertifiedFamily:
    """A family, the polynomial its certificate proves, and where the formula was stated before, if anywhere."""

    spec: str
    dimension: str
    stated: str

    def to_json(self) -> dict[str, Any]:
        """Spec, polynomial and source."""
        return {"spec": self.spec, "dimension": self.dimension, "stated": self.stated}


PAPER = "Henry, Marchetti, Kohn, arXiv 2408.17221"

CERTIFIED = (
    CertifiedFamily("lightning d=p,q a=k t=2", "2*k*p + p*q - k^2 - 1", f"{PAPER}, single layer"),
    CertifiedFamily("lightning d=n,n a=n t=2", "2*n^2 - 1", f"{PAPER}, single layer"),
    CertifiedFamily("lightning d=p,q,r a=2 t=2", "p*q + q*r - q^2 + 4*p + 4*q - 10", f"{PAPER}, deep networks"),
    CertifiedFamily("lightning d=p,q,q,r a=2 t=3", "p*q + q*r - q^2 + 4*p + 8*q - 15", f"{PAPER}, deep networks"),
    CertifiedFamily("lightning d=n l=4 a=3 t=2", "n^2 + 24*n - 40", f"{PAPER}, deep networks"),
    CertifiedFamily("lightning d=n l=3 a=n t=2", "4*n^2 - 3", f"{PAPER}, deep networks"),
    CertifiedFamily("lightning d=p,q,r a=1,2 t=3", "p*q + q*r - q^2 + 2*p + 4*q - 9", "new here"),
    CertifiedFamily("lightning d=p,q,q,r a=2,1,3 t=3", "p*q + q*r - q^2 + 4*p + 8*q - 23", "new here"),
    CertifiedFamily("lightning d=p,q,q,r a=1,2,2 t=3", "p*q + q*r - q^2 + 2*p + 8*q - 16", "new here"),
    CertifiedFamily("lightning d=n l=2 a=1,k t=2", "2*k*n + n^2 - 2*k^2 + k + 2*n - 3", "new here"),
    CertifiedFamily("lightning d=n l=3 a=2 t=1", "n^2 + 12*n - 21", "new here"),
    CertifiedFamily("softmax d=p,q a=k t=2", "2*k*p + p*q - k^2", f"{PAPER}, single layer"),
    CertifiedFamily("softmax d=n l=2 a=2 t=3", "n^2 + 8*n - 8", f"{PAPER}, conjecture"),
    CertifiedFamily("softmax d=n l=3 a=2 t=3", "n^2 + 12*n - 12", f"{PAPER}, conjecture"),
    CertifiedFamily("softmax d=p,q,r a=2 t=3", "p*q + q*r - q^2 + 4*p + 4*q - 8", f"{PAPER}, conjecture"),
    CertifiedFamily("lightning d=n l=2 a=k t=3 skip", "4*k*n + 2*n^2 - 2*k^2 - 2", "new here"),
    CertifiedFamily("softmax d=n l=2 a=k t=3 skip", "4*k*n + 2*n^2 - 2*k^2", "new here"),
    CertifiedFamily("softmax d=n l=12 heads=h a=k dv=k t=4 skip causal", "48*h*k*n - 24*h*k^2", "new here"),
    CertifiedFamily("softmax d=n l=m heads=h a=k dv=k t=4 skip causal", "4*h*k*m*n - 2*h*k^2*m", "new here"),
    CertifiedFamily("softmax d=n l=m a=k t=3 skip", "2*k*m*n + m*n^2 - k^2*m", "new here"),
    CertifiedFamily(
        "softmax d=n l=m heads=4h kv=h a=k dv=k t=4 skip causal rope norm=rms ffn=f:swiglu",
        "10*h*k*m*n - h*k^2*m + 3*f*m*n - h*k*m - f*m",
        "new here, the blocks of Llama",
    ),
    CertifiedFamily(
        "softmax d=n l=m heads=h a=k dv=k t=4 skip causal norm=rms bias=qkvoud ffn=f:gelu",
        "4*h*k*m*n - 2*h*k^2*m + 2*f*m*n + h*k*m + f*m + 2*m*n",
        "new here",
    ),
)
