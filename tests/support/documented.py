#!/usr/bin/env python3
"""documented.py - whether results/README.md tells of all that the files of a run hold.

    tests/support/documented.py README FILE...

A section of README is about the file that its heading names. Its tables name columns and keys in backquotes, in their first
cell; a line "Keys of `PREFIX`:" stands before a table whose keys begin with that. The columns of a .tsv file are those of its
table, in that order. Each key of a .json or .jsonl file is in a table, or lies in an object that a table names as a whole.
Prints a line for each column or key that is not so.
"""

import json
import pathlib
import re
import sys


def tables_of(text):
    """file -> the names in the first cells of its tables, in order."""
    tables, about, prefix, rows = {}, None, "", False
    for line in text.split("\n"):
        heading = re.match(r"(#+) (.*)", line)
        if heading and (len(heading[1]) <= 2 or re.fullmatch(r"\S+\.\w+", heading[2])):
            about = tables.setdefault(heading[2], [])
        if heading or not line:
            prefix = "" if heading else prefix
            rows = False
        if keys := re.fullmatch(r"Keys of `(.*)`:", line):
            prefix = keys[1] + "."
        elif re.match(r"\| (column|key) \|", line):
            rows = True
        elif rows and about is not None:
            about += [prefix + name for name in re.findall(r"`([^`]*)`", line.split(" | ")[0])]
    return tables


def leaves_of(value, path=""):
    """The dotted paths of all values that hold no others; that of an absent value is the value's own."""
    if isinstance(value, list) and value:
        return set().union(*(leaves_of(one, path + "[]") for one in value))
    if isinstance(value, dict) and value and set(value) != {"absent"}:
        return set().union(*(leaves_of(value[key], f"{path}.{key}" if path else key) for key in value))
    return {re.sub(r"(\[\])+$", "", path)}


def is_documented(leaf, names):
    """A name that has others below it stands for itself alone."""
    if leaf in names:
        return True
    above = [re.sub(r"\[\]$", "", leaf[: dot.start()]) for dot in re.finditer(r"\.", leaf)]
    return any(
        name in names and not any(other.startswith((name + ".", name + "[].")) for other in names) for name in above
    )


def offences(path, names):
    text = path.read_text()
    if path.suffix == ".tsv":
        columns = text.split("\n")[0].split("\t")
        return [] if columns == names else [f"the columns are {columns}, and documented are {names}"]
    values = map(json.loads, text.splitlines()[::20] if path.suffix == ".jsonl" else [text])
    kinds = {frozenset(value): value for value in values}  # one of each kind is enough, and quick
    found = set().union(*map(leaves_of, kinds.values()))
    return [f"the key {key} is not documented" for key in sorted(found) if not is_documented(key, set(names))]


def main():
    tables = tables_of(pathlib.Path(sys.argv[1]).read_text())
    for path in map(pathlib.Path, sys.argv[2:]):
        for offence in offences(path, tables.get(path.name, [])):
            print(f"{path.name}: {offence}")


if __name__ == "__main__":
    main()
