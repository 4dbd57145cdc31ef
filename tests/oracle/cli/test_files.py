"""Files are whole or not there, whatever stops the writer."""

import os
import signal
import stat
import subprocess
import sys

import pytest
from neuromanifold.oracle import files


def test_a_new_file_has_the_mode_that_the_user_asked_for(tmp_path):
    old = os.umask(0o027)
    try:
        files.write_whole(tmp_path / "a", "text\n")
    finally:
        os.umask(old)
    assert (tmp_path / "a").read_text() == "text\n"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_an_existing_file_keeps_its_mode_and_a_link_its_target(tmp_path):
    path, link = tmp_path / "a", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o600)
    link.symlink_to(path)
    files.write_whole(link, "new")
    assert path.read_text() == "new"
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_device_stays_a_device(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
    files.write_whole(pipe, "text")
    assert reader.communicate(timeout=10)[0] == b"text"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_failure_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, error):
    path = tmp_path / "a"
    path.write_text("old")

    def fail(_):
        raise error

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(KeyboardInterrupt if error is KeyboardInterrupt else OSError):
        files.write_whole(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_kill_at_any_moment_leaves_an_old_or_a_new_file(tmp_path):
    path = tmp_path / "a"
    size = 200_000
    code = (
        "import sys, itertools; from neuromanifold.oracle.files import write_whole\n"
        f"for i in itertools.count(): write_whole(sys.argv[1], str(i % 10) * {size}); i or print('on', flush=True)"
    )
    for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        command = [sys.executable, "-c", code, path]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as writer:
            assert writer.stdout.readline() == b"on\n"
            writer.send_signal(number)
        text = path.read_text()
        assert len(text) == size
        assert len(set(text)) == 1
    names = [p.name for p in tmp_path.iterdir() if p.name != "a"]
    assert all(name.startswith(".nm-") and name.endswith(".tmp") for name in names)


def test_reasons_known_before_a_long_computation(tmp_path):
    assert files.why_unwritable(tmp_path / "new.json") is None
    assert "is a folder" in files.why_unwritable(tmp_path)
    assert "does not exist" in files.why_unwritable(tmp_path / "no" / "new.json")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert files.why_unwritable(tmp_path / "loop" / "x") is not None
    assert files.why_unwritable(f"{tmp_path}/a\x00b") is not None
