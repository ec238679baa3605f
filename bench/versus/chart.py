# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
"""Line charts with logarithmic axes as SVG, several panels in one picture."""
import math
from xml.sax.saxutils import escape

COLOURS = {"chorus-shm": "#c0392b", "chorus-thread": "#e67e22", "openmpi": "#2c5f9e", "mpich": "#2e8b57", "gloo": "#8e44ad", "oneccl": "#7f8c8d"}
WIDTH, HEIGHT = 400, 290                              # of a panel
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 30, 46             # margins inside it
COLUMNS = 3
LEGEND = 34                                           # height above all panels


def bytes_text(value):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= unit:
            return f"{value / unit:g} {name}"
    return f"{value:g} B"


def time_text(microseconds):
    for unit, name in ((1e6, "s"), (1e3, "ms"), (1, "µs")):
        if microseconds >= unit:
            return f"{microseconds / unit:g} {name}"
    return f"{microseconds * 1000:g} ns"


class Axis:
    """Logarithmic, from value to pixel; ticks at powers of `base`, every `stride`-th."""

    def __init__(self, values, base, start, end, most_ticks):
        exponents = [math.log(value, base) for value in values]
        self.low, self.high = math.floor(min(exponents) + 1e-9), math.ceil(max(exponents) - 1e-9)
        self.high = max(self.high, self.low + 1)
        self.base, self.start, self.end = base, start, end
        stride = max(1, math.ceil((self.high - self.low + 1) / most_ticks))
        self.ticks = [base ** exponent for exponent in range(self.low, self.high + 1, stride)]

    def __call__(self, value):
        return self.start + (math.log(value, self.base) - self.low) / (self.high - self.low) * (self.end - self.start)


def text(x, y, what, size=11, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" {more}>{escape(what)}</text>'


def panel(title, lines, left, top):
    """`lines`: name -> [(bytes, microseconds)]."""
    points = [point for line in lines.values() for point in line]
    x = Axis([point[0] for point in points], 2, left + LEFT, left + WIDTH - RIGHT, 7)
    y = Axis([point[1] for point in points], 10, top + HEIGHT - BOTTOM, top + TOP, 9)
    out = [text(left + LEFT, top + 18, title, 13, "start", 'font-weight="bold"')]
    for tick in x.ticks:
        out.append(f'<line x1="{x(tick):.1f}" y1="{y.start}" x2="{x(tick):.1f}" y2="{y.end}" stroke="#e4e4e4"/>')
        out.append(text(x(tick), y.start + 15, bytes_text(tick), 10))
    for tick in y.ticks:
        out.append(f'<line x1="{x.start}" y1="{y(tick):.1f}" x2="{x.end}" y2="{y(tick):.1f}" stroke="#e4e4e4"/>')
        out.append(text(x.start - 5, y(tick) + 4, time_text(tick), 10, "end"))
    out.append(f'<rect x="{x.start}" y="{y.end}" width="{x.end - x.start}" height="{y.start - y.end}" fill="none" stroke="#888"/>')
    out.append(text((x.start + x.end) / 2, y.start + 34, "bytes of one rank"))
    out.append(text(left + 13, (y.start + y.end) / 2, "time of one operation", 11, "middle", f'transform="rotate(-90 {left + 13} {(y.start + y.end) / 2})"'))
    for name, line in lines.items():
        colour = COLOURS.get(name, "#000")
        at = " ".join(f"{x(size):.1f},{y(time):.1f}" for size, time in sorted(line))
        out.append(f'<polyline points="{at}" fill="none" stroke="{colour}" stroke-width="{2.4 if name.startswith("chorus") else 1.4}"/>')
        out += [f'<circle cx="{x(size):.1f}" cy="{y(time):.1f}" r="2.3" fill="{colour}"><title>{escape(name)}, {bytes_text(size)}: {time:.4g} µs</title></circle>'
                for size, time in line]
    return out


def draw(panels):
    """The SVG text of `panels`: [(title, {name: [(bytes, microseconds)]})]."""
    columns = max(1, min(COLUMNS, len(panels)))
    width = max(columns * WIDTH, 860)
    height = LEGEND + math.ceil(len(panels) / columns) * HEIGHT
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif">',
           f'<rect width="{width}" height="{height}" fill="white"/>']
    names = list(dict.fromkeys(name for _, lines in panels for name in lines))
    for i, name in enumerate(names):
        at = LEFT + i * 130
        out.append(f'<line x1="{at}" y1="17" x2="{at + 24}" y2="17" stroke="{COLOURS.get(name, "#000")}" stroke-width="3"/>')
        out.append(text(at + 29, 21, name, 12, "start"))
    for i, (title, lines) in enumerate(panels):
        out += panel(title, lines, i % columns * WIDTH, LEGEND + i // columns * HEIGHT)
    return "\n".join([*out, "</svg>", ""])
