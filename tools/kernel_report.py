#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
"""Compiles all device code with nvcc, and reads in its report what every kernel needs.

Compiles tests/cuda/compiled/*.cu, all .cuh headers in one program, and examples/*.cu, for the oldest architecture that the toolkit has of sm_70 and later,
for sm_80, sm_90 and as PTX, every warning an error. Fails on a kernel that spills registers or has a stack frame, and lists those with most
registers. Links everything, and runs the programs: where there is no GPU they must say in one sentence what is missing.

nvcc is looked for in PATH and where CUDAToolkit_ROOT, CUDA_HOME or CUDA_PATH point; without it everything is skipped.
Ends with the line "N passed, N failed, N skipped".
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
SOURCES = ROOT / "tests" / "cuda" / "compiled"
KERNEL = re.compile(r"Compiling entry function '(\S+)' for '(\S+)'")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
REGISTERS = re.compile(r"Used (\d+) registers")


def find_nvcc():
    folders = [pathlib.Path(os.environ[name]) / "bin" for name in ("CUDAToolkit_ROOT", "CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    return shutil.which("nvcc") or shutil.which("nvcc", path=os.pathsep.join(map(str, folders)))


def architectures(nvcc):
    listed = subprocess.run([nvcc, "--list-gpu-arch"], capture_output=True, text=True, check=True).stdout
    known = sorted(int(number) for number in re.findall(r"compute_(\d+)\b", listed))
    return sorted({min(number for number in known if number >= 70), 80, 90} & set(known))


def demangled(names):
    if not shutil.which("c++filt") or not names:
        return names
    return subprocess.run(["c++filt", *names], capture_output=True, text=True).stdout.splitlines()


def read_report(text):
    """[(kernel, architecture, registers, bytes of stack frame, bytes spilled)]"""
    found, kernel, frame = [], None, None
    for line in text.splitlines():
        if match := KERNEL.search(line):
            kernel, frame = match.groups(), None
        elif (match := FRAME.search(line)) and kernel:
            frame = tuple(map(int, match.groups()))
        elif (match := REGISTERS.search(line)) and kernel:
            found.append((*kernel, int(match[1]), frame[0] if frame else 0, frame[1] + frame[2] if frame else 0))
            kernel = None
    return found


def finds_nccl(nvcc, folder):
    """Whether a program with <nccl.h> is linked with -lnccl."""
    probe = folder / "nccl_probe.cu"
    probe.write_text("#include <nccl.h>\nint main() { int version; return ncclGetVersion(&version); }\n")
    return subprocess.run([nvcc, probe, "-lnccl", "-o", folder / "nccl_probe"], capture_output=True).returncode == 0


class compilation:
    def __init__(self, nvcc, source, made, flags):
        self.title = source.name
        self.made = made
        result = subprocess.run([nvcc, *flags, "-Xptxas", "-v", "-c", source, "-o", made], capture_output=True, text=True)
        self.output = result.stdout + result.stderr
        self.is_compiled = result.returncode == 0
        self.kernels = read_report(self.output)

    def problems(self):
        if not self.is_compiled:
            errors = [line for line in self.output.splitlines() if "error" in line or "warning" in line]
            return ["\n".join(errors[:30] or self.output.splitlines()[-30:])]
        bad = [one for one in self.kernels if one[3] or one[4]]
        names = demangled([kernel for kernel, *_ in bad])
        return [f"{name} for {architecture}: {frame} bytes of stack frame, {spilled} bytes spilled"
                for name, (_, architecture, _, frame, spilled) in zip(names, bad)]


def run_program(nvcc, objects, program, flags):
    """What is wrong with the linked program, or nothing."""
    linked = subprocess.run([nvcc, *flags, *objects, "-o", program], capture_output=True, text=True)
    if linked.returncode != 0:
        return "cannot be linked:\n" + linked.stdout + linked.stderr
    ran = subprocess.run([program], capture_output=True, text=True)
    print(f"kernels: {program.name}: {ran.stdout.strip()}")
    if ran.returncode == 0 or (ran.returncode == 77 and "a GPU is needed, but " in ran.stdout):
        return ""
    return f"ended with {ran.returncode}: {ran.stdout}{ran.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2, help="compilers that run at a time (2)")
    parser.add_argument("--registers", type=int, default=5, help="so many of the kernels with most registers are listed (5)")
    options = parser.parse_args()
    nvcc = find_nvcc()
    if not nvcc:
        print("skipped: device code for GPUs: nvcc is neither in PATH nor in CUDAToolkit_ROOT, CUDA_HOME or CUDA_PATH")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    numbers = architectures(nvcc)
    flags = ["-std=c++20", "--expt-relaxed-constexpr", f"-I{INCLUDE}", "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra"]
    flags += [f"-gencode=arch=compute_{n},code=sm_{n}" for n in numbers]
    flags += [f"-gencode=arch=compute_{numbers[-1]},code=compute_{numbers[-1]}"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        every = folder / "every_header.cu"
        has_nccl = finds_nccl(nvcc, folder)
        headers = sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*.cuh") if has_nccl or "nccl" not in path.name)
        every.write_text("".join(f'#include "{header}"\n' for header in reversed(headers)))
        tests = [every, *sorted(path for path in SOURCES.glob("*.cu") if has_nccl or path.stem != "nccl")]
        examples = sorted((ROOT / "examples").glob("*.cu")) if has_nccl else []
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as workers:
            waiting = [workers.submit(compilation, nvcc, source, folder / (source.stem + ".o"), flags) for source in tests + examples]
            done = [one.result() for one in waiting]
        passed, failed = 0, 0
        for one in done:
            problems = one.problems()
            passed, failed = passed + (not problems), failed + len(problems)
            for problem in problems:
                print(f"FAILED {one.title}: {problem}")
        objects = [one.made for one in done]
        for name, made in [("program", objects[:len(tests)]), *((made.stem, [made]) for made in objects[len(tests):])]:
            if not all(one.is_compiled for one in done if one.made in made):
                continue
            problem = run_program(nvcc, made, folder / name, [*flags, *["-lnccl"] * has_nccl])
            passed, failed = passed + (not problem), failed + bool(problem)
            if problem:
                print(f"FAILED {name} {problem}")
    kernels = sorted((one for each in done for one in each.kernels), key=lambda one: -one[2])
    print(f"kernels: {len(kernels)} compiled for sm_{', sm_'.join(map(str, numbers))}; most registers:")
    for name, one in zip(demangled([kernel[0] for kernel in kernels[:options.registers]]), kernels):
        print(f"    {one[2]:4} {one[1]} {name[:150]}")
    if not has_nccl:
        print("skipped: collectives by NCCL: nvcc finds no <nccl.h>, or no library with it")
    print(f"{passed} passed, {failed} failed, {int(not has_nccl)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
