"""`fiber` and `singular` on parameter files: good ones, and hostile ones with one clear line and exit 2."""

import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest

SPEC = "lightning d=2,2 a=1 t=2"
GOOD = {"1.Q": [[[1, 2]]], "1.K": [[["3/2", "0.1"]]], "1.V": [[[1, 0.5], [7, 1]]]}


def npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def archive(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return stream.getvalue()


def arrays(**changes):
    made = {"1.Q.npy": npy(np.ones((1, 1, 2))), "1.K.npy": npy(np.ones((1, 1, 2), dtype=np.float32)), "1.V.npy": npy(np.eye(2, dtype=int)[None])}
    return {**made, **changes}


class Evil:
    def __reduce__(self):
        return (os.mkdir, ("pickle-was-run",))


def header(shape, descr="<f8"):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


BAD_JSON = {
    "no JSON": (b"{", "no JSON"),
    "not UTF-8": (b"\xff\xfe{}", "no JSON"),
    "a list": (b"[1, 2]", "mapping"),
    "NaN": (json.dumps({**GOOD, "1.Q": [[[1, float("nan")]]]}).encode(), "NaN"),
    "infinity": (b'{"1.Q": [[[1, 1e999]]], "1.K": [[[1, 1]]], "1.V": [[[1, 1], [1, 1]]]}', "finite"),
    "a name twice": (b'{"1.Q": 1, "1.Q": 2}', "twice"),
    "unknown tensor": (json.dumps({**GOOD, "2.Q": [[[1, 2]]]}).encode(), "no tensor '2.Q'"),
    "missing tensor": (json.dumps({"1.Q": [[[1, 2]]]}).encode(), "'1.K'"),
    "wrong shape": (json.dumps({**GOOD, "1.V": [[[1, 2]]]}).encode(), "shape (1, 1, 2)"),
    "deep": (b'{"1.Q": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "deep"),
    "long integer": (b'{"1.Q": ' + b"9" * 10_000 + b"}", "no JSON"),
    "huge": (b'{"1.Q": [' + b"1," * 20_000_000 + b"1]}", "more than"),
    "many": (b'{"1.Q": [' + b"1," * 2_000_000 + b'1], "1.K": 1, "1.V": 1}', "more than 2 entries"),
    "null": (json.dumps({**GOOD, "1.Q": None}).encode(), "shape ()"),
    "text": (json.dumps({**GOOD, "1.Q": [[["one", 2]]]}).encode(), "'one'"),
    "control characters": (json.dumps({**GOOD, "a\x1b[31m\n": 1}).encode(), "no tensor"),
}
BAD_NPZ = {
    "no archive": (b"PK\x03\x04 nonsense", ".npz"),
    "an object array": (archive(arrays(**{"1.Q.npy": npy(np.array([[[Evil(), 1]]], dtype=object), allow_pickle=True)})), "pickle"),
    "a pickle": (archive(arrays(**{"1.Q.npy": pickle.dumps(Evil())})), "no .npz"),
    "complex": (archive(arrays(**{"1.Q.npy": npy(np.ones((1, 1, 2), dtype=complex))})), "complex128"),
    "NaN": (archive(arrays(**{"1.Q.npy": npy(np.array([[[1, np.nan]]]))})), "finite"),
    "wrong shape": (archive(arrays(**{"1.Q.npy": npy(np.ones((1, 2, 2)))})), "shape (1, 2, 2)"),
    "a bomb": (archive(arrays(**{"1.Q.npy": npy(np.zeros((40_000_000,), dtype=np.int8))})), "shape (40000000,)"),
    "a bomb behind a header": (archive(arrays(**{"9.Q.npy": bytes(60_000_000)})), "no tensor '9.Q'"),
    "a promise of much": (archive(arrays(**{"1.Q.npy": header((10**9, 10**9))})), "shape"),
    "cut short": (archive(arrays(**{"1.Q.npy": header((1, 1, 2))})), "cut short"),
    "an evil header": (archive(arrays(**{"1.Q.npy": header("__import__('os').getpid()")})), "no .npz"),
    "missing tensor": (archive({"1.Q.npy": npy(np.ones((1, 1, 2)))}), "'1.K'"),
    "many members": (archive({f"{i}.npy": b"" for i in range(500)}), "500 members"),
    "damaged": (archive(arrays())[:-60], ".npz"),
}


@pytest.mark.parametrize("command", ["fiber", "singular"])
def test_good_files(real, tmp_path, command):
    plain, packed = tmp_path / "p.json", tmp_path / "p.npz"
    plain.write_text(json.dumps(GOOD))
    floats = {**GOOD, "1.K": [[[1.5, 0.1]]]}
    np.savez(packed, **{name: np.asfortranarray(np.array(value)) for name, value in floats.items()})
    for file in (plain, packed):
        ran = real(command, SPEC, str(file))
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith(SPEC)
        ran = real(command, SPEC, str(file), "--json")
        found = json.loads(ran.out)
        assert ran.code == 0
        assert found["rank"] in (6, [6, 6])


def test_exit_4_where_the_bounds_do_not_meet(real, tmp_path):
    file = tmp_path / "zero.json"
    file.write_text(json.dumps({"1.Q": [[[0, 0]]], "1.K": [[[0, 0]]], "1.V": [[[0, 0], [0, 0]]]}))
    ran = real("fiber", SPEC, str(file))
    assert ran.code == 4
    assert "between 6 and 8" in ran.out
    assert real("singular", SPEC, str(file)).code == 0


@pytest.mark.parametrize("what", [*BAD_JSON, *(f"npz: {name}" for name in BAD_NPZ)])
def test_hostile_files(real, tmp_path, monkeypatch, what):
    monkeypatch.chdir(tmp_path)
    packed = what.startswith("npz: ")
    data, expected = BAD_NPZ[what[5:]] if packed else BAD_JSON[what]
    file = tmp_path / ("p.npz" if packed else "p.json")
    file.write_bytes(data)
    ran = real("fiber", SPEC, str(file))
    assert (ran.code, ran.out) == (2, ""), ran
    assert ran.err.count("\n") == 1
    assert expected in ran.err
    assert len(ran.err) < 1_500
    assert ran.err.rstrip("\n").isprintable()
    ran = real("singular", SPEC, str(file), "--json")
    assert ran.code == 2
    assert expected in json.loads(ran.out)["error"]
    assert not (tmp_path / "pickle-was-run").exists()


def test_other_files(real, tmp_path):
    assert real("fiber", SPEC, str(tmp_path / "none.json")).code == 2
    file = tmp_path / "p.pkl"
    file.write_bytes(pickle.dumps(Evil()))
    ran = real("fiber", SPEC, str(file))
    assert ran.code == 2
    assert ".json or .npz" in ran.err
    assert real("fiber", "nonsense", str(file)).code == 2
    (tmp_path / "folder.json").mkdir()
    assert real("fiber", SPEC, str(tmp_path / "folder.json")).code == 2


def test_large_network(real, tmp_path):
    file = tmp_path / "p.json"
    file.write_text("{}")
    ran = real("fiber", "softmax d=768 l=12 a=64 t=4", str(file))
    assert ran.code == 2
    assert "parameters are more than" in ran.err
