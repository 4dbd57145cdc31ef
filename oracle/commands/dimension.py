"""`neuromanifold dimension`: the dimension of one network, and how it is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...numerics.notation import Family, parse_any
from .. import console, exits, files
from ..answer import LABELS, Answer

if TYPE_CHECKING:
    from ..checkpoint import Checkpoint

TWIN_SECONDS = 60.0  # for the small network of --config


def dimension(
    spec: str | None = None,
    /,
    *,
    config: Path | None = None,
    json: bool = False,
    require: Literal["proven", "formula", "numerical"] | None = None,
    certificate: Path | None = None,
    timeout: float | None = None,
    seed: int = 0,
    no_store: bool = False,
) -> int:
    """Say the dimension of a network's function space, and how it is known.

    Parameters
    ----------
    spec
        A network in one line: "softmax d=10,10,10 a=2 t=3", or a family with named sizes: "softmax d=n l=2 a=2 t=3".
    config
        Instead of a network: the configuration (config.json) of a public checkpoint, GPT-2, Llama, Mistral or Qwen2; asks for
        its blocks, and for a small network of the same structure, which has a minute of its own.
    json
        Print one JSON object.
    require
        Exit with 4 if the answer's label is weaker than this.
    certificate
        Write the certificate to this file.
    timeout
        Seconds after which the best proven bounds so far are the answer; 0 asks formulas only.
    seed
        Chooses the random point; the same seed gives the same answer.
    no_store
        Neither read nor write the store of certificates ($NEUROMANIFOLD_CACHE, or the user's cache folder).
    """
    from ..asking import ask, check_limits

    check_limits(seed, timeout)
    if (spec is None) == (config is None):
        raise exits.CommandError('dimension needs a network, as in "softmax d=10,10,10 a=2 t=3", or --config FILE, and not both')
    blocks = _blocks(config) if config else None
    network = blocks.network if blocks else parse_any(spec or "")
    if certificate is not None and (reason := files.why_unwritable(certificate)):
        raise exits.CommandError(f"--certificate {reason}")
    if isinstance(network, Family):
        return _family(network, json, require, certificate, seed)
    answer, interrupted = ask(network, seed, timeout, no_store)
    if certificate is not None and answer.certificate is not None:
        from ...verifiers.certificate import dumps

        files.write_whole(certificate, dumps(answer.certificate))
    twin: Answer | None = None
    if blocks and not interrupted:
        if not answer.redundancy and answer.dimension == blocks.dimension:
            answer = replace(answer, redundancy=blocks.redundancy)
        twin, interrupted = ask(blocks.twin, seed, TWIN_SECONDS, no_store)
    if json:
        console.result_json(answer.to_json() | ({"twin": twin.to_json()} if twin else {}))
    else:
        from ..render import render, render_twin

        console.result(render(answer, certificate) + (render_twin(twin) if twin else ""))
    return exits.worst([exits.INTERRUPTED if interrupted else exits.HOLDS, *_shortfalls(answer, require, certificate)])


def _blocks(config: Path) -> Checkpoint:
    from ..checkpoint import read_checkpoint

    return read_checkpoint(config)


def _family(family: Family, json: bool, require: str | None, certificate: Path | None, seed: int) -> int:
    from ..family import family as ask_family
    from ..render import render_family

    answer = ask_family(family, seed=seed)
    if certificate is not None and answer.certificate is not None:
        from ...verifiers.certificate import dumps

        files.write_whole(certificate, dumps(answer.certificate))
    if json:
        console.result_json(answer.to_json())
    else:
        console.result(render_family(answer, certificate))
    return exits.UNDECIDED if answer.label is None and (require or certificate) else exits.HOLDS


def _shortfalls(answer: Answer, require: str | None, certificate: Path | None) -> list[int]:
    codes = []
    if require is not None and (answer.label is None or LABELS.index(answer.label) > LABELS.index(require)):
        have = f"label {answer.label}" if answer.label else "no answer"
        console.message(f"neuromanifold: {answer.spec}: {have}, required was {require}")
        codes.append(exits.UNDECIDED)
    if certificate is not None and answer.certificate is None:
        console.message(f"neuromanifold: {answer.spec}: there is no certificate; {certificate} was not written")
        codes.append(exits.UNDECIDED)
    return codes
