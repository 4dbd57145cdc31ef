"""The store of certificates: found again, never trusted, never a reason to fail."""

import hashlib
import json
import sqlite3
import subprocess
import sys

import pytest
from neuromanifold.numerics.notation import parse
from neuromanifold.oracle import dimension, store
from neuromanifold.oracle.store import Store
from neuromanifold.verifiers.certificate import prove_bounds

NETWORK = parse("lightning d=3,3,3 a=2,2 t=3")


@pytest.fixture(scope="module")
def proof():
    return prove_bounds(NETWORK)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "certificates.sqlite3"


@pytest.fixture
def kept(path, proof):
    """A store with one proof, and what it said."""
    said = []
    made = Store(said.append, path)
    made.keep(proof, 0)
    assert made.find(NETWORK, 0) == proof
    return made, said


def edit(path, **columns):
    with sqlite3.connect(path) as database:
        for name, value in columns.items():
            database.execute(f"UPDATE certificates SET {name} = ?", (value,))


def test_found_for_the_same_question_only(kept, monkeypatch):
    made, said = kept
    assert made.find(NETWORK, 1) is None
    assert made.find(parse("lightning d=3,3,3 a=2,2 t=4"), 0) is None
    monkeypatch.setattr(store, "fingerprint", lambda folders: "other sources")
    assert made.find(NETWORK, 0) is None
    assert said == []


def test_an_answer_from_the_store_is_the_answer_without(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "WORTH_SECONDS", 0)
    said = []
    made = Store(said.append, tmp_path / "s")
    first = dimension(NETWORK, store=made)
    monkeypatch.setattr("neuromanifold.verifiers.certificate.prove_bounds", None)
    assert dimension(NETWORK, store=made) == first
    assert first.label == "proven"
    assert said == []


def test_what_is_quick_to_prove_leaves_the_store_alone(path):
    dimension(NETWORK, store=Store(pytest.fail, path))
    assert not path.exists()


@pytest.mark.parametrize("change", ["claim", "spec", "redundancy", "holes", "text", "digest"])
def test_a_row_that_was_changed_is_not_used(kept, path, proof, change):
    made, _ = kept
    content = {"redundancy": proof.redundancy, "certificate": json.loads(json.dumps(proof.certificate))}
    certificate = content["certificate"]
    if change == "claim":
        certificate["claim"] = {"lower": proof.lower - 1, "upper": proof.upper - 1}
        content["redundancy"] = [*proof.redundancy, ("more", 1)]
    elif change == "spec":
        certificate["spec"] = "lightning d=3,3,3 a=2,2 t=4"
    elif change == "redundancy":
        content["redundancy"] = []
    elif change == "holes":
        certificate["holes"] = ["trust me"]
    text = "[" * 100_000 if change == "text" else json.dumps(content)
    edit(path, proof=text, digest="0" if change == "digest" else store._digest(text))
    assert made.find(NETWORK, 0) is None


@pytest.mark.parametrize("content", [b"my thesis" * 1_000, b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_corrupt_file_is_set_aside(path, proof, content):
    path.parent.mkdir()
    path.write_bytes(content)
    said = []
    made = Store(said.append, path)
    assert made.find(NETWORK, 0) is None
    made.keep(proof, 0)
    assert made.find(NETWORK, 0) == proof
    assert len(said) == 1 and "could not be used" in said[0]
    (aside,) = path.parent.glob("*.unusable-*")
    assert aside.read_bytes() == content


def test_another_programs_database_is_set_aside(path, proof):
    path.parent.mkdir()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE certificates (spec TEXT)")
    said = []
    Store(said.append, path).keep(proof, 0)
    assert len(said) == 1 and "not a store of this program" in said[0]


def test_an_empty_file_is_an_empty_store(path, proof):
    path.parent.mkdir()
    path.touch()
    made = Store(pytest.fail, path)
    assert made.find(NETWORK, 0) is None
    made.keep(proof, 0)
    assert made.find(NETWORK, 0) == proof


def test_a_full_disk_and_a_folder_that_cannot_be(path, proof, tmp_path, monkeypatch):
    said = []
    (tmp_path / "file").touch()
    Store(said.append, tmp_path / "file" / "s").keep(proof, 0)
    connect = sqlite3.connect

    def full(*arguments, **options):
        database = connect(*arguments, **options)
        database.execute("PRAGMA max_page_count = 2")
        return database

    monkeypatch.setattr(sqlite3, "connect", full)
    Store(said.append, path).keep(proof, 0)
    assert Store(said.append, path).find(NETWORK, 0) is None
    assert len(said) == 2 and "full" in said[1]


def test_a_busy_store_is_not_waited_for_long(kept, path, proof, monkeypatch):
    made, said = kept
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.01)
    other = sqlite3.connect(path)
    other.execute("BEGIN EXCLUSIVE")
    made.keep(proof, 5)
    assert made.find(NETWORK, 0) is None
    other.close()
    assert len(said) == 2 and "locked" in said[0]


def test_the_older_half_is_forgotten_when_the_file_is_large(path, proof, monkeypatch):
    monkeypatch.setattr(store, "MAX_BYTES", 20_000)
    made = Store(pytest.fail, path)
    for seed in range(40):
        made.keep(proof, seed)
    assert made.find(NETWORK, 39) == proof
    assert made.find(NETWORK, 0) is None
    assert path.stat().st_size < 40_000


WRITER = """
import sys
from pathlib import Path
from neuromanifold.numerics.notation import parse
from neuromanifold.oracle.store import Store
from neuromanifold.verifiers.certificate import prove_bounds
proof = prove_bounds(parse("lightning d=3,3,3 a=2,2 t=3"))
for seed in range(int(sys.argv[2]), int(sys.argv[2]) + 20):
    Store(sys.exit, Path(sys.argv[1])).keep(proof, seed)
"""


def test_several_writers(path, proof):
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(100 * k)]) for k in range(3)]
    assert [process.wait(120) for process in running] == [0, 0, 0]
    made = Store(pytest.fail, path)
    assert all(made.find(NETWORK, 100 * k + n) for k in range(3) for n in range(20))


def test_the_folder_can_be_moved(monkeypatch, tmp_path):
    monkeypatch.setenv(store.VARIABLE, str(tmp_path))
    assert store.folder() == tmp_path
    monkeypatch.delenv(store.VARIABLE)
    assert store.folder().name in ("neuromanifold",)


def test_coordinate_certificates_are_made_again_and_a_planted_one_is_no_answer(tmp_path):
    network = parse("softmax d=768 l=12 a=64 dv=64 heads=12 t=1024 skip causal")
    honest = prove_bounds(network)
    made = Store(pytest.fail, tmp_path / "s")
    made.keep(honest, 0)
    assert made.find(network, 0) is None
    made.keep(prove_bounds(NETWORK), 0)
    for lower in ({"rule": "coordinates"}, {"rule": "minor"}):
        planted = {"spec": str(network), "holes": [], "claim": {"lower": 28311545, "upper": 28311545}, "lower": lower}
        text = json.dumps({"redundancy": [["gauge", 7]], "certificate": planted})
        edit(tmp_path / "s", spec=str(network), proof=text, digest=hashlib.sha256(text.encode()).hexdigest())
        assert made.find(network, 0) is None
    assert dimension(network, store=made).dimension == honest.lower == 27131904
