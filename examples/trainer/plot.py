#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
"""Draws what `trainer --csv` wrote: loss and accuracy against time, steps and bytes, a line per run.

    examples/trainer/plot.py bsp.csv divide_and_shuffle.csv -o plot.svg"""
import argparse
import csv
import pathlib
import sys
from xml.sax.saxutils import escape

COLOURS = ["#c0392b", "#2c5f9e", "#2e8b57", "#8e44ad", "#e67e22", "#16a085", "#7f8c8d", "#000000", "#b8860b", "#d6336c"]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 380, 270, 56, 14, 12, 40
ACROSS = [("seconds", "seconds of training", 1), ("steps", "steps", 1), ("bytes", "MB sent by all ranks", 1e-6)]
UP = [("loss", "loss", 1), ("accuracy", "accuracy in %", 100)]


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or "accuracy" not in rows[0]:
        sys.exit(f"plot.py: {path} is not what trainer --csv writes")
    return [{name: float(value) for name, value in row.items()} for row in rows]


def ticks(low, high):
    """About five round numbers."""
    step = 10.0 ** len(str(int((high - low) * 1e6))) / 1e6
    for divisor in (1, 2, 5, 10, 20, 50, 100):
        if (high - low) / (step / divisor) >= 4:
            step /= divisor
            break
    first = int(low / step) + (low / step > int(low / step) + 1e-9)
    return [i * step for i in range(first, int(high / step + 1e-9) + 1)]


def text(x, y, what, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(what)}</text>'


def panel(runs, across, up, left, top):
    (x_name, x_label, x_unit), (y_name, y_label, y_unit) = across, up
    lines = [[(row[x_name] * x_unit, row[y_name] * y_unit) for row in rows] for rows in runs.values()]
    xs, ys = [x for line in lines for x, _ in line], [y for line in lines for _, y in line]
    x_high, y_low, y_high = max(xs) or 1, min(ys), max(ys)
    y_high += (y_high - y_low) * 0.03 or 1
    x_at = lambda x: left + LEFT + x / x_high * (WIDTH - LEFT - RIGHT)
    y_at = lambda y: top + HEIGHT - BOTTOM - (y - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)
    out = []
    for tick in ticks(0, x_high):
        out.append(f'<line x1="{x_at(tick):.1f}" y1="{y_at(y_low):.1f}" x2="{x_at(tick):.1f}" y2="{y_at(y_high):.1f}" stroke="#e4e4e4"/>')
        out.append(text(x_at(tick), y_at(y_low) + 14, f"{tick:g}"))
    for tick in ticks(y_low, y_high):
        out.append(f'<line x1="{x_at(0):.1f}" y1="{y_at(tick):.1f}" x2="{x_at(x_high):.1f}" y2="{y_at(tick):.1f}" stroke="#e4e4e4"/>')
        out.append(text(x_at(0) - 5, y_at(tick) + 4, f"{tick:g}", "end"))
    out.append(text((x_at(0) + x_at(x_high)) / 2, y_at(y_low) + 30, x_label))
    middle = (y_at(y_low) + y_at(y_high)) / 2
    out.append(text(left + 12, middle, y_label, "middle", f'transform="rotate(-90 {left + 12} {middle:.1f})"'))
    for colour, line in zip(COLOURS * len(lines), lines):
        out.append(f'<polyline points="{" ".join(f"{x_at(x):.1f},{y_at(y):.1f}" for x, y in line)}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
    return out


def draw(runs):
    """The SVG text of {name: rows}."""
    legend = 24 * ((len(runs) + 3) // 4) + 8
    width, height = WIDTH * len(ACROSS), legend + HEIGHT * len(UP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif" font-size="11">',
           f'<rect width="{width}" height="{height}" fill="white"/>']
    for i, (name, colour) in enumerate(zip(runs, COLOURS * len(runs))):
        x, y = LEFT + i % 4 * 280, 18 + i // 4 * 24
        out += [f'<line x1="{x}" y1="{y}" x2="{x + 24}" y2="{y}" stroke="{colour}" stroke-width="3"/>', text(x + 30, y + 4, name, "start")]
    for row, up in enumerate(UP):
        for column, across in enumerate(ACROSS):
            out += panel(runs, across, up, column * WIDTH, legend + row * HEIGHT)
    return "\n".join([*out, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(prog="examples/trainer/plot.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", help="files of trainer --csv; a line is named after its file")
    parser.add_argument("-o", "--output", default="plot.svg", help="where to (default: %(default)s)")
    asked = parser.parse_args()
    pathlib.Path(asked.output).write_text(draw({pathlib.Path(path).stem: read(path) for path in asked.runs}))


if __name__ == "__main__":
    main()
