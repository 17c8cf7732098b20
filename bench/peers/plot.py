"""bench/results.svg: bars of all workloads, longer is faster, on a scale of powers of ten."""
import math
from xml.sax.saxutils import escape

import figures
from report import floor_of, ordered, row_name

WIDTH, LEFT, RIGHT, ROW, HEAD = 960, 270, 190, 22, 56
# Colours as (light, dark); plain rules and not variables, which not every viewer of SVG knows.
COLOURS = {"paper": ("#ffffff", "#14181f"), "ink": ("#1c2330", "#e8ecf3"), "soft": ("#5b6577", "#9aa5b8"), "grid": ("#dfe4ec", "#2c3442"),
           "ours": ("#2463d1", "#6ea0ff"), "durable": ("#6b9080", "#7fb39d"), "loose": ("#c9a15a", "#d9b673")}
PLAIN = """
text { font: 13px system-ui, "DejaVu Sans", sans-serif; }
.title { font-size: 15px; font-weight: 600; } .soft { font-size: 11.5px; } .head { font-size: 19px; font-weight: 600; }
.value { paint-order: stroke; stroke-width: 4px; stroke-linejoin: round; }
.floor { stroke-dasharray: 4 3; } .spread { stroke-width: 1.5; opacity: .75; } .loose { fill-opacity: .3; }
"""
COLOURED = """
.paper {{ fill: {paper}; }} text {{ fill: {ink}; }} .soft {{ fill: {soft}; }} .value {{ stroke: {paper}; }}
.grid {{ stroke: {grid}; }} .floor, .spread {{ stroke: {ink}; }}
.ours {{ fill: {ours}; }} .durable {{ fill: {durable}; }} .loose {{ fill: {loose}; stroke: {loose}; }}
"""


def style():
    light, dark = ({name: pair[i] for name, pair in COLOURS.items()} for i in (0, 1))
    return PLAIN + COLOURED.format(**light) + "@media (prefers-color-scheme: dark) {" + COLOURED.format(**dark) + "}\n"


class Scale:
    """From a speed to a place between LEFT and WIDTH - RIGHT."""

    def __init__(self, speeds):
        low, high = math.log10(min(speeds)), math.log10(max(speeds))
        self.low = math.floor((low - 0.35) * 4) / 4
        self.high = max(high, self.low + 1)

    def at(self, speed):
        part = (math.log10(speed) - self.low) / (self.high - self.low)
        return LEFT + max(0.0, min(1.0, part)) * (WIDTH - LEFT - RIGHT)

    def tens(self):
        return [10.0 ** power for power in range(math.ceil(self.low), math.floor(self.high) + 1)]


def kind_of(row, workload):
    if row["name"].startswith("Reeve"):
        return "ours"
    queue_is_enough = workload["op"] == "submit" and row["durable"].startswith("the queue")
    return "durable" if row["durable"] == "yes" or queue_is_enough else "loose"


def tick_text(speed, unit, more):
    if more:
        return f"{figures.number(speed)} {unit}"
    return f"{figures.number(figures.speed(speed, more))} {unit}"


def bar(row, workload, scale, top):
    more, unit = workload["more_is_better"], workload["unit"]
    got = figures.summary(row, more)
    end = scale.at(figures.speed(got["median"], more))
    ends = sorted(scale.at(figures.speed(got[which], more)) for which in ("min", "max"))
    middle = top + ROW / 2
    return [f'<text x="{LEFT - 8}" y="{middle + 4:.1f}" text-anchor="end">{escape(row_name(row))}</text>',
            f'<rect class="{kind_of(row, workload)}" x="{LEFT}" y="{top + 3:.1f}" width="{end - LEFT:.1f}" height="{ROW - 7}" rx="2"/>',
            f'<line class="spread" x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>',
            f'<text class="value" x="{max(end, ends[1]) + 8:.1f}" y="{middle + 4:.1f}">{figures.number(got["median"])} {unit}</text>']


def panel(workload, top):
    """The elements of a workload, and where it ends."""
    more, rows, floor = workload["more_is_better"], ordered(workload), floor_of(workload)
    speeds = [figures.speed(value, more) for row in rows for value in row["values"]]
    if floor:
        speeds.append(figures.speed(floor, more))
    scale, body = Scale(speeds), top + HEAD
    bottom = body + ROW * len(rows)
    out = [f'<text class="title" x="24" y="{top + 20}">{escape(workload["name"] + ": " + workload["text"])}</text>']
    for speed in scale.tens():
        x = scale.at(speed)
        out.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{body - 4}" y2="{bottom}"/>')
        out.append(f'<text class="soft" x="{x:.1f}" y="{body - 9}" text-anchor="middle">'
                   f'{tick_text(speed, workload["unit"], more)}</text>')
    if floor:
        x = scale.at(figures.speed(floor, more))
        out.append(f'<line class="floor" x1="{x:.1f}" x2="{x:.1f}" y1="{body - 4}" y2="{bottom}"/>')
        out.append(f'<text class="soft" x="{WIDTH - 24}" y="{top + 20}" text-anchor="end">floor {escape(workload["floor"])}: '
                   f'{figures.number(floor)} {workload["unit"]}</text>')
    for i, row in enumerate(rows):
        out += bar(row, workload, scale, body + i * ROW)
    return out, bottom + 26


def legend(top):
    out, x = [], 24
    for kind, text, width in (("ours", "Reeve (durable)", 150), ("durable", "durable", 100), ("loose", "not durable, or not at once", 215)):
        out.append(f'<rect class="{kind}" x="{x}" y="{top - 11}" width="14" height="13" rx="2"/>')
        out.append(f'<text x="{x + 20}" y="{top}">{text}</text>')
        x += width
    out.append(f'<line class="floor" x1="{x}" x2="{x + 20}" y1="{top - 4}" y2="{top - 4}"/><text x="{x + 28}" y="{top}">the floor</text>')
    x += 105
    out.append(f'<line class="spread" x1="{x}" x2="{x + 20}" y1="{top - 4}" y2="{top - 4}"/>'
               f'<text x="{x + 28}" y="{top}">slowest to fastest round</text>')
    return out


def svg(results):
    out = [f'<text class="head" x="24" y="36">Reeve beside others</text>',
           f'<text class="soft" x="24" y="56">{escape(results["date"])}, the same machine, the same run; longer is faster, each '
           f'line is ten times the one before</text>', *legend(84)]
    top = 106
    for workload in results["workloads"]:
        if workload["rows"]:
            part, top = panel(workload, top)
            out += part
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}" role="img" '
            f'aria-label="Speed of Reeve beside other systems"><style>{style()}</style>'
            f'<rect class="paper" width="{WIDTH}" height="{top}"/>\n' + "\n".join(out) + "\n</svg>\n")
