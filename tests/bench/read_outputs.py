#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
"""usage: read_outputs.py osu|nccl FOLDER

Reads what the programs in FOLDER print as parsers of OSU's and nccl-tests' output do, by the positions of the fields, and
looks at how they end. Prints the first failure and ends with 1."""
import json
import pathlib
import subprocess
import sys
import tempfile

folder = pathlib.Path(sys.argv[2])


def run(program, *arguments, code=0, **environment):
    command = [str(folder / program), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, env={"PATH": "/usr/bin:/bin", **environment})
    if result.returncode != code:
        sys.exit(f"FAILED: {' '.join(command)} ended with {result.returncode}, not {code}:\n{result.stdout}{result.stderr}")
    return result.stdout


def expect(condition, text, output=""):
    if not condition:
        sys.exit(f"FAILED: {text}\n{output}")


# ---- OSU: a first field of 10 columns, then fields of 18, the number of iterations of 12 ----

def cut(line, first, fields):
    """The fields of a line whose widths are known; nothing may be left over, and right-aligned fields end at their edge."""
    parts, at = [line[:first].strip()], first
    for width in fields:
        field = line[at:at + width]
        expect(len(field) == width and not field.endswith(" "), f"no field of {width} columns at {at} in: {line!r}")
        parts.append(field.strip())
        at += width
    expect(line[at:] == "", f"something follows in: {line!r}")
    return parts


def osu_tables(output, title, full=False, checked=False, percentiles=(), overlaps=False, size=True, bandwidth=False):
    """[[row as a dictionary by heading]] per table."""
    lines = output.split("\n")
    expect(lines[0] == "" and lines[1] == f"# OSU MPI {title} Test v7.4", "the title", output)
    at = 2
    if overlaps:
        expect(lines[2].startswith("# Overall = ") and lines[3] == "", "the legend", output)
        at = 4
    fields = []
    if overlaps:
        fields = [18] * (8 if full else 3)
    elif full:
        fields = [18, 18, 12]
    fields += [18] * (checked + len(percentiles))
    first = 28 if size else 13 if overlaps else 17
    tables = []
    while lines[at]:
        if size:
            expect(lines[at].startswith("# Datatype: ") and lines[at].endswith("."), f"no type: {lines[at]!r}", output)
            at += 1
        heading = cut(lines[at], first, fields)
        if size:
            expect(lines[at].startswith("# Size    "), "the heading", output)
            heading[0] = lines[at][10:28].strip()
        else:
            heading[0] = heading[0].removeprefix("# ")
        rows = []
        at += 1
        while lines[at] and not lines[at].startswith(("#", "DATA")):
            row = dict(zip(heading, cut(lines[at], first, fields)))
            if size:
                expect(lines[at][0] != " ", f"the size is not to the left: {lines[at]!r}")
                row["size"] = int(lines[at][:10])
                row[heading[0]] = lines[at][10:28].strip()
            for name, value in row.items():
                if name not in ("Validation", "size"):
                    row[name] = float(value)
            rows.append(row)
            at += 1
        tables.append(rows)
        if lines[at].startswith("DATA"):
            break
    return tables


TITLES = {"allgather": "Allgather", "allgatherv": "Allgatherv", "allreduce": "Allreduce",
          "alltoall": "All-to-All Personalized Exchange", "alltoallv": "All-to-Allv Personalized Exchange",
          "barrier": "Barrier", "bcast": "Broadcast", "gather": "Gather", "gatherv": "Gatherv", "reduce": "Reduce",
          "reduce_scatter": "Reduce_scatter", "scatter": "Scatter", "scatterv": "Scatterv"}
few = ("-i", 3, "-x", 1)


def check_osu():
    for name, title in TITLES.items():
        size = name != "barrier"
        options = (*few, "-f", "-z50,100", *(("-c", "-m", "4:64") if size else ()))
        [rows] = osu_tables(run(f"osu_{name}", *options, "--ranks", 3), f"{title} Latency", True, size, (50, 100), size=size)
        expect(len(rows) == (5 if size else 1), f"osu_{name}: {rows}")
        for row in rows:
            expect(row["Iterations"] == 3 and row.get("Validation", "Pass") == "Pass", f"osu_{name}: {row}")
            expect(row["Min Latency(us)"] <= row["Avg Latency(us)"] <= row["Max Latency(us)"], f"osu_{name}: {row}")
            # the slowest rank is not averaged away
            expect(row["P100 Tail Lat(us)"] >= row["Max Latency(us)"] - 0.02, f"osu_{name}: {row}")
        short = title.removesuffix(" Personalized Exchange")
        [rows] = osu_tables(run(f"osu_i{name}", *options, "-t", 3), f"Non-blocking {short} Latency", True, size, (50, 100), True, size)
        for row in rows:
            expect(0 <= row["Overlap(%)"] <= 100 and row["Overall(us)"] > 0, f"osu_i{name}: {row}")
            expect(row.get("Validation", "Pass") == "Pass", f"osu_i{name}: {row}")
        osu_tables(run(f"osu_i{name}", *few, *(("-m", "8:8") if size else ())), f"Non-blocking {short} Latency", overlaps=True, size=size)
    osu_tables(run("osu_latency", *few, "-m", "1:16", "-z90", "-c", "H", "H"), "Latency", False, True, (90,))
    for name, title in (("osu_bw", "Bandwidth"), ("osu_bibw", "Bi-Directional Bandwidth")):
        [rows] = osu_tables(run(name, *few, "-m", "1:16", "-W", 8, "-b", "multiple"), title, bandwidth=True)
        expect([row["size"] for row in rows] == [1, 2, 4, 8, 16] and rows[0]["Bandwidth (MB/s)"] > 0, f"{name}: {rows}")

    # every type in a table of its own, with iterations of its own; sums of 8 bits do not wrap; suffixes
    tables = osu_tables(run("osu_allreduce", "-T", "all,double", "-f", "-c", "-u", 0, "-m", "8K:16K", "--ranks", 2), "Allreduce Latency", True, True)
    expect(len(tables) == 4, "four types make four tables")
    for rows in tables:
        expect([(row["size"], row["Iterations"]) for row in rows] == [(8192, 1000), (16384, 100)], f"iterations: {rows}")
    osu_tables(run("osu_allreduce", "-T", "mpi_char", "-c", *few, "-m", "16:16", "--ranks", 7), "Allreduce Latency", checked=True)
    for op in ("sum", "product", "minimum", "maximum", "mean"):
        osu_tables(run("osu_reduce", "-T", "mpi_float", "-c", *few, "-m", "16:16", "-k", "rotate", "--op", op, "--ranks", 3),
                   "Reduce Latency", checked=True)

    # one changed bit pattern fails, in a float's lowest byte and in a message's last one; the sweep stops; the log says where
    with tempfile.TemporaryDirectory() as place:
        log = pathlib.Path(place) / "log"
        output = run("osu_allreduce", "-T", "mpi_float", f"-clog:{log}", *few, "-m", "8:64", "--spoil", 1, code=1)
        [rows] = osu_tables(output, "Allreduce Latency", checked=True)
        expect(len(rows) == 1 and rows[0]["Validation"] == "Fail", "a wrong result", output)
        expect("DATA VALIDATION ERROR: osu_allreduce exited with status 1 on message size 8." in output, "the error", output)
        first, *wrong = (log / "log-1.log").read_text().splitlines()
        expect(first == "position expected actual" and len(wrong) == 4 and all(line.startswith("1 ") for line in wrong), str(wrong))
        run("osu_latency", "-T", "mpi_int", "-c", *few, "-m", "64:64", "--spoil", 1, code=1)
        record, rows = pathlib.Path(place) / "x.json", pathlib.Path(place) / "x.csv"
        run("osu_bcast", *few, "-m", "4:8", "--json", record, "--csv", rows)
        kept = json.loads(record.read_text())
        expect(len(kept["results"]) == 2 and len(kept["results"][0]["ranks_microseconds"]) == 2 and "commit" in kept["machine"], "the record")
        expect(len(rows.read_text().splitlines()) == 4, "the rows")

    # how it ends
    run("osu_allreduce", "-h")
    run("osu_allreduce", "-v")
    for mistake in (("-q",), ("-k", "0"), ("-m", "8:4"), ("-T", "mpi_long"), ("-d", "cuda"), ("--ranks", "1"), ("-i", "0"), ("-c", "D")):
        run("osu_allreduce", *mistake, code=1)
    run("osu_barrier", "-c", code=1)
    run("osu_alltoall", "-l", code=1)
    run("osu_bcast", "-k", "fixed:2", code=1)
    run("osu_bw", *few, "-m", "8:8", "--at-most", "0.000001", code=1)


# ---- nccl-tests: fields of 12 12 8 6 6 and twice 7 6 6 6 columns, two blanks before each but the first ----

def nccl_rows(output, program, more=()):
    widths = [12, 12, 8, 6, 6] + [7, 6, 6, 6, *more] * 2
    lines = output.rstrip("\n").split("\n")
    expect(lines[0].startswith("# nccl-tests version 2.") and "nccl-library=" in lines[0], "the versions", output)
    expect(lines[1] == f"# Collective test starting: {program}", "the start", output)
    expect(lines[2].startswith("# nThread ") and " minBytes " in lines[2] and " validation: " in lines[2], "the settings", output)
    expect("# Using devices" in lines, "the devices", output)
    devices = [line for line in lines if line.startswith("#  Rank ")]
    expect(all(line.split()[3] == "Group" and line.split()[5] == "Pid" and "[0000:" in line for line in devices), "a device", output)
    heading = next(i for i, line in enumerate(lines) if line.startswith("#       size"))
    expect("out-of-place" in lines[heading - 1] and lines[heading + 1].startswith("#        (B)"), "the heading", output)
    rows = []
    for line in lines[heading + 2:]:
        if line.startswith("#"):
            break
        at, fields = 0, []
        for i, width in enumerate(widths):
            gap = 0 if i == 0 else 2
            expect(line[at:at + gap].strip() == "", f"no gap at {at} in {line!r}")
            fields.append(line[at + gap:at + gap + width])
            expect(len(fields[-1]) == width and fields[-1][-1] != " ", f"no field of {width} columns at {at} in {line!r}")
            at += gap + width
        fields = [field.strip() for field in fields]
        expect(fields == line.split(), f"a parser that splits at blanks reads something else: {line!r}")
        rows.append(fields)
    bounds = next(line for line in lines if line.startswith("# Out of bounds values : "))
    average = next(line for line in lines if line.startswith("# Avg bus bandwidth    : "))
    expect(lines[-2] == f"# Collective test concluded: {program}", "the end", output)
    float(average.split(":")[1].split()[0])
    return rows, len(devices), bounds.split(" : ")[1], average


FACTORS = {"all_reduce_perf": lambda n: 2 * (n - 1) / n, "broadcast_perf": lambda n: 1, "reduce_perf": lambda n: 1,
           "sendrecv_perf": lambda n: 1}


def check_nccl():
    programs = ["all_gather_perf", "all_reduce_perf", "alltoall_perf", "broadcast_perf", "gather_perf", "reduce_perf",
                "reduce_scatter_perf", "scatter_perf", "sendrecv_perf"]
    for program in programs:
        for start in (("-g", 3), ("--transport", "shm", "--ranks", 3)):
            rows, ranks, bounds, _ = nccl_rows(run(program, "-b", "96K", "-e", "192K", "-f", 2, "-n", 3, *start), program)
            expect(len(rows) == 2 and ranks == 3 and bounds == "0 OK", f"{program}: {rows} {bounds}")
            for row in rows:
                size, count = int(row[0]), int(row[1])
                blocks = program in ("all_gather_perf", "alltoall_perf", "gather_perf", "reduce_scatter_perf", "scatter_perf")
                expect(size == count * 4 * (3 if blocks else 1), f"{program}: size and count: {row}")
                reduces = "reduce" in program
                expect(row[3] == ("sum" if reduces else "none"), f"{program}: operation: {row}")
                rooted = program in ("broadcast_perf", "gather_perf", "reduce_perf", "scatter_perf")
                expect(row[4] == ("0" if rooted else "-1"), f"{program}: root: {row}")
                time, algorithm, bus = map(float, row[5:8])
                factor = FACTORS.get(program, lambda n: (n - 1) / n)(3)
                # time has two decimals, rates too
                expect(abs(algorithm - size / time / 1e3) <= 0.006 + 0.01 * algorithm / time, f"{program}: bandwidth: {row}")
                expect(abs(bus - algorithm * factor) <= 0.006 + 0.005 * factor, f"{program}: bus bandwidth: {row}")
                expect(row[8] == "0", f"{program}: wrong: {row}")

    everything = nccl_rows(run("all_reduce_perf", "-b", 8, "-e", 8, "-d", "all", "-o", "all", "-n", 2, "-g", 2), "all_reduce_perf")[0]
    expect(len(everything) == 10 * 5 and {row[3] for row in everything} == {"sum", "prod", "min", "max", "avg"}, "all of all")
    roots = nccl_rows(run("broadcast_perf", "-b", 8, "-e", 8, "-r", "all", "-g", 3, "-n", 2, "-u", 1), "broadcast_perf")[0]
    expect([row[4] for row in roots] == ["0", "1", "2"], "all roots")
    stepped = nccl_rows(run("all_reduce_perf", "-b", "1K", "-e", "3K", "-i", "1k", "-n", 2, "-c", 0, "-m", 2, "-z", 1, "-a", 3), "all_reduce_perf")[0]
    expect([row[0] for row in stepped] == ["1024", "2048", "3072"] and stepped[0][8] == "N/A", "steps")
    nccl_rows(run("all_reduce_perf", "-b", 64, "-e", 64, "-n", 8, "-g", 2, "-I", 1, "-K", 2), "all_reduce_perf", (7, 7, 7, 7))

    # exit codes: wrong results, floors, mistakes
    rows, _, bounds, _ = nccl_rows(run("all_reduce_perf", "-b", 64, "-e", 64, "-g", 2, "-n", 2, "--spoil", 1, code=1), "all_reduce_perf")
    expect(rows[0][8] == "1" and bounds == "2 FAILED", "a wrong result")
    for floor, code, word in (("0.0000001", 0, "OK"), ("100000", 1, "FAILED")):
        output = run("all_reduce_perf", "-b", 64, "-e", 64, "-g", 2, code=code, NCCL_TESTS_MIN_BW=floor)
        expect(nccl_rows(output, "all_reduce_perf")[3].endswith(word), "a floor", output)
    run("all_reduce_perf", "-b", 64, "-e", 64, "-g", 2, "--at-least", 100000, code=1)
    run("all_reduce_perf", "-h")
    for mistake in (("-q",), ("-b", "2K", "-e", "1K"), ("-d", "f8e4m3"), ("-o", "mulsum"), ("-G", 1), ("-J", "x.txt"), ("-r", "x")):
        run("all_reduce_perf", *mistake, code=1)

    with tempfile.TemporaryDirectory() as place:
        record = pathlib.Path(place) / "x.json"
        for name in (record, pathlib.Path(f"{record}.0")):  # the second run does not overwrite the first
            run("all_gather_perf", "-b", 64, "-e", 128, "-f", 2, "-g", 2, "-n", 4, "-I", 1, "-J", record)
            kept = json.loads(name.read_text())
        expect(kept["version"] == 3 and kept["config"]["step_factor"] == 2 and kept["config"]["parallel_init"] == "false", "the record")
        expect([device["rank"] for device in kept["devices"]] == [0, 1], "the record's devices")
        row = kept["results"][1]
        expect(row["size"] == 128 and row["count"] == 16 and row["type"] == "float" and row["root"] == -1, "the record's row")
        expect(set(row["in_place"]) >= {"time", "alg_bw", "bus_bw", "nwrong"} and row["out_of_place"]["nwrong"] == 0, "the record's half")
        expect(kept["out_of_bounds"] == {"count": 0, "okay": "true"} and kept["average_bus_bandwidth"]["okay"] == "true", "the record's end")


{"osu": check_osu, "nccl": check_nccl}[sys.argv[1]]()
print("all programs behave")
