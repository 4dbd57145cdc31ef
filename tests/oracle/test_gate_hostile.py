"""Hostile claim files: a clear message, exit 2, bounded time and memory, and nothing that a terminal or GitHub obeys."""

from __future__ import annotations

import contextlib
import io
import os
import time
import tracemalloc
from pathlib import Path

import pytest
from neuromanifold.oracle.gate.check import run_check
from neuromanifold.oracle.gate.load import MAX_BYTES, Unreadable, loads

from .exact_rank import exact

CLAIM = '[[claim]]\nid = "{}"\nnetwork = "{}"\ndimension = {}\n'
ONE = CLAIM.format("one", "lightning d=2,2 a=1 t=2", 6)


def check(path: Path, **options) -> tuple[int, str]:
    out = io.StringIO()
    code = run_check([path], stdout=out, ask=exact, **options)
    return code, out.getvalue()


HOSTILE = {
    "10 MB": (b"# " + b"x" * 98 + b"\n") * 100_000,
    "one long line": b'x = "' + b"a" * 20_000 + b'"',
    "deep arrays": b"x = " + b"[" * 5_000 + b"]" * 5_000,
    "deep tables": b"x = " + b"{a=" * 2_000 + b"1" + b"}" * 2_000,
    "deep dotted key": b".".join([b"a"] * 4_000) + b" = 1",
    "deep quoted key": b".".join([b'"a"'] * 2_000) + b" = 1",
    "deep spaced key": b" . ".join([b"a"] * 2_000) + b" = 1",
    "deep header": b"[" + b".".join([b"a"] * 4_000) + b"]",
    "deep beside a string": b"x = '''\n[\n''' \ny = " + b"[" * 20 + b"]" * 20,
    "not UTF-8": b'x = "\xff\xfe"',
    "UTF-16": ONE.encode("utf-16"),
    "BOM": b"\xef\xbb\xbf" + ONE.encode(),
    "null byte": b"x = 1\x00",
    "binary": bytes(range(256)) * 100,
    "duplicate key": b'[[claim]]\nid="a"\nid="b"\n',
    "unclosed string": b'x = "abc',
    "unclosed long string": b'x = """abc' + b'\\"""' * 2_000,
    "huge integer": b"x = " + b"9" * 9_000,
    "import": CLAIM.format("x", "lightning d=2,2 a=1 t=2", "\"__import__('os').system('touch pwned')\"").encode(),
    "import in network": CLAIM.format("x", "lightning d={__import__('os').getpid()} a=1 t=2", 1).encode(),
    "tower": CLAIM.format("x", "lightning d=2,2 a=1 t=2", '"9**9**9"').encode(),
    "grid": CLAIM.format("x", "lightning d={a},{b} a={c} t=2", 1).encode()
    + b'where = { a = "1..10000", b = "1..10000", c = "1..10000" }',
    "wrong types": b'[[claim]]\nid=1\nnetwork=[]\nwhere="x"\nwhen=1.5\ndimension={}\nrequire=2020-01-01\nexpect=nan\n',
    "claim is no table": b"claim = [1, 2]",
    "claim is one table": b"[claim]\nid = 'x'",
    "escape in id": CLAIM.format("\\u001b[31mred", "lightning d=2,2 a=1 t=2", 6).encode(),
    "annotation in id": CLAIM.format("::error file=x::y", "lightning d=2,2 a=1 t=2", 6).encode(),
    "annotation in network": CLAIM.format("x", "::error::y", 6).encode(),
    "annotation in a key": b'[[claim]]\n"\\n::error::x" = 1\n',
    "markup in a key": b'[[claim]]\n"[red]<b>|@someone`" = 1\n',
    "newline in network": CLAIM.format("x", "lightning\\n::error::d=2,2 a=1 t=2", 6).encode(),
    "words that are code": CLAIM.format("x", "lightning d=2,2 a=1 t=2 {m}", 6).encode()
    + b'where = { m = ["\\u001b[2J"] }',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_exit_2_in_bounded_time_and_memory(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "hostile.claims.toml"
    path.write_bytes(HOSTILE[name])
    tracemalloc.start()
    start = time.process_time()
    for form in ("text", "json", "github"):
        code, out = check(path, format=form, junit=tmp_path / "junit.xml", summary=tmp_path / f"{form}.md")
        assert code == 2
        assert all(c.isprintable() or c == "\n" for c in out)
        commands = [line for line in out.split("\n") if line.lstrip().startswith("::")]
        assert all(line.startswith("::error file=hostile.claims.toml,line=") for line in commands)
        assert (len(commands) >= 1) == (form == "github")
        assert max(map(len, out.split("\n"))) < 10_000
    assert time.process_time() - start < 3
    assert tracemalloc.get_traced_memory()[1] < 64 << 20
    tracemalloc.stop()
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    "text",
    [
        ONE.replace("\n", "\r\n"),
        ONE + "# [[[[[[[[[[[[[[[[[[[\n",
        ONE + 'source = "[[[[[[[[[[[[ a.b.c.d.e.f.g.h.i.j.k"\n',
        ONE + 'source = \'a\\\'  # """ not a string\n',
        "x-y = 1\n".replace("x-y = 1\n", "") + ONE + 'source = """a quote "" in it"""\n',
    ],
)
def test_harmless_files_that_look_alike_are_read(text, tmp_path):
    path = tmp_path / "fine.claims.toml"
    path.write_bytes(text.encode())
    assert check(path)[0] == 0


@pytest.mark.parametrize(
    "line",
    ["a.b.c.d.e.f.g.h = 1", "[a.b.c.d.e.f.g.h]", "x = [[[[[[[[1]]]]]]]]", '[[claim]]\n"', "a = 1", "[a.b]", "[[a.b]]", "x = {a = {b = 1}}",
     "'''", '"""', "#", "a.a = 1"],
)  # fmt: skip
def test_a_megabyte_of_anything_is_read_or_refused_in_seconds(line):
    """The slowest inputs for tomllib that pass the scan."""
    numbered = "\n".join(line.replace("a", f"a{i}", 1) for i in range(MAX_BYTES // (len(line) + 8)))
    for text in (numbered, (line + "\n") * (MAX_BYTES // (len(line) + 1)), line * (9_000 // len(line))):
        start = time.process_time()
        with contextlib.suppress(Unreadable):
            loads(text.encode())
        assert time.process_time() - start < 5


def test_files_that_are_not_files(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "missing.toml", tmp_path / "fifo", Path("/dev/zero"), Path("a\0b")):
        code, out = check(path)
        assert code == 2 and out.count("\n") == 3


def test_a_bad_file_does_not_hide_the_others(tmp_path):
    (tmp_path / "bad.toml").write_text("x = ")
    (tmp_path / "wrong.toml").write_text(ONE.replace("6", "7"))
    out = io.StringIO()
    assert run_check([tmp_path / "bad.toml", tmp_path / "wrong.toml"], stdout=out, ask=exact) == 1
    assert "unreadable" in out.getvalue() and "refuted" in out.getvalue()
