#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
"""Keeps code blocks of README.md and docs/ equal to marked regions of real files.

A block that follows the line

    <!-- snippet: examples/01_all_reduce_threads.cpp region -->

must equal what stands between the lines "// [region]" and "// […]" of that file, less the common indent; the region `all` is the
whole file below its licence lines. --check fails if a block differs, --write brings it up to date.
"""
import argparse
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"<!-- snippet: (\S+) (\S+) -->\n+```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def region_of(root, file, name):
    text = (root / file).read_text()
    if name == "all":
        lines = [line for line in text.split("\n") if not line.startswith("// SPDX-")]
        return "\n".join(lines).strip("\n") + "\n"
    match = re.search(rf"^[ \t]*// \[{re.escape(name)}\]\n(.*?)^[ \t]*// \[…\]$", text, re.DOTALL | re.MULTILINE)
    if not match:
        raise ValueError(f"{file} has no region {name}")
    return textwrap.dedent(match[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true")
    action.add_argument("--write", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the project's folder")
    options = parser.parse_args()
    root = options.root

    problems, blocks = [], 0
    for document in [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]:
        def fresh(match):
            nonlocal blocks
            blocks += 1
            file, name, language, code = match.groups()
            try:
                wanted = region_of(root, file, name)
            except (OSError, ValueError) as problem:
                problems.append(f"{document.relative_to(root)}: {problem}")
                return match[0]
            if code != wanted and options.check:
                problems.append(f"{document.relative_to(root)}: the block from {file} {name} is out of date; run tools/snippets.py --write")
            return f"<!-- snippet: {file} {name} -->\n```{language}\n{wanted}```"

        text = document.read_text()
        if text.count("<!-- snippet:") != len(BLOCK.findall(text)):
            problems.append(f"{document.relative_to(root)}: a snippet comment is not followed by a code block")
        updated = BLOCK.sub(fresh, text)
        if options.write and updated != text:
            document.write_text(updated)
    print("\n".join(problems) if problems else f"snippets: {blocks} blocks are what the files say")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
