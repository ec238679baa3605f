# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
"""The faults of tests/networks/fault_table: what is done, and what the ranks may say to it."""
import dataclasses

OFFERING_ALL_REDUCE = ("all_pairs", "binomial_tree", "direct", "double_binary_tree", "rabenseifner", "recursive_doubling", "ring")


@dataclasses.dataclass
class row:
    """`codes`: what the judged ranks may end with; with "success" among them, either all succeed or none. `absent`: not started."""
    title: str
    arguments: list
    codes: set
    judged: tuple = (0, 2)
    absent: tuple = ()

    @property
    def kills(self):
        return self.arguments[0].startswith("killed")

    @property
    def cuts(self):
        """What rank 1 says may not get through."""
        return "1 down" in self.arguments

    @property
    def odd_one_ends(self):
        """Rank 1 ends of itself, so that it is worth waiting for."""
        return 1 in self.judged


ALL = (0, 1, 2)
NONE = row("none", ["nothing"], {"success"}, ALL)
EVERYWHERE = [
    row("absent at init", ["nothing"], {"timed out"}, absent=(1,)),
    row("killed in init, at once", ["killed_in_init", "0"], {"timed out", "peer lost"}),
    row("killed in init, after 3 ms", ["killed_in_init", "3000"], {"timed out", "peer lost"}),
    row("never calls", ["never_calls"], {"timed out"}),
    row("stopped by SIGSTOP", ["stopped"], {"timed out"}),
    row("other count", ["mismatched_count"], {"mismatch"}, ALL),
    row("other element", ["mismatched_type"], {"mismatch"}, ALL),
    row("other root", ["mismatched_root"], {"mismatch"}, ALL),
    row("other algorithm", ["mismatched_algorithm"], {"mismatch"}, ALL),
    row("operations swapped", ["swapped_operations"], {"mismatch"}, ALL),
    row("one operation ahead", ["one_ahead"], {"timed out"}),
    row("abort from another thread", ["abort_from_another_thread"], {"aborted"}),
    row("plan destroyed under way", ["destroyed_while_under_way"], {"aborted"}),
    row("killed in gossip that skips", ["killed_in_gossip"], {"success"}),
]

# Every rank on a host of its own. A ring all-reduce of 400 kB sends 533 kB from each rank: 0.43 s at 10 Mbit/s, 4.3 s at 1 Mbit/s.
BETWEEN_HOSTS = [
    row("link down", ["links", "300", "1 down"], {"timed out", "peer lost"}, ALL),
    row("link down for 0.2 s", ["links", "300", "1 down", "500", "1 up"], {"success", "timed out"}, ALL),
    row("link slow for 1.5 s: 10 Mbit/s", ["links", "300", "1 rate 10mbit", "1800", "1 rate 1gbit"], {"success"}, ALL),
    row("link slow: 1 Mbit/s", ["links", "300", "1 rate 1mbit"], {"timed out", "peer lost"}, ALL),
]
LATE = row("link slow for 1.5 s: 10 Mbit/s, 50 ms",
           ["links", "300", "1 rate 10mbit", "300", "1 delay 50ms", "1800", "1 rate 1gbit", "1800", "1 delay 0ms"], {"success", "timed out"}, ALL)


def killings(quick):
    for algorithm in OFFERING_ALL_REDUCE:
        for turns in (0, 12) if quick else (0, 2, 6, 12, 30):
            yield row(f"killed in {algorithm}, after {turns} advances", ["killed", algorithm, str(turns)], {"peer lost", "timed out"})


def rows(quick, between_hosts, can_delay, is_mpi):
    """Over MPI between hosts: links alone."""
    chosen = [] if between_hosts and is_mpi else [*EVERYWHERE, *killings(quick)]
    return [NONE, *chosen, *(BETWEEN_HOSTS if between_hosts else []), *([LATE] if between_hosts and can_delay else [])]


def judge(fault, said, longest, launcher_may_end_it):
    """What is wrong; empty: nothing."""
    wrong = []
    outcomes = {rank: said[rank] for rank in fault.judged if rank in said}
    for rank in fault.judged:
        words = said.get(rank)
        if words is None:
            if not launcher_may_end_it:
                wrong.append(f"rank {rank} said nothing: it hung or died")
            continue
        code = words["code"] if words["outcome"] == "error" else words["outcome"]
        if code not in fault.codes:
            wrong.append(f"rank {rank} says {code}")
        elif words["seconds"] > longest:
            wrong.append(f"rank {rank} took {words['seconds']:.1f} s")
    if len({words["outcome"] for words in outcomes.values()}) > 1:
        wrong.append("some say success, others do not")
    return "; ".join(wrong)
