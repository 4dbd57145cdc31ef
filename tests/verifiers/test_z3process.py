"""The process runner: whatever the solver does, the answer comes in time and is never more than it is."""

import os
import sys
import time
from fractions import Fraction

import pytest
from neuromanifold.verifiers.z3process import solve

HARD = "\n".join(
    [f"(declare-const x{i} Int)" for i in range(4)]
    + [f"(assert (> x{i} 1))" for i in range(4)]
    + ["(assert (= (+ (* x0 x0 x0 x0 x0) (* x1 x1 x1 x1 x1)) (+ (* x2 x2 x2 x2 x2) (* x3 x3 x3 x3 x3) 1)))"]
)


def python(code):
    return (sys.executable, "-c", code)


def test_sat_has_an_exact_model():
    reply = solve("(declare-const x Real) (assert (= (* 3.0 x) 1.0))")
    assert reply.status == "sat" and reply.complete and reply.model == {"x": Fraction(1, 3)}


def test_an_irrational_model_is_incomplete():
    reply = solve("(declare-const x Real) (assert (= (* x x) 2.0))")
    assert reply.status == "sat" and not reply.complete and "x" not in reply.model


def test_unsat():
    assert solve("(declare-const x Real) (assert (= (* x x) (- 1.0)))").status == "unsat"


def test_nonsense_is_unknown():
    reply = solve("(assert (= x")
    assert reply.status == "unknown" and reply.reason


@pytest.mark.parametrize("limit", [1.0, 2.0])
def test_a_hard_query_ends_in_time(limit):
    started = time.monotonic()
    reply = solve(HARD, limit)
    assert reply.status == "unknown"
    assert time.monotonic() - started < limit + 2


LIARS = {
    "sleeps": "import time; time.sleep(60)",
    "ignores signals and sleeps": "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)",
    "never reads, prints for ever": "\nwhile True: print('x' * 1000)",
    "crashes": "import os; os.abort()",
    "exits with 1": "import sys; sys.exit(1)",
    "prints nothing": "pass",
    "prints no JSON": "print('unsat')",
    "prints another status": 'print(\'{"status": "proved", "model": {}, "complete": true, "reason": ""}\')',
    "prints a list": "print('[]')",
    "prints no number": 'print(\'{"status": "sat", "model": {"x": "oops"}, "complete": true, "reason": ""}\')',
    "kills itself": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "eats memory": "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28)); b'x' * (1 << 30)",
}


@pytest.mark.parametrize("name", LIARS)
def test_a_broken_solver_is_unknown(name):
    started = time.monotonic()
    reply = solve("(assert true)", 1.0, command=python(LIARS[name]))
    assert reply.status == "unknown" and reply.reason
    assert time.monotonic() - started < 3


def test_a_missing_solver_is_unknown():
    assert solve("(assert true)", 1.0, command=("/nonexistent/z3",)).status == "unknown"


def test_children_of_the_solver_die_with_it(tmp_path):
    note = tmp_path / "pid"
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(60)"
    )
    assert solve("", 1.5, command=python(code)).status == "unknown"
    pid = int(note.read_text())
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        # a killed child may wait to be reaped
        if "Z" in open(f"/proc/{pid}/stat").read().split(")")[1][:4]:  # noqa: PTH123, SIM115
            return
        time.sleep(0.05)
    pytest.fail("the solver's child is alive")
