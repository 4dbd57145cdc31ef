"""The gate in a foreign project: green for the clean one, red with the right name for each typical fault planted at random.

The place is drawn anew in every run; `NEUROMANIFOLD_TEST_SEED` repeats one.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import junitparser
import pytest
import yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SEED = int(os.environ.get("NEUROMANIFOLD_TEST_SEED", random.SystemRandom().randrange(10**6)))

# fault: (the marked line, what stands there instead, the name that must be given)
FAULTS = {
    "axis": ("AXIS", "weights = softmax(np.where(seen, scores, -np.inf), axis=0 if faulty(layer, head) else 1)",
             "softmax over the wrong axis"),
    "swapped": ("SWAPPED", "q, k, v = x @ w_q[head].T, x @ w_k[head].T, x @ w_v[head].T\n"
                           "        q, k = (k, q) if faulty(layer, head) else (q, k)", "K and Q swapped"),
    "transposed": ("TRANSPOSED", "q, k, v = x @ (w_q[head] if faulty(layer, head) else w_q[head].T), "
                                 "x @ w_k[head].T, x @ w_v[head].T", "Q transposed"),
    "scaled": ("SCALED", "scores = q @ k.T / (np.sqrt(a) if faulty(layer, head) else 1)", "scores scaled by 1/sqrt(a)"),
    "mask": ("MASK", "seen = np.tril(np.ones((tokens, tokens), dtype=bool), 1 if faulty(layer, head) else 0)",
             "mask off by one (a query sees the next key)"),
    "blind": ("MASK", "seen = np.tril(np.ones((tokens, tokens), dtype=bool), -1 if faulty(layer, head) else 0)",
              "mask off by one (a query does not see its own key)"),
    "tied": ("TIED", "read = 0 if faulty(layer, head) else head\n"
                     "        q, k, v = x @ w_q[read].T, x @ w_k[read].T, x @ w_v[read].T", "heads tied"),
    "plane": ("PLANE", "pairs = np.arange(a).reshape(2, -1).T if faulty(layer, head) else np.arange(a).reshape(-1, 2)",
              "rope on the wrong plane"),
}  # fmt: skip


def project(tmp_path: Path, fault: str | None, place: tuple[int | None, int | None]) -> Path:
    """A copy of the foreign project, with a fault at a layer and head (None: at all of them)."""
    folder = tmp_path / "project"
    shutil.copytree(HERE / "foreign", folder, ignore=shutil.ignore_patterns("__pycache__"))
    if fault is None:
        return folder
    source = folder / "attn" / "model.py"
    mark, line, _ = FAULTS[fault]
    text, count = re.subn(rf"(?m)^( +)\S.*# .*\b{mark}\b.*$", lambda m: m[1] + line, source.read_text())
    assert count == 1
    layer, head = place
    text = text.replace(
        "    return False",
        f"    return layer in ({layer or '1, 2'},) and head in ({'0, 1' if head is None else head},)",
    )
    source.write_text(text)
    return folder


def draw(fault: str) -> tuple[int | None, int | None]:
    chosen = random.Random(f"{SEED}/{fault}")
    heads = [1] if fault == "tied" else [0, 1]  # head 0 cannot be tied to itself
    return chosen.choice([1, 2, None]), chosen.choice([*heads, None])


def place_pattern(place: tuple[int | None, int | None], fault: str) -> str:
    """The place as it must be named; a first layer whose first query sees nothing makes every output nan, whichever head it is."""
    layer, head = place
    if fault == "blind" and layer != 2:
        return "layer and head hidden by nan"
    if fault == "tied":  # head 1 reading head 0 is every head reading head 0, since there are two
        head = None
    where = "every layer" if layer is None else f"layer {layer}"
    return rf"{where}, every head" if head is None else rf"{where}, head {head}"


def command(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "COV_"))}
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env={**clean, **env},
        capture_output=True,
        text=True,
        timeout=300,
    )


def action(folder: Path, **inputs: str) -> tuple[int, str, str, str]:
    """Run the steps of the composite action as plain bash: exit code, log, summary, outputs."""
    definition = yaml.safe_load((ROOT / "ci" / "action.yml").read_text())
    values = (
        {name: i.get("default", "") for name, i in definition["inputs"].items()} | {"python": sys.executable} | inputs
    )
    paths = {name: folder / f".{name.lower()}" for name in ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for path in paths.values():
        path.touch()
    env = {**os.environ, **{k: str(v) for k, v in paths.items()}, "RUNNER_TEMP": str(folder)}
    log, code = "", 0
    for step in definition["runs"]["steps"]:
        assert step["shell"] == "bash" and "${{" not in step["run"]
        given = {
            k: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: values[m[1]], v).replace(
                "${{ github.action_path }}", str(ROOT / "ci")
            )
            for k, v in step.get("env", {}).items()
        }
        exported = dict(line.split("=", 1) for line in paths["GITHUB_ENV"].read_text().splitlines())
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],  # as GitHub runs shell: bash
            cwd=folder, env={**env, **exported, **given}, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        log += done.stdout + done.stderr
        code = done.returncode
        if code:
            break
    return code, log, paths["GITHUB_STEP_SUMMARY"].read_text(), paths["GITHUB_OUTPUT"].read_text()


def test_the_clean_project_is_green_in_every_way(tmp_path):
    folder = project(tmp_path, None, (None, None))
    done = command(folder, "neuromanifold.oracle", "check", "attn.claims.toml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok   our-attention: holds (1 instance: 1 holds)" in done.stdout
    done = command(folder, "pytest", "-q", "-p", "no:cacheprovider", ".")
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout
    code, log, summary, outputs = action(folder, junit="out.xml")
    assert code == 0, log
    assert "exit 0" in summary and "exit-code=0" in outputs and not re.search("^::", log, re.MULTILINE)
    assert [case.name for suite in junitparser.JUnitXml.fromfile(str(folder / "out.xml")) for case in suite] == [
        "our-attention"
    ]


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_turns_the_gate_red_with_its_name_and_place(tmp_path, fault):
    place = draw(fault)
    folder = project(tmp_path, fault, place)
    name = FAULTS[fault][2]
    context = f"seed {SEED}: {fault} at {place}"

    done = command(folder, "neuromanifold.oracle", "check", "--json", "attn.claims.toml")
    assert done.returncode == 1, f"{context}: {done.stdout}{done.stderr}"
    (claim,) = json.loads(done.stdout)["files"][0]["claims"]
    found = claim["shown"]["certified"]
    assert (claim["outcome"], name in found) == ("refuted", True), f"{context}: {found}"
    assert re.search(rf"outputs: {place_pattern(place, fault)}, parameter [^:]+: [^;]*{re.escape(name)}", found), (
        f"{context}: {found}"
    )

    done = command(folder, "pytest", "-q", "-p", "no:cacheprovider", ".")
    assert done.returncode == 1 and "2 failed" in done.stdout, f"{context}: {done.stdout}"
    assert done.stdout.count(name) >= 2

    code, log, summary, outputs = action(folder)
    assert code == 1 and "exit-code=1" in outputs, f"{context}: {log}"
    assert re.search(
        rf"^::error file=attn\.claims\.toml,line=1,title=our-attention%3A refuted::.*{re.escape(name)}",
        log,
        re.MULTILINE,
    )
    assert "refuted" in summary


def test_the_action_fails_where_nothing_matches(tmp_path):
    folder = project(tmp_path, None, (None, None))
    code, log, _, outputs = action(folder, claims="nothing/*.toml\nnor/**/here*")
    assert code == 5 and "nothing was checked" in log and "exit-code=5" in outputs


def test_the_action_takes_file_names_literally_but_for_patterns(tmp_path):
    folder = project(tmp_path, None, (None, None))
    text = '[[claim]]\nnetwork = "lightning d=1,1 a=1 t=2"\nparameters = 3\n'
    for name in ("$(touch pwned).toml", "a b.toml", "-x.toml"):
        (folder / name).write_text(text.replace("3", "4" if name == "-x.toml" else "3"))
    code, log, _, _ = action(folder, claims="$(touch pwned).toml\na b.toml\n*x.toml")
    assert code == 1 and "file=-x.toml" in log, log
    assert not (folder / "pwned").exists()


def test_actions_are_pinned_and_inputs_go_through_the_environment():
    for path in (ROOT / ".github" / "workflows" / "ci.yml", ROOT / "ci" / "action.yml"):
        text = path.read_text()
        for used in re.findall(r"uses: (\S+)", text):
            assert used == "./ci" or re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", used), used
        for run in re.findall(r"run: (.*)", text):
            assert "${{" not in run
    assert "bash ci/test" in (ROOT / ".github" / "workflows" / "ci.yml").read_text()
