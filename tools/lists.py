#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
"""Checks that type lists are complete: every model in a folder is in its list, and the list has nothing else.

A model is a class that is named after its file and says its name: static constexpr std::string_view name = "…", or, in a folder with several kinds, name{name_text…}.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# folder, file of the list, name of the list, models that are deliberately not in it, and, where a folder has models of several
# kinds, what those of this kind have in them
LISTS = [
    ("schedule", "schedule/algorithms.hpp", "algorithms", {"automatic", "native"}),  # one chooses among the listed ones, the other has no schedule
    ("topo", "topo/graphs.hpp", "graphs", {"any_graph", "any_weighting"}),  # any_graph holds the listed ones, the other makes rows of them
    ("compress", "compress/compressors.hpp", "compressors", {"any_compressor"}),  # any_compressor holds the listed ones
    ("sync", "sync/policies.hpp", "policies", {"any_policy"}, "membership at("),  # any_policy holds the listed ones
    ("sync", "sync/merges.hpp", "merges", {"any_merge"}, "void merge(arrival"),  # any_merge holds the listed ones
]


def models_in(folder, mark=""):
    for path in sorted(folder.glob("*.hpp")):
        text = path.read_text()
        is_class = re.search(rf"^(?:struct|class) {path.stem}\b", text, re.MULTILINE)
        if is_class and mark in text and (re.search(rf'std::string_view name = "{path.stem}"', text) or mark and "name{name_text" in text):
            yield path.stem


def listed_in(path, name):
    """The types of `using name = std::tuple<a, b<c, d>, …>;`, without their arguments."""
    match = re.search(rf"using {name} = std::tuple<(.*?)>;", path.read_text(), re.DOTALL)
    if not match:
        sys.exit(f"{path}: there is no list \"using {name} = std::tuple<…>;\"")
    types = match[1]
    while "<" in types:
        types = re.sub(r"<[^<>]*>", "", types)
    return [t.strip() for t in types.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--include", type=pathlib.Path, default=ROOT / "include" / "chorus")
    include = parser.parse_args().include
    problems, entries = [], 0
    for folder, file, name, left_out, *mark in LISTS:
        if not (include / folder).is_dir():
            continue
        models = set(models_in(include / folder, *mark)) - left_out
        listed = listed_in(include / file, name)
        entries += len(listed)
        problems += [f"{folder}/{m}.hpp: {m} is not in the list {name} of {file}" for m in sorted(models - set(listed))]
        problems += [f"{file}: {m} of the list {name} has no file {folder}/{m}.hpp" for m in listed if m not in models]
        problems += [f"{file}: {m} is twice in the list {name}" for m in sorted(set(listed)) if listed.count(m) > 1]
    print("\n".join(problems) if problems else f"lists: {entries} entries, complete")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
