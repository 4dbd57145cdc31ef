"""Run benchmarks and print their tables, or one JSON object."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
from pathlib import Path

from table import Table


def blas() -> str:
    """Name numpy's BLAS, as far as it says."""
    import numpy as np

    found = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"{found['name']} {found['version']}"


def main() -> None:
    """Run what the command line asks for."""
    here = Path(__file__).parent
    names = sorted(p.stem for p in here.glob("*.py") if p.stem not in ("__main__", "others", "table"))
    parser = argparse.ArgumentParser(prog="ci/bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all of them by default: {', '.join(names)}")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of every measurement (9)")
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds, as for every commit")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if unknown := set(options.names) - set(names):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    machine = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; BLAS: {blas()}"
    tables: list[Table] = []
    for name in options.names or names:
        made = importlib.import_module(name).measure(3 if options.quick else options.rounds, options.quick)
        tables += made
        if not options.json:
            print("".join(f"{table}\n\n" for table in made), end="", flush=True)
    if options.json:
        print(json.dumps({"schema": 1, "machine": machine, "tables": [table.to_json() for table in tables]}))
    else:
        print(machine)


if __name__ == "__main__":
    main()
