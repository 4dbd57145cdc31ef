"""Run benchmarks and print their tables, or one JSON object."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
from pathlib import Path

from table import Table


def main() -> None:
    """Run what the command line asks for."""
    here = Path(__file__).parent
    names = sorted(p.stem for p in here.glob("*.py") if p.stem not in ("__main__", "table"))
    parser = argparse.ArgumentParser(prog="ci/bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all of them by default: {', '.join(names)}")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of every measurement (9)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if unknown := set(options.names) - set(names):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    machine = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"
    tables: list[Table] = []
    for name in options.names or names:
        tables.append(importlib.import_module(name).measure(options.rounds))
        if not options.json:
            print(f"{tables[-1]}\n")
    if options.json:
        print(json.dumps({"schema": 1, "machine": machine, "tables": [table.to_json() for table in tables]}))
    else:
        print(machine)


if __name__ == "__main__":
    main()
