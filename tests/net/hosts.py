# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
"""A cluster on one machine: its hosts are sets of namespaces, its cables pairs of virtual interfaces, its switch one more set with a bridge.

A host has its own network, name, System V memory, /dev/shm, process numbers, boot id and /etc/hosts, so that nothing takes two hosts for one.
All that there is of a cluster is processes, one per host and one for the switch, that wait: when they end the kernel removes the rest. They carry
the name of the cluster in their arguments, by which they are found again; no file is kept, and nothing is added to the machine's own network.
A host shares all files with the machine but these; what a launcher would keep in /tmp goes to /dev/shm, and with the host.

Rates are held by tbf (token bucket) at both ends of a cable. RATE is that of the payload of full TCP segments (1448 bytes in a frame of 1514), so
the buckets fill 4.6 % faster: measured at 1gbit, one stream of 128 MiB gets 1.00 Gbit/s, both directions at once 1.00 each. A bucket holds
128 KiB: after 1 ms of rest that much passes at once, 0.8 % of 16 MiB; smaller ones lose rate, because timers are late (72 KiB: 1.5 %, 18 KiB:
9 %). A queue holds 16 MiB on a host and 4 MiB on the switch. A delay is held by netem, which not every kernel has, at the end of the receiver: it
is one way. Congestion control is that of the machine: the kernel lets other namespaces choose little."""
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

MARK = "chorus-cluster"
FRAME, PAYLOAD = 1514, 1448
BUCKET = "128kb"
NETWORK = "10.77.0.0/24"
HEAD = 254

# In the namespaces of a host or of the switch; $1 name, $2 role, $3 descriptor of a pipe that nobody writes to, $4 /etc/hosts, $5 facts.
# One that is not told to stay, because its maker has ended, ends.
HOLDER = r"""
set -e
if [ "$2" != switch ]; then mount -t proc proc /proc; fi
mount -t sysfs sysfs /sys
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
echo "$1-$2" > /proc/sys/kernel/hostname
printf '%s' "$4" > /dev/shm/hosts; mount --bind /dev/shm/hosts /etc/hosts
cat /proc/sys/kernel/random/uuid > /dev/shm/boot_id; mount --bind /dev/shm/boot_id /proc/sys/kernel/random/boot_id
rm /dev/shm/hosts /dev/shm/boot_id
echo 4096 131072 6291456 > /proc/sys/net/ipv4/tcp_rmem
echo 4096 16384 4194304 > /proc/sys/net/ipv4/tcp_wmem
ip link set lo up
echo ready
read -r
exec < /dev/null > /dev/null 2>&1
while ! read -r -u "$3"; do :; done
"""


class not_permitted(Exception):
    """Namespaces cannot be made here; the text says why."""


class failure(Exception):
    """Something was asked for that cannot be."""


def bits_per_second(text):
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([kmg]?)bit", text.strip().lower())
    if not match or float(match[1]) <= 0:
        raise failure(f"rate \"{text}\": expected a number with bit, kbit, mbit or gbit, as in 1gbit")
    return float(match[1]) * {"": 1, "k": 1e3, "m": 1e6, "g": 1e9}[match[2]]


def seconds(text):
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(us|ms|s)", text.strip().lower())
    if not match:
        raise failure(f"delay \"{text}\": expected a number with us, ms or s, as in 2ms")
    return float(match[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1}[match[2]]


def on_wire(rate):
    return round(rate * FRAME / PAYLOAD)


def outgoing(device, rate):
    return f"qdisc replace dev {device} root tbf rate {on_wire(rate)}bit burst {BUCKET} limit 16mb"


def incoming(device, rate, delay):
    if delay:
        return f"qdisc replace dev {device} root netem limit 4000 delay {delay * 1e6:.0f}us" + (f" rate {on_wire(rate)}bit" if rate else "")
    return f"qdisc replace dev {device} root tbf rate {on_wire(rate)}bit burst {BUCKET} limit 4mb"


def address(host):
    return f"10.77.0.{host + 1}"


def expect_permission(with_delay=False):
    for tool in ("ip", "tc", "unshare", "nsenter", "setpriv"):
        if not shutil.which(tool):
            raise not_permitted(f"\"{tool}\" was not found (Debian: apt-get install {'iproute2' if tool in ('ip', 'tc') else 'util-linux'})")
    refuse_unless("mount -t proc proc /proc && mount -t sysfs sysfs /sys", "network namespaces are not permitted here")
    refuse_unless("ip link add name one type veth peer name other && ip link add name rack type bridge", "this kernel has no virtual interfaces")
    refuse_unless(f"ip link add name one type veth peer name other && tc {outgoing('one', 1e9)}", "this kernel cannot limit rates")
    if with_delay:
        refuse_unless(f"ip link add name one type veth peer name other && tc {incoming('one', 1e9, 1)}", "this kernel cannot delay packets (netem)")


def refuse_unless(script, otherwise):
    attempt = subprocess.run(["unshare", "--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script],
                             capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if attempt.returncode != 0:
        reasons = attempt.stderr.strip().split("\n")
        raise not_permitted(f"{otherwise}: " + (reasons[-1] or f"unshare ended with {attempt.returncode}"))


def ending_with_parent():
    """For a new process: it is to be killed when the one that made it ends, however that happens."""
    parent = os.getpid()

    def prepare():
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)

    return prepare


class cluster:
    """hosts, racks and name as `up` was asked for; `holders` maps "0", "1", …, "switch" to process ids."""

    def __init__(self, name, hosts, holders):
        self.name, self.hosts, self.holders = name, hosts, holders

    def host_name(self, host):
        return f"{self.name}-{host}"

    def enter(self, host, directory=None):
        """The words before a command that make it run on a host, and end with the process that they are. The switch, where launchers run,
        sees all processes; nsenter stays only where it has to enter a process namespace."""
        spaces = ["--net", "--uts", "--ipc", "--mount"] + (["--pid"] if host != "switch" else [])
        ending = ["setpriv", "--pdeathsig", "KILL"] if host != "switch" else []
        return ["nsenter", "--target", str(self.holders[str(host)]), *spaces, f"--wdns={directory or os.getcwd()}", "--", *ending]

    def batch(self, host, tool, lines):
        done = subprocess.run(["nsenter", "--target", str(self.holders[str(host)]), "--net", tool, "-batch", "-"], input="\n".join(lines) + "\n",
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise failure(f"{tool} on {host} of cluster {self.name}: {done.stderr.strip()}")
        return done.stdout

    def down(self):
        """With the first process of a process namespace all others in it end."""
        until = time.monotonic() + 10
        while left := [process for process, _, name, *_ in holding() if name == self.name]:
            if time.monotonic() > until:
                raise failure(f"cluster {self.name}: processes {', '.join(map(str, left))} do not end")
            for process in left:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.01)

    # ---- cables ----

    def link(self, words):
        """N down | up | rate R | delay D"""
        if len(words) < 2 or not words[0].isdigit() or int(words[0]) >= self.hosts:
            raise failure(f"link: expected a host from 0 to {self.hosts - 1} and what to do, not \"{' '.join(words)}\"")
        host, what, port = words[0], words[1], f"port{words[0]}"
        if what in ("down", "up") and len(words) == 2:
            self.batch("switch", "ip", [f"link set {port} {what}"])
        elif what in ("rate", "delay") and len(words) == 3:
            rate, delay = self.settings(port)
            if what == "delay":
                expect_permission(True)
            if what == "rate":
                rate = bits_per_second(words[2])
                self.batch(host, "tc", [outgoing("eth0", rate)])
            else:
                delay = seconds(words[2])
            self.batch("switch", "tc", [incoming(port, rate, delay)])
        else:
            raise failure(f"link: expected down, up, rate R or delay D, not \"{' '.join(words[1:])}\"")

    def settings(self, port):
        shown = subprocess.run(["nsenter", "--target", str(self.holders["switch"]), "--net", "tc", "-j", "qdisc", "show", "dev", port],
                               capture_output=True, text=True, check=True).stdout
        options = json.loads(shown)[0].get("options", {})
        rate = options.get("rate", 0)
        rate = rate.get("rate", 0) if isinstance(rate, dict) else rate
        return rate * 8 * PAYLOAD / FRAME or None, options.get("delay", {}).get("delay", 0)


def hosts_file(name, hosts):
    lines = ["127.0.0.1 localhost", f"{address(HEAD - 1)} {name}-switch"] + [f"{address(h)} {name}-{h}" for h in range(hosts)]
    return "\n".join(lines) + "\n"


def start_holder(name, role, hosts, lasting):
    keep, never_written = os.pipe()
    spaces = ["--net", "--uts", "--ipc", "--mount", "--propagation", "private"] + (["--pid"] if role != "switch" else [])
    process = subprocess.Popen(["unshare", *spaces, "--fork", "--kill-child", "bash", "-c", HOLDER, MARK, name, role, str(keep),
                                hosts_file(name, hosts), str(hosts)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, pass_fds=(keep, never_written),
                               start_new_session=True, preexec_fn=None if lasting else ending_with_parent(), cwd="/")
    os.close(keep)
    os.close(never_written)
    return process


def up(name, hosts, rate, delay, between_racks=None, lasting=False):
    """Rates in bits per second, None: not limited; delay in seconds. `lasting`: it outlives this process, else nothing of it does."""
    if not re.fullmatch(r"[a-z][a-z0-9]{0,20}", name):
        raise failure(f"name \"{name}\": expected at most 21 lower-case letters and digits")
    if not 1 <= hosts <= 200:
        raise failure(f"{hosts} hosts: expected 1 to 200")
    if name in running():
        raise failure(f"a cluster named {name} is up already")
    expect_permission(delay > 0)
    roles = [str(h) for h in range(hosts)] + ["switch"]
    processes = {role: start_holder(name, role, hosts, lasting) for role in roles}
    try:
        for role, process in processes.items():
            if process.stdout.readline() != "ready\n":
                raise failure(f"{role} of cluster {name} does not start: {process.stderr.read().strip()}")
            process.stdout.close()
            process.stderr.close()
        made = running()[name]
        connect(made, rate, delay, between_racks)
        for process in processes.values():
            print("stay", file=process.stdin)
            process.stdin.close()
        return made
    except BaseException:
        for process in processes.values():
            process.kill()
        if name in running():
            running()[name].down()
        raise


def connect(made, rate, delay, between_racks):
    racks = 1 if between_racks is None else 2
    links = [f"link add name rack{r} type bridge" for r in range(racks)] + [f"link set rack{r} up" for r in range(racks)]
    shapes = []
    if racks == 2:
        links += ["link add name uplink0 type veth peer name uplink1"] + [f"link set uplink{r} master rack{r} up" for r in range(2)]
        shapes += [incoming(f"uplink{r}", between_racks, 0) for r in range(2)]
    for h in range(made.hosts):
        rack = 1 if racks == 2 and h >= (made.hosts + 1) // 2 else 0
        links += [f"link add name port{h} type veth peer name eth0 netns {made.holders[str(h)]}", f"link set port{h} master rack{rack} up"]
        if rate or delay:
            shapes.append(incoming(f"port{h}", rate, delay))
    links.append(f"address add {address(HEAD - 1)}/24 dev rack0")
    made.batch("switch", "ip", links)
    made.batch("switch", "tc", shapes or ["qdisc show"])
    for h in range(made.hosts):
        made.batch(h, "ip", [f"address add {address(h)}/24 dev eth0", "link set eth0 up", f"route add default via {address(HEAD - 1)}"])
        if rate:
            made.batch(h, "tc", [outgoing("eth0", rate)])


def holding():
    """Every process that holds a part of a cluster: its id, whether it is the one inside, name, role, …, number of hosts."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if words[0] in ("bash", "unshare") and MARK in words:
            yield int(entry.name), words[0] == "bash", *words[words.index(MARK) + 1:]


def running():
    """All clusters that this process can see, by name."""
    found = {}
    for process, is_inside, name, role, _, _, hosts, *_ in holding():
        if is_inside:
            found.setdefault(name, cluster(name, int(hosts), {})).holders[role] = process
    return found


def skip(reason):
    print(f"skipped: {reason}", flush=True)
    sys.exit(77)
