"""The command line on top of an oracle without mathematics, whose behaviour follows from the number of tokens.

`python stub.py ARGS` runs `main(ARGS)`, and the processes that it spawns have the stub too. SLOW naps, KILLER kills its
process; with LOG set, every network asked is written to that file.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import types
from pathlib import Path

from neuromanifold.oracle.answer import Contradiction, Evidence, decide

PROVEN, FORMULA, NUMERICAL, UNKNOWN, CRASH, CONTRADICTION, SLOW, KILLER = range(2, 10)  # t=2, t=3, ...


def dimension(network, *, seed=0, timeout=None, progress=None, store=None):
    """Answer by the number of tokens."""
    if log := os.environ.get("LOG"):
        with Path(log).open("a") as file:
            file.write(f"{network}\n")
    spec, n = str(network), network.parameters
    if network.t == KILLER:
        os.kill(os.getpid(), signal.SIGKILL)
    if network.t == CRASH:
        raise RuntimeError("broken\nin two lines")
    if network.t == CONTRADICTION:
        raise Contradiction("5 <= dimension <= 4")
    bounds = Evidence("lower", 2, "certificate", "proven", f"point of seed {seed}")
    if network.t == SLOW:
        if progress:
            progress(decide(spec, n, 2, n - 1, [bounds]))
        time.sleep(float(os.environ.get("NAP", "0")))
    if network.t == FORMULA:
        return decide(spec, n, 0, n, [Evidence("value", 7, "theorem", "proved", "a theorem")])
    if network.t == NUMERICAL:
        return decide(spec, n, 2, n - 1, [bounds, Evidence("value", 7, "estimate", "estimate", "singular values")])
    if network.t == UNKNOWN:
        return decide(spec, n, 2, n - 1, [bounds])
    return decide(
        spec, n, n - 1, n - 1, [bounds], redundancy=(("gauge 1", 1),), certificate={"spec": spec, "seed": seed}
    )


def install():
    """Put this oracle in the place of the real one and return its module."""
    module = types.ModuleType("neuromanifold.oracle.dimension")
    module.dimension = dimension
    return module


if __name__ in ("__main__", "__mp_main__"):  # the second in spawned processes
    sys.modules["neuromanifold.oracle.dimension"] = install()

if __name__ == "__main__":
    from neuromanifold.oracle.__main__ import main

    sys.exit(main())
