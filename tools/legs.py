#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
"""Builds and runs all tests, in legs, the cheapest first. Run it as tools/test, which installs what is missing.

    checks     the tools that look at the sources: floors, mirror, lists, snippets, release, reference, and the tools' own tests
    headers    every header alone and all together, with g++ and clang++
    gcc        tests, examples, benchmarks and trainer built by g++; tests over MPI and UCX on this host
    noexcept   the library under -fno-exceptions
    cuda       device code compiled and linked by nvcc for all architectures, and its report read; its tests run with all others, by a stand-in
    consumers  installed and moved, as a subdirectory, by FetchContent, pkg-config, a bare include path, Conan, the port for vcpkg
    fuzz       decoders of all compressors, ten thousand mutated messages each; a million by tests/fuzz/run
    tsan       tests that use several threads, under the thread sanitizer, built by g++
    asan       tests and examples under the address and undefined-behaviour sanitizers, built by clang++
    clang      only when asked for: tests and examples built by clang++, without sanitizers
    networks   only when asked for: tests across network namespaces, of faults under MPI, and of what killed ranks leave behind

Every leg prints what failed, what was skipped and why, and its counts. The last line of all is the sum, alone:
"N passed, N failed, N skipped". Ends with 1 if anything failed. Builds are kept in build/test.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "test"
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")


class Counts:
    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def __add__(self, other):
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def say(*lines):
    print(*lines, sep="\n", flush=True)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", **options)


def check(*command):
    """A command that passes or fails as a whole, or cannot run here: then it ends with 77."""
    result = run(*command)
    if result.returncode == 77:
        say(result.stdout.strip().split("\n")[-1])
        return Counts(skipped=1)
    if result.returncode == 0:
        say(result.stdout.strip().split("\n")[-1])
        return Counts(passed=1)
    say("FAILED " + " ".join(str(word) for word in command), result.stdout.strip())
    return Counts(failed=1)


def counting(*command):
    """A command whose last line is its counts."""
    result = run(*command)
    *lines, last = result.stdout.rstrip().split("\n") or [""]
    match = COUNTS.match(last)
    if lines:
        say(*lines)
    if not match:
        say("FAILED " + " ".join(str(word) for word in command), last)
        return Counts(failed=1)
    counts = Counts(*map(int, match.groups()))
    if result.returncode != 0 and counts.failed == 0:
        counts.failed = 1
    return counts


def preset(name, jobs, *definitions, launcher=(), exclude=None, only=None):
    """Configures, builds and tests one of CMakePresets.json; tests with or without a label."""
    tree = BUILD / name
    configured = run("cmake", "--preset", name, "-B", tree, *definitions)
    if configured.returncode != 0:
        say("FAILED to configure", configured.stdout)
        return Counts(failed=1)
    say(*[line.removeprefix("-- ") for line in configured.stdout.split("\n") if line.startswith("-- chorus:")])
    say(f"building in {tree.relative_to(ROOT)}")
    built = run("cmake", "--build", tree, "--parallel", jobs, "--", "-k", "0")
    counts = Counts()
    if built.returncode != 0:
        say("FAILED to build", *lines_about_errors(built.stdout))
        counts.failed += 1
    report = tree / "report.xml"
    report.unlink(missing_ok=True)
    tested = run(*launcher, "ctest", "--test-dir", tree, "--parallel", jobs, "--output-junit", report,
                 *(["--label-exclude", exclude] if exclude else []), *(["--label-regex", only] if only else []))
    if not report.exists():
        say("FAILED to test", tested.stdout)
        return counts + Counts(failed=1)
    return counts + read_report(report)


def lines_about_errors(text):
    lines = text.split("\n")
    shown = [line for line in lines if re.search(r"error:|undefined reference|FAILED:|note: .*required|fatal", line)]
    return shown[:60] or lines[-40:]


def read_report(path):
    counts = Counts()
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        output = (case.findtext("system-out") or "").strip()
        skipped = case.find("skipped")
        if case.get("status") == "run":
            counts.passed += 1
        elif skipped is not None and "SKIP_RETURN_CODE" in skipped.get("message", ""):
            counts.skipped += 1
            say(f"skipped: {case.get('name')}: " + output.split("\n")[-1].removeprefix("skipped: "))
        else:
            counts.failed += 1
            say(f"FAILED {case.get('name')} ({case.get('status')})", *output.split("\n")[-80:])
    return counts


def sanitizer_launcher(compiler, sanitizer):
    """Sanitizers of these compilers fail at random where the kernel spreads addresses widely; then without that, if permitted.

    Returns the words to put before a command, or a reason why nothing helps.
    """
    program = BUILD / f"try_{sanitizer}"
    BUILD.mkdir(parents=True, exist_ok=True)
    subprocess.run([compiler, f"-fsanitize={sanitizer}", "-x", "c++", "-", "-o", str(program)], input="int main() {}", text=True, check=True)
    problem = ""
    for launcher in [(), ("setarch", "-R")]:
        if launcher and not shutil.which(launcher[0]):
            continue
        results = [run(*launcher, program) for _ in range(20)]
        if all(result.returncode == 0 for result in results):
            return launcher, ""
        problem = problem or next(r.stdout.strip() for r in results if r.returncode != 0)
    return (), problem or "it cannot run here"


def sanitized(name, jobs, compiler, sanitizer):
    launcher, problem = sanitizer_launcher(compiler, sanitizer)
    if problem:
        say(f"skipped: {name}: the {sanitizer} sanitizer does not work on this machine: {problem}")
        return Counts(skipped=1)
    return preset(name, jobs, launcher=launcher, exclude="compile_fail")


def checks(_):
    counts = Counts()
    for command in (["tools/floors.py"], ["tools/mirror.py"], ["tools/lists.py"], ["tools/snippets.py", "--check"], ["tools/release", "--check"],
                    ["tools/reference"],
                    ["tests/tools/run"]):
        counts += check(sys.executable, *command)
    return counts


LEGS = {
    "checks": checks,
    "headers": lambda jobs: counting("tools/headers", "--jobs", jobs),
    "gcc": lambda jobs: preset("dev", jobs, "-DCMAKE_CXX_FLAGS_DEBUG=-O1", exclude="^net$"),
    "noexcept": lambda jobs: preset("noexcept", jobs),
    "cuda": lambda jobs: counting("tools/kernel_report.py", "--jobs", jobs),
    "consumers": lambda jobs: counting("tests/consume/run", "--jobs", jobs),
    "fuzz": lambda jobs: counting("tests/fuzz/run", "--runs", "10000", "--jobs", jobs),
    "tsan": lambda jobs: sanitized("tsan", jobs, "g++", "thread"),
    "asan": lambda jobs: sanitized("asan", jobs, "clang++", "address"),
}
QUICK = ["checks", "gcc"]
# Only when asked for: clang++ compiles all the same in asan; networks takes a quiet machine, root and some ten minutes.
ON_REQUEST = {
    "clang": lambda jobs: preset("clang", jobs, "-DCMAKE_CXX_FLAGS_DEBUG=-O1", "-DCHORUS_BUILD_BENCH=OFF", "-DCHORUS_BUILD_TRAINER=OFF",
                                   "-DCHORUS_BUILD_NETWORK_TESTS=OFF"),
    "networks": lambda jobs: preset("dev", jobs, "-DCMAKE_CXX_FLAGS_DEBUG=-O1", only="^net$"),
}


def main():
    parser = argparse.ArgumentParser(prog="tools/test", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only " + " and ".join(QUICK))
    parser.add_argument("--leg", action="append", choices=[*LEGS, *ON_REQUEST], help="only this leg; may be repeated")
    parser.add_argument("--jobs", type=int, default=max(2, len(os.sched_getaffinity(0))), help="processes at a time (%(default)s)")
    options = parser.parse_args()

    total = Counts()
    for leg in options.leg or (QUICK if options.quick else LEGS):
        say(f"== {leg}")
        start = time.monotonic()
        counts = {**LEGS, **ON_REQUEST}[leg](str(options.jobs))
        say(f"{leg}: {counts} in {time.monotonic() - start:.0f} s", "")
        total += counts
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
