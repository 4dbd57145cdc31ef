"""The store: certificates of earlier direct proofs, in one sqlite3 file of the user's cache folder, so that no long proof is made twice.

It never makes an answer better than a certificate does, and it is never a reason to fail: what cannot be read, written,
or does not fit is as if it were not there, and a message says so where a user may want to know.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..numerics.network import Network
from .fingerprint import ENGINE, fingerprint

if TYPE_CHECKING:
    from ..verifiers.certificate import Proof

VARIABLE = "NEUROMANIFOLD_CACHE"  # the folder, where the usual one is not wanted
WORTH_SECONDS = 0.5  # proofs predicted to be quicker are made again: the store would not be quicker by much
REPLAY_SECONDS = 0.2  # certificates whose replay is predicted to be quicker are replayed when read
BUSY_SECONDS = 2.0  # to wait for another writer
MAX_BYTES = 1 << 28  # of the file; then the older half is forgotten
APPLICATION = 0x4E4D4346  # "NMCF": how sqlite marks a file as ours
TABLE = """CREATE TABLE IF NOT EXISTS certificates (
    spec TEXT, seed INTEGER, engine TEXT, proof TEXT, digest TEXT, written REAL, PRIMARY KEY (spec, seed, engine))"""


def folder() -> Path:
    """The folder of the store: `NEUROMANIFOLD_CACHE`, or `neuromanifold` in the user's cache folder."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "neuromanifold"


class Store:
    """Direct proofs whose bounds meet, by network, seed and the sources of the engine that made them.

    Guaranteed: what `find` returns is what `keep` was given for the same network, seed and sources (a digest), it fits the
    network, and where that is quick its certificate was replayed just now. Not guaranteed: that a certificate whose replay
    takes longer was replayed (`verify` does), so that whoever may write the file can plant an answer. Coordinate certificates
    are not kept: they are made again as quickly as they are replayed. Several processes may use one file. Nothing here raises, except for `KeyboardInterrupt`.
    """

    def __init__(self, report: Callable[[str], None], path: Path | None = None):
        self._report = report
        self._path = path

    def find(self, network: Network, seed: int) -> Proof | None:
        """The proof that is kept, or None."""
        row = self._use(lambda database: _row(database, _key(network, seed)), write=False)
        return _proof(network, *row) if row else None

    def keep(self, proof: Proof, seed: int) -> None:
        """Keep a proof whose bounds meet, for the next time."""
        below = (proof.certificate or {}).get("lower") or {}
        if below.get("rule") != "minor" or proof.lower < proof.upper:
            return
        text = json.dumps({"redundancy": proof.redundancy, "certificate": proof.certificate}, separators=(",", ":"))
        row = (*_key(proof.network, seed), text, _digest(text), time.time())
        self._use(lambda database: _insert(database, row), write=True)

    def _use(self, action: Callable[[sqlite3.Connection], Any], write: bool) -> Any:
        database = path = seen = None
        try:
            path = self._path or folder() / "certificates.sqlite3"
            if write:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            elif not path.exists():
                return None
            seen = path.stat() if path.exists() else None
            database = sqlite3.connect(path, timeout=BUSY_SECONDS)
            if not _is_ours(database):
                raise sqlite3.DatabaseError("it is not a store of this program")
            return action(database)
        except sqlite3.OperationalError as error:  # busy, full, read-only
            self._report(f"neuromanifold: the store of certificates is not used this time: {path}: {error}")
        except sqlite3.DatabaseError as error:
            self._set_aside(path, seen, str(error))
        except (OSError, RuntimeError) as error:  # RuntimeError: a user without a home folder
            self._report(f"neuromanifold: the store of certificates is not used this time: {error}")
        finally:
            if database:
                database.close()
        return None

    def _set_aside(self, path: Path | None, seen: os.stat_result | None, why: str) -> None:
        with contextlib.suppress(OSError):
            if path is None or seen is None or path.stat().st_ino != seen.st_ino:
                return  # another process has set it aside already
            aside = path.with_name(f"{path.name}.unusable-{time.time_ns()}")
            path.rename(aside)
            self._report(f"neuromanifold: the store of certificates could not be used ({why}) and is now {aside}")


def _row(database: sqlite3.Connection, key: tuple[str, int, str]) -> Any:
    if not _tables(database):
        return None
    where = "spec = ? AND seed = ? AND engine = ?"
    return database.execute(f"SELECT proof, digest FROM certificates WHERE {where}", key).fetchone()


def _insert(database: sqlite3.Connection, row: tuple[Any, ...]) -> None:
    with database:
        database.execute("BEGIN IMMEDIATE")
        database.execute(TABLE)
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute("INSERT OR REPLACE INTO certificates VALUES (?, ?, ?, ?, ?, ?)", row)
    _shrink(database)


def _is_ours(database: sqlite3.Connection) -> bool:
    both = "SELECT application_id, (SELECT count(*) FROM sqlite_master) FROM pragma_application_id"  # one look: others may write
    mark, tables = database.execute(both).fetchone()
    return bool(mark == APPLICATION or (mark == 0 and tables == 0))


def _tables(database: sqlite3.Connection) -> int:
    (count,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return int(count)


def _key(network: Network, seed: int) -> tuple[str, int, str]:
    return str(network), seed, fingerprint(ENGINE)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _shrink(database: sqlite3.Connection) -> None:
    (pages,), (size,) = (database.execute(f"PRAGMA {p}").fetchone() for p in ("page_count", "page_size"))
    if pages * size <= MAX_BYTES:
        return
    with database:
        half = "SELECT written FROM certificates ORDER BY written LIMIT 1 OFFSET (SELECT count(*) / 2 FROM certificates)"
        database.execute(f"DELETE FROM certificates WHERE written < ({half})")
    database.execute("VACUUM")


def _proof(network: Network, text: Any, digest: Any) -> Proof | None:
    """The proof of a row, or None where anything about it is not as it must be."""
    if not isinstance(text, str) or _digest(text) != digest:
        return None
    from ..verifiers.certificate import Proof
    from ..verifiers.coordinates.certify import REPLAYED_PARAMETERS
    from ..verifiers.cost import direct
    from ..verifiers.replay import replay

    try:
        kept = json.loads(text)
        certificate = kept["certificate"]
        claim = certificate["claim"]
        redundancy = tuple((str(name), int(n)) for name, n in kept["redundancy"])
        lower, upper = claim["lower"], claim["upper"]
        fits = certificate["spec"] == str(network) and certificate["holes"] == [] and 0 <= lower == upper
        fits = fits and sum(n for _, n in redundancy) == network.parameters - upper
        fits = fits and certificate["lower"]["rule"] == "minor" and network.parameters <= REPLAYED_PARAMETERS
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not fits:
        return None
    if direct(network).replay_seconds < REPLAY_SECONDS and replay(json.dumps(certificate)).verdict != "valid":
        return None
    return Proof(network, lower, upper, redundancy, certificate)
