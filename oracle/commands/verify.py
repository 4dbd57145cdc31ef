"""`neuromanifold verify`: replay certificates."""

from __future__ import annotations

from pathlib import Path

from .. import console, exits

CODES = {"valid": exits.HOLDS, "holey": exits.UNDECIDED, "invalid": exits.REFUTED}


def verify(*files: str, json: bool = False) -> int:
    """Replay certificates: each is valid (exit 0), holey (4: it names statements not replayed) or invalid (1).

    The same check without this program: python -I -S verifiers/replay.py FILE...

    Parameters
    ----------
    files
        Certificate files.
    json
        Print one JSON object a file.
    """
    if not files:
        raise exits.CommandError("verify needs at least one certificate file")
    return exits.worst([_verify(name, json) for name in files])


def _verify(name: str, json: bool) -> int:
    from ..verify import verify as check

    shown = console.asked(name)
    try:
        verdict = check(Path(name))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        console.message(f"neuromanifold: {shown}: cannot be read: {reason}")
        if json:
            console.result_json(console.error_object(f"cannot be read: {reason}", {"file": shown}))
        return exits.USAGE
    if json:
        console.result_json({"schema": 1, "file": shown, **verdict._asdict()})
    else:
        console.result(console.printable(f"{shown}: {verdict}", limit=4_000))
    console.flush()
    return CODES[verdict.verdict]
