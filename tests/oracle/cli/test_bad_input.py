"""Bad networks: one clear line, exit 2, no traceback; the same in a sweep, which goes on."""

import json

import pytest

BAD = {
    "unknown field": ("lightning d=3,3 a=2 t=3 head=2", "did you mean 'heads'"),
    "unknown kind": ("sofmax d=3,3 a=2 t=3", "softmax"),
    "duplicate field": ("lightning d=3,3 a=2 a=2 t=3", "given already"),
    "negative size": ("lightning d=3,-3 a=2 t=3", "not a size"),
    "zero size": ("lightning d=3,3 a=0 t=3", "1..1000000"),
    "huge size": ("lightning d=3,3 a=9999999 t=3", "1..1000000"),
    "endless size": ("lightning d=3,3 a=" + "9" * 400 + " t=3", "not a size"),
    "float size": ("lightning d=3,3 a=2.0 t=3", "not a size"),
    "too many layers": ("lightning d=3 l=1001 a=2 t=3", "1000"),
    "odd rope width": ("softmax d=3,3 a=3 t=3 rope", "must be even"),
    "heads not divisible by kv": ("softmax d=3,3 a=2 t=3 heads=3 kv=2", "multiple"),
    "skip with unequal widths": ("softmax d=3,4 a=2 t=3 skip", "equal widths"),
    "full-width digits": ("lightning d=３,３ a=2 t=3", "ASCII"),
    "empty text": ("", "empty"),
    "blank text": ("   ", "empty"),
    "control characters": ("lightning d=3,3\x1b[31m a=2 t=3", "ASCII"),
    "new line": ("lightning d=3,3\na=2 t=3", "ASCII"),
    "null": ("lightning d=3,3\x00 a=2 t=3", "ASCII"),
    "bytes that are no text": ("lightning d=3,3\udcff a=2 t=3", "ASCII"),
    "code": ("__import__('os').system('true')", "kind"),
    "10 MB": ("lightning d=" + "3," * 5_000_000 + "3 a=2 t=3", "characters"),
    "10 MB of nothing": (" " * 10_000_000, "characters"),
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("command", ["dimension", "explain"])
def test_one_line_and_exit_2(real, what, command):
    spec, expected = BAD[what]
    ran = real(command, spec)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert expected in ran.err
    assert len(ran.err) < 1_500
    assert ran.err.rstrip("\n").isprintable()
    ran = real(command, spec, "--json")
    assert ran.code == 2
    failed = json.loads(ran.out)
    assert list(failed) == ["schema", "spec", "asked", "error"]
    assert failed["spec"] is None
    assert expected in failed["error"]
    assert len(ran.out) < 8_000


def test_as_a_user_types_it(process):
    for what, (spec, expected) in list(BAD.items())[::5]:
        if "\x00" in spec or len(spec) > 100_000:
            continue  # no system passes these on
        ran = process("dimension", spec)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), what
        assert expected in ran.err


def test_in_a_sweep(stub, tmp_path):
    """Each bad line is an error object and the good one between them is answered."""
    lines = [spec for spec, _ in BAD.values() if spec.strip() and "\n" not in spec]
    lines.insert(5, "lightning d=2,2 a=1 t=2")
    file, out = tmp_path / "in.txt", tmp_path / "out.jsonl"
    file.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    ran = stub("sweep", str(file), "--out", str(out))
    assert ran.code == 2
    entries = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(entries) == len(lines)
    assert [("error" in e) for e in entries] == [i != 5 for i in range(len(lines))]
    assert entries[5]["dimension"] == 7
    assert entries[0]["asked"] == lines[0]
    assert f"{len(lines)} lines: 1 proven, {len(lines) - 1} errors" in ran.err
    before = out.read_bytes()
    assert stub("sweep", str(file), "--out", str(out)).code == 2
    assert out.read_bytes() == before


def test_only_dimension_takes_families(real):
    ran = real("explain", "lightning d=n,n a=2 t=3")
    assert (ran.code, ran.out) == (2, "")
    assert "family" in ran.err and ran.err.count("\n") == 1
    assert real("dimension", "lightning d=n,n a=2 t=3").code == 0
