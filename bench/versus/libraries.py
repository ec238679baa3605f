# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
"""The libraries that are compared: how each is built and started, and one that runs, played turn by turn."""
import os
import pathlib
import selectors
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ["-std=c++20", "-I", str(HERE.parent.parent / "include"), "-pthread"]
PEERS = ("openmpi", "mpich", "gloo", "oneccl")
ONECCL_INSTALL = "python3 -m venv DIR && DIR/bin/pip install --no-deps oneccl-devel==2021.13.1 impi-rt intel-cmplr-lib-rt; then --oneccl DIR"


class Skipped(Exception):
    """A library that is not to be had here, and why."""


class Build:
    """Where programs are put, and how far they are optimised."""

    def __init__(self, folder, optimise=3):
        self.folder = folder
        self.optimise = optimise

    def __truediv__(self, name):
        return self.folder / name

    def program(self, compiler, source, name, *more):
        ran = subprocess.run([*compiler, *FLAGS, f"-O{self.optimise}", str(HERE / source), *more, "-o", str(self / name)],
                             capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise Skipped(f"{source} does not build: {ran.stderr[-2000:]}")


class Library:
    def __init__(self, name, command, environment=None, lacks=()):
        self.name = name
        self.command = command          # (ranks, folder) -> list
        self.environment = environment or {}
        self.lacks = lacks              # collectives

    @property
    def is_chorus(self):
        return self.name.startswith("chorus")


def has_header(header):
    return subprocess.run(["g++", "-E", "-x", "c++", "-include", header, "/dev/null"], capture_output=True, check=False).returncode == 0


def has_mpi(name):
    return bool(shutil.which(f"mpicxx.{name}") and shutil.which(f"mpirun.{name}"))


def build_chorus(folder, over):
    program = folder / "chorus"
    if not program.exists():
        folder.program(["g++"], "collectives_chorus.cpp", "chorus")
    return Library(f"chorus-{over}", lambda ranks, at: [str(program), over, str(ranks), at])


def build_mpi(name, folder):
    if not has_mpi(name):
        raise Skipped(f"mpicxx.{name} is not installed (lib{name}-dev)")
    compiler, launcher = f"mpicxx.{name}", f"mpirun.{name}"
    folder.program([compiler], "collectives_mpi.cpp", name)
    extra = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"] if name == "openmpi" else []
    return Library(name, lambda ranks, at: [launcher, *extra, "-n", str(ranks), str(folder / name), at], {"HWLOC_COMPONENTS": "-gl"})


def build_gloo(folder):
    if not has_header("gloo/allreduce.h"):
        raise Skipped("libgloo-dev is not installed")
    folder.program(["g++"], "collectives_gloo.cpp", "gloo", "-lgloo")
    return Library("gloo", lambda ranks, at: [str(folder / "gloo"), str(ranks), at], lacks=("reduce_scatter",))


def build_oneccl(folder, prefix):
    if prefix is None or not (prefix / "include/oneapi/ccl.hpp").exists():
        raise Skipped(f"no oneCCL{f' in {prefix}' if prefix else ''}: {ONECCL_INSTALL}")
    libraries = prefix / "lib/ccl/cpu/lib"
    folder.program(["g++"], "collectives_oneccl.cpp", "oneccl", "-I", str(prefix / "include"), "-L", str(libraries), "-lccl")
    # No thread beside the caller's: with as many ranks as cores they take turns of milliseconds.
    environment = {"I_MPI_ROOT": str(prefix), "I_MPI_PIN": "0", "LD_LIBRARY_PATH": f"{libraries}:{prefix / 'lib'}", "CCL_LOG_LEVEL": "error", "CCL_WORKER_OFFLOAD": "0"}
    return Library("oneccl", lambda ranks, at: [str(prefix / "bin/mpiexec.hydra"), "-n", str(ranks), str(folder / "oneccl"), at], environment)


def build(folder, over, peers, oneccl):
    """(libraries, {name: why it is left out}); that chorus does not build is an error."""
    made = [build_chorus(folder, way) for way in over]
    left_out = {}
    for name in peers:
        try:
            made.append(build_gloo(folder) if name == "gloo" else build_oneccl(folder, oneccl) if name == "oneccl" else build_mpi(name, folder))
        except Skipped as why:
            left_out[name] = str(why)
    return made, left_out


class Running:
    """A library's ranks, asleep until they are told to play. Each reads commands from a pipe of its own; rank 0 prints."""

    def __init__(self, library, ranks, patience=120):
        self.library = library
        self.patience = patience
        self.folder = tempfile.TemporaryDirectory()
        self.pipes = []
        for rank in range(ranks):
            os.mkfifo(f"{self.folder.name}/{rank}")
            self.pipes.append(os.open(f"{self.folder.name}/{rank}", os.O_RDWR))
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(library.command(ranks, self.folder.name), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors,
                                        env={**os.environ, **library.environment}, start_new_session=True)
        self.rest = b""

    def tell(self, line):
        for pipe in self.pipes:
            os.write(pipe, line.encode() + b"\n")

    def lines(self):
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            while True:
                *whole, self.rest = self.rest.split(b"\n")
                yield from (line.decode() for line in whole)
                if not ready.select(self.patience):
                    raise RuntimeError(f"{self.library.name} says nothing for {self.patience} s")
                came = os.read(self.process.stdout.fileno(), 1 << 16)
                if not came:
                    self.process.wait()
                    self.errors.seek(0)
                    raise RuntimeError(f"{self.library.name} ended with {self.process.returncode}: {self.errors.read().decode(errors='replace')[-2000:]}")
                self.rest += came

    def play(self, collective, size, batches, per_batch):
        """Microseconds per operation, of each batch."""
        self.tell(f"{collective} {size} {batches} {per_batch}")
        times = []
        for line in self.lines():
            words = line.split()
            if words == ["end"]:
                return times
            if len(words) == 3 and words[0] == collective:
                times.append(float(words[2]))
        return times

    def stop(self):
        if self.process.poll() is None:
            self.tell("end")
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, 9)
                self.process.wait()
        self.process.stdout.close()
        for pipe in self.pipes:
            os.close(pipe)
        self.errors.close()
        self.folder.cleanup()
