"""The command line: `neuromanifold`, or `python -m neuromanifold.oracle`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from cyclopts import App, CycloptsError, Parameter

from . import commands, console, exits

HELP = """What is the dimension of an attention network's function space, and how do we know?

Exit codes:
  0    holds, answered, valid
  1    refuted, invalid
  2    usage, unreadable input, unsupported mechanism
  3    internal contradiction or crash
  4    undecided at the required label, or a certificate with holes
  5    nothing was checked
  130  stopped by Ctrl-C
  141  the reader of the output went away"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; whatever happens, it is one of `oracle.exits`, never a traceback.

    With NEUROMANIFOLD_TRACEBACK=1 in the environment a crash prints its traceback after the line that reports it.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    about: dict[str, Any] = {}
    as_json = "--json" in arguments
    try:
        code = _run(arguments, about)
        console.flush()
        return code
    except KeyboardInterrupt:
        console.message("neuromanifold: stopped by Ctrl-C")
        return exits.INTERRUPTED
    except (BrokenPipeError, SystemExit):  # rich, which prints --help, makes the one into the other
        _abandon_stdout()
        return exits.BROKEN_PIPE
    except Exception as error:
        return _report(error, about, as_json)


def app() -> App:
    """Return the parser of the command line, with every command of `oracle.commands`."""
    parser = App(
        name="neuromanifold",
        help=HELP,
        help_format="plaintext",
        default_parameter=Parameter(negative="", show_default=False),
        version=_version,
        result_action="return_value",
        exit_on_error=False,
        print_error=False,
        suppress_keyboard_interrupt=False,
    )
    for name in commands.names():
        parser.command(commands.load(name), name=name)
    return parser


def _run(arguments: list[str], about: dict[str, Any]) -> int:
    if not arguments:
        raise exits.CommandError(f"a command is missing: {', '.join(commands.names())}, or --help")
    command, bound, _ = app().parse_args(arguments)
    if "spec" in bound.arguments:
        spec = bound.arguments["spec"]
        about |= {"spec": _canonical(spec), "asked": console.asked(spec)}
    code = command(*bound.args, **bound.kwargs)
    return code if isinstance(code, int) else exits.HOLDS  # --help and --version return nothing


def _canonical(spec: str) -> str | None:
    from ..numerics.network import NetworkError
    from ..numerics.notation import parse

    try:
        return str(parse(spec))
    except NetworkError:
        return None


def _report(error: Exception, about: dict[str, Any], as_json: bool) -> int:
    """Report what stopped a command; nothing escapes from here."""
    code = code_of(error)
    text = describe(error)
    asked = console.printable(about["asked"]) + ": " if about.get("asked") else ""
    try:
        console.message(f"neuromanifold: {asked}{text}")
        if as_json:
            console.result_json(console.error_object(text, about or {"spec": None, "asked": None}))
        if code == exits.CRASH and os.environ.get("NEUROMANIFOLD_TRACEBACK"):
            import traceback

            traceback.print_exception(error)
        console.flush()
    except OSError:
        _abandon_stdout()
    return code


def code_of(error: Exception) -> int:
    """Return the exit code of an exception: the user's errors have their own, everything else is a crash."""
    from ..numerics.network import NetworkError

    if isinstance(error, exits.CommandError):
        return error.code
    return exits.USAGE if isinstance(error, (CycloptsError, NetworkError, OSError)) else exits.CRASH


def describe(error: Exception) -> str:
    """Return an exception as one line for the user."""
    from .answer import Contradiction

    text = " ".join(str(error).split())
    if isinstance(error, Contradiction):
        return f"two sources contradict each other, please report this: {text}"
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else text
    if code_of(error) == exits.CRASH:
        how = "" if os.environ.get("NEUROMANIFOLD_TRACEBACK") else " (NEUROMANIFOLD_TRACEBACK=1 shows where)"
        return f"internal error, please report this: {type(error).__name__}: {text}{how}"
    return text


def _abandon_stdout() -> None:
    """Let the interpreter's own flush at exit go nowhere instead of failing."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _version() -> str:
    from importlib.metadata import version

    return version("neuromanifold")


if __name__ == "__main__":
    sys.exit(main())
