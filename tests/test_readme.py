"""Every ```console block of the README is run, and prints what the README says.

A line `$ command` is run by bash in a folder that looks like the checkout (links to its files), all blocks in one and the
same; the lines up to the next `$` are its stdout and stderr. `...` alone on a line stands for any lines. Times are not
compared. A block with the line `<!-- not run: reason -->` above it is only shown. A block of any language with the line
`<!-- file: NAME -->` above it is written to that file before any command runs.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TIMES = [
    (re.compile(r"\b\d+(\.\d+)?(e-?\d+)? ?(s|ms|seconds?|minutes?)\b"), "TIME"),
    (re.compile(r'"seconds": [0-9.e-]+'), '"seconds": TIME'),
]


BLOCK = re.compile(
    r"(?:<!-- (?:not run: (?P<why>[^>]+)|file: (?P<file>[\w.-]+)) -->\n)?^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.S | re.M
)


def files(text):
    """The file blocks: name and contents."""
    return {block["file"]: block["body"] for block in BLOCK.finditer(text) if block["file"]}


def commands(text):
    """Yield (command, expected output, reason not to run it) of all console blocks."""
    for block in BLOCK.finditer(text):
        if block["language"] != "console":
            continue
        parts = re.split(r"^\$ ", block["body"], flags=re.M)
        assert parts[0] == "", f"a console block starts with a command, not {parts[0]!r}"
        for part in parts[1:]:
            match = re.match(r"((?:.*\\\n)*.*\n?)", part)
            yield match[0].strip(), part[match.end() :], block["why"]


def masked(text):
    for pattern, name in TIMES:
        text = pattern.sub(name, text)
    return [line.rstrip() for line in text.strip().splitlines()]


def agrees(expected, found):
    """Whether the lines are equal, where `...` stands for any lines."""
    if not expected or expected[0] != "...":
        return (
            expected == found
            if not expected or not found
            else expected[0] == found[0] and agrees(expected[1:], found[1:])
        )
    return any(agrees(expected[1:], found[i:]) for i in range(len(found) + 1))


def run(command, folder):
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "80"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL, text=True, timeout=300, check=False,
    )  # fmt: skip
    return done.stdout


def checkout(folder):
    for path in ROOT.iterdir():
        (folder / path.name).symlink_to(path)
    return folder


def test_readme(tmp_path):
    if not README.exists():
        pytest.skip("there is no README yet")
    folder = checkout(tmp_path)
    text = README.read_text()
    for name, contents in files(text).items():
        assert not (ROOT / name).exists(), f"{name} would be written through the link to the checkout's own"
        (folder / name).write_text(contents)
    ran = 0
    for command, expected, why_not in commands(text):
        if why_not:
            continue
        found = run(command, folder)
        assert agrees(masked(expected), masked(found)), f"$ {command}\n{found}"
        ran += 1
    assert ran >= 5


def test_the_tool_itself(tmp_path):
    text = (
        "```console\n$ echo a; echo b >&2\na\nb\n$ echo 'took 1.25 s'\ntook 0.50 s\n```\n"
        "<!-- not run: it takes an hour -->\n```console\n$ sleep 3600\n```\n"
        "```console\n$ printf '1\\n2\\n3\\n'\n1\n...\n$ echo \\\n    on\non\n$ true\n```\n"
        "<!-- file: a.toml -->\n```toml\nx = 1\n```\n```python\n$ not a command\n```\n"
    )
    assert files(text) == {"a.toml": "x = 1\n"}
    found = list(commands(text))
    assert [why for *_, why in found] == [None, None, "it takes an hour", None, None, None]
    for command, expected, why in found:
        if not why:
            assert agrees(masked(expected), masked(run(command, tmp_path))), command
    assert not agrees(["a"], ["a", "b"])
    assert not agrees(["a", "...", "c"], ["a", "b"])
    assert agrees(["a", "...", "c"], ["a", "c"])
    assert masked('x "seconds": 1.5e-05') == masked('x "seconds": 2')
