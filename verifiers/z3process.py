"""One Z3 query in one fresh process: SMT-LIB text in, `sat`, `unsat` or `unknown` and a rational model out.

Guarantee: the call returns within the limit plus two seconds; a solver that hangs, crashes, is killed or runs out of
memory
gives `unknown` with the reason, never an exception and never a verdict. The child is the leader of a session of its
own,
limited in memory and processor time, and its whole process group is killed at the end.
Not guaranteed: that Z3 is right. A `sat` is only as good as its model, which callers check in exact rationals; no claim
rests on a single `unsat` (see PROOFS.md).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

Status = Literal["sat", "unsat", "unknown"]

MEMORY_BYTES = 3 << 30
OUTPUT_LIMIT = 1 << 20

# The child imports z3 only after its limits are set. Only rational values of constants are handed back: an algebraic
# number
# or a function has no exact check here, so a model with one is reported as incomplete.
_CHILD = """
import json, resource, sys
memory, seconds = int(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
text = sys.stdin.read()
import z3
solver = z3.Solver()
solver.set("timeout", 1000 * seconds)
solver.from_string(text)
status = str(solver.check())
reply = {"status": status, "model": {}, "complete": True, "reason": ""}
if status == "unknown":
    reply["reason"] = solver.reason_unknown()
if status == "sat":
    model = solver.model()
    for item in model.decls():
        value = model[item]
        if item.arity() == 0 and (z3.is_rational_value(value) or z3.is_int_value(value)):
            reply["model"][item.name()] = str(value.as_fraction())
        else:
            reply["complete"] = False
json.dump(reply, sys.stdout)
"""


@dataclass(frozen=True)
class Reply:
    """What one query gave: the status, the rational part of a model (constants by name), seconds and a reason for
    `unknown`.

    `complete` is false when the model has a value that is not a rational number.
    """

    status: Status
    seconds: float
    model: Mapping[str, Fraction] = field(default_factory=dict)
    complete: bool = True
    reason: str = ""


def solve(text: str, timeout: float = 30.0, command: tuple[str, ...] | None = None) -> Reply:
    """Ask Z3 whether the assertions in `text` (SMT-LIB 2 declarations and `assert`, no `check-sat`) are satisfiable.

    `timeout` in seconds is the wall-clock limit. `command` replaces the solver's command line (tests plant liars and
    sleepers).
    """
    started = time.monotonic()
    limit = max(1, round(timeout))
    arguments = command or (sys.executable, "-P", "-c", _CHILD, str(MEMORY_BYTES), str(limit))
    try:
        process = subprocess.Popen(  # a list of arguments, no shell
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return Reply("unknown", time.monotonic() - started, reason=f"the solver did not start: {error}")
    try:
        output, _ = process.communicate(text.encode(), timeout=timeout)
    except subprocess.TimeoutExpired:
        return Reply("unknown", time.monotonic() - started, reason=f"no answer in {timeout:g} s")
    finally:
        _kill_group(process)
    return _read(output, process.returncode, time.monotonic() - started)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    # The leader may be gone while its children live; the group exists as long as one member does.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()
    process.wait()


def _read(output: bytes, returncode: int | None, seconds: float) -> Reply:
    if returncode != 0:
        return Reply("unknown", seconds, reason=f"the solver ended with code {returncode}")
    if len(output) > OUTPUT_LIMIT:
        return Reply("unknown", seconds, reason="the solver's answer is too long")
    try:
        reply = json.loads(output)
        status: Status = reply["status"]
        model = {str(name): Fraction(value) for name, value in reply["model"].items()}
        complete, reason = bool(reply["complete"]), str(reply["reason"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return Reply("unknown", seconds, reason=f"the solver's answer is unreadable: {error}")
    if status not in ("sat", "unsat", "unknown"):
        return Reply("unknown", seconds, reason=f"the solver answered {status!r}")
    return Reply(status, seconds, model, complete, reason)
