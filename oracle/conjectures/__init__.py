"""Built-in conjectures: claim files and Python files for `neuromanifold fuzz`; `oracle/CONJECTURES.md` says what was found."""
