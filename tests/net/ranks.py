# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
"""Processes that are the ranks of one program: started together, watched, and ended together."""
import os
import pathlib
import secrets
import signal
import subprocess
import sys
import threading
import time

import hosts

# A line by which a rank asks for a fault: "@fault kill RANK SIGNAL", and on a cluster "@fault link HOST …" as in tests/net/cluster link.
REQUEST = "@fault "


def add_options(parser):
    parser.add_argument("--timeout", type=float, default=120, help="seconds; then all are killed and the exit code is 124 (%(default)s)")
    parser.add_argument("--grace", type=float, default=25, help="seconds that the others have after a failure, 0: none (%(default)s)")
    parser.add_argument("--expect", type=int, action="append", default=[], metavar="RANK",
                        help="this rank may be killed or stopped: its end is no failure, and not waited for; may be repeated")
    parser.add_argument("--absent", type=int, action="append", default=[], metavar="RANK", help="this rank is not started; may be repeated")
    parser.add_argument("--prefix", action="store_true", help="each line of output begins with its rank")


def variables(rank, size, local_rank, local_size, address, port, token):
    return {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(local_rank), "LOCAL_WORLD_SIZE": str(local_size),
            "MASTER_ADDR": address, "MASTER_PORT": str(port), "CHORUS_TOKEN": token}


def new_token():
    return secrets.token_hex(8)


def own_child(process):
    """The rank itself, where something that enters a host stands before it."""
    try:
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    except OSError:
        children = []
    return int(children[0]) if children else process.pid


class ranks:
    """start(rank, command, environment) each, then watch() once; nothing that was started is left after `with`, or when this process is killed."""

    def __init__(self, asked, who, link=None):
        self.asked, self.who, self.link = asked, who, link
        self.processes, self.readers, self.enters_host = {}, [], link is not None
        self.output = threading.Lock()

    def __enter__(self):
        for code in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(code, lambda *_: sys.exit(143))
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            for end in ([own_child(process)] if self.enters_host else []):
                self.signal(end, signal.SIGKILL)
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for process in self.processes.values():
            process.wait()
        for reader in self.readers:
            reader.join(2)

    @staticmethod
    def signal(process, which):
        try:
            os.kill(process, which)
        except ProcessLookupError:
            pass

    def start(self, rank, command, environment):
        if rank in self.asked.absent:
            return
        process = subprocess.Popen(command, env=environment, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT if self.asked.prefix else None, text=True, errors="replace",
                                   preexec_fn=hosts.ending_with_parent())
        self.processes[rank] = process

    def forward(self, rank, lines):
        for line in lines:
            if line.startswith(REQUEST):
                self.fulfil(rank, line[len(REQUEST):].split())
                continue
            with self.output:
                sys.stdout.write((f"[{rank}] " if self.asked.prefix else "") + line)
                sys.stdout.flush()

    def fulfil(self, rank, words):
        try:
            if words[0] == "link" and self.link:
                return self.link(words[1:])
            if words[0] == "kill":
                process = self.processes[int(words[1])]
                return self.signal(own_child(process) if self.enters_host else process.pid, getattr(signal, "SIG" + words[2]))
            raise ValueError("expected kill RANK SIGNAL" + (", or link HOST …" if self.link else ""))
        except Exception as problem:
            self.say(f"rank {rank} asks for \"{' '.join(words)}\", which cannot be: {problem}")

    def say(self, text):
        with self.output:
            print(f"{self.who}: {text}", flush=True)

    def watch(self):
        """The worst exit code; 77 only if every rank says so."""
        for rank, process in self.processes.items():
            self.readers.append(threading.Thread(target=self.forward, args=(rank, process.stdout), daemon=True))
            self.readers[-1].start()
        until = time.monotonic() + self.asked.timeout
        codes = {}
        while any(rank not in codes and rank not in self.asked.expect for rank in self.processes):
            for rank, process in self.processes.items():
                if rank not in codes and process.poll() is not None:
                    codes[rank] = 0 if rank in self.asked.expect else process.returncode
                    if codes[rank] not in (0, 77):
                        until = min(until, time.monotonic() + self.asked.grace)
            if time.monotonic() > until:
                return self.give_up(codes)
            time.sleep(0.01)
        return self.worst(codes)

    def give_up(self, codes):
        late = [str(rank) for rank in self.processes if rank not in codes]
        self.say(f"rank{'s' if len(late) > 1 else ''} {', '.join(late)} did not end in time")
        failed = {rank: code for rank, code in codes.items() if code not in (0, 77)}
        return self.worst(failed) if failed else 124

    def worst(self, codes):
        for rank, code in codes.items():
            if code < 0:
                self.say(f"rank {rank} was ended by signal {-code}")
        if all(code == 77 for code in codes.values()):
            return 77
        return max((code if code >= 0 else 128 - code) if code != 77 else 1 for code in codes.values())
