#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
"""Checks the direction of every #include under include/chorus against tools/floors.txt.

CUDA's headers may be included by .cuh files alone. Fails on an include of a higher or neighbouring floor, on a cycle of headers, on a header that nobody reaches from
chorus.hpp or a leaf, on a relative include, on an include of a header that does not exist, and on headers that
are neither the library's own nor the standard library's.
"""
import argparse
import pathlib
import re
import sys

TOOLS = pathlib.Path(__file__).resolve().parent
UMBRELLA = "chorus.hpp"
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


class Rules:
    def __init__(self, path):
        self.floor = {}  # folder -> height
        self.never = set()
        self.system = set()
        self.leaves = set()
        height = 0
        for number, line in enumerate(path.read_text().splitlines(), 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            kind, *names = words
            if kind == "floor":
                self.floor.update({name: height for name in names})
                height += 1
            elif kind == "never" and len(names) == 2:
                self.never.add(tuple(names))
            elif kind == "system":
                self.system.update(names)
            elif kind == "leaf":
                self.leaves.update(names)
            else:
                sys.exit(f"{path}:{number}: cannot read \"{line}\"")

    def refuses(self, includer, included):
        """Why `includer` may not include `included` (folders), or nothing."""
        if includer == included:
            return ""
        if (includer, included) in self.never:
            return f"{includer} may never include {included}"
        if included not in self.floor:
            return f"{included} is on no floor"
        if self.floor[included] == self.floor[includer]:
            return f"{included} is a neighbour of {includer}"
        if self.floor[included] > self.floor[includer]:
            return f"{included} is above {includer}"
        return ""


def folder_of(header):
    return header.split("/")[0] if "/" in header else ""


def read_includes(root):
    """header -> [(line, quoted, path)], headers named relative to include/chorus."""
    found = {}
    for path in sorted([*root.rglob("*.hpp"), *root.rglob("*.cuh")]):
        text = path.read_text()
        found[path.relative_to(root).as_posix()] = [
            (text.count("\n", 0, match.start(2)) + 1, match[1] == '"', match[2]) for match in INCLUDE.finditer(text)]
    return found


def problems_of(header, includes, headers, rules):
    folder = folder_of(header)
    if folder and folder not in rules.floor:
        yield f"{header}: folder {folder} is on no floor of floors.txt"
        return
    for line, quoted, path in includes:
        where = f"{header}:{line}"
        if path.startswith("chorus/"):
            target = path.removeprefix("chorus/")
            if target not in headers:
                yield f"{where}: there is no {path}"
            elif folder and folder_of(target):
                refusal = rules.refuses(folder, folder_of(target))
                if refusal:
                    yield f"{where}: includes {path}, but {refusal}"
            elif folder:
                yield f"{where}: includes {path}, which is above every floor"
        elif quoted:
            yield f"{where}: \"{path}\" is a relative include; write the full path, chorus/…"
        elif re.match(r"(cuda|cublas|nccl)\w*\.h$", path) and not header.endswith(".cuh"):
            yield f"{where}: <{path}> may only be included by .cuh files"
        elif re.search(r"[./]", path) and folder not in rules.system:
            yield f"{where}: <{path}> is not of the standard library"


def targets(includes, headers):
    return [p.removeprefix("chorus/") for _, _, p in includes if p.removeprefix("chorus/") in headers]


def cycles(headers):
    state = {}
    found = []

    def visit(header, trail):
        state[header] = "open"
        for target in targets(headers[header], headers):
            if state.get(target) == "open":
                found.append("cycle: " + " -> ".join([*trail[trail.index(target):], target]))
            elif target not in state:
                visit(target, [*trail, target])
        state[header] = "done"

    for header in headers:
        if header not in state:
            visit(header, [header])
    return found


def orphans(headers, rules):
    reached = set()
    waiting = [UMBRELLA, *rules.leaves]
    while waiting:
        header = waiting.pop()
        if header in reached or header not in headers:
            continue
        reached.add(header)
        waiting += targets(headers[header], headers)
    for header in [UMBRELLA, *sorted(rules.leaves)]:
        if header not in headers:
            yield f"floors.txt: there is no {header}"
    for header in headers:
        if header not in reached:
            yield f"{header}: neither {UMBRELLA} nor a leaf of floors.txt leads here"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--include", type=pathlib.Path, default=TOOLS.parent / "include" / "chorus", help="the tree to check")
    parser.add_argument("--rules", type=pathlib.Path, default=TOOLS / "floors.txt")
    options = parser.parse_args()

    rules = Rules(options.rules)
    headers = read_includes(options.include)
    problems = [p for header, includes in headers.items() for p in problems_of(header, includes, headers, rules)]
    problems += cycles(headers)
    problems += orphans(headers, rules)
    print("\n".join(problems) if problems else f"floors: {len(headers)} headers, every include points down")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
