#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
"""Checks that every public header include/chorus/FLOOR/NAME.hpp, or NAME.cuh, has its tests/FLOOR/NAME_test.cpp and every test its header.

Headers in a folder named detail need no test of their own but may have one. A header may have further tests,
NAME_TOPIC_test.cpp. A transport whose ranks need a launcher has its test in tests/networks/NAME.cpp instead.
The tests of the benchmark's parts, tests/bench, mirror bench.
"""
import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOT_MIRRORED = {"behaviour", "cuda_on_cpu", "no_exceptions"}  # folders of tests that are about something else than one header

HEADERS = {".hpp", ".cuh"}


def headers_for(floor, root):
    """The names that a test in tests/`floor` may have."""
    if floor == pathlib.PurePath("bench"):
        return {path.stem for path in (root / "bench").glob("*.hpp")}
    tree = root / "include" / "chorus" / floor
    return {path.stem for folder in (tree, tree / "detail") for path in folder.glob("*") if path.suffix in HEADERS}


def missing_tests(root):
    tree = root / "include" / "chorus"
    for header in sorted(path for path in tree.rglob("*") if path.suffix in HEADERS and path.parent != tree):
        floor = header.parent.relative_to(tree)
        test = root / "tests" / floor / f"{header.stem}_test.cpp"
        launched = root / "tests" / "networks" / f"{header.stem}.cpp"
        if floor.name != "detail" and not test.exists() and not launched.exists():
            yield f"{header.relative_to(root)}: there is no {test.relative_to(root)}"


def orphan_tests(root):
    for test in sorted((root / "tests").rglob("*_test.cpp")):
        floor = test.parent.relative_to(root / "tests")
        if floor.parts and floor.parts[0] in NOT_MIRRORED:
            continue
        name = test.stem.removesuffix("_test")
        if not any(name == known or name.startswith(known + "_") for known in headers_for(floor, root)):
            yield f"{test.relative_to(root)}: there is no header that it mirrors"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the project's folder")
    root = parser.parse_args().root
    problems = [*missing_tests(root), *orphan_tests(root)]
    print("\n".join(problems) if problems else "mirror: every public header has its test, every test its header")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
