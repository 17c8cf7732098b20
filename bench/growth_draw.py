"""growth_draw.py: the curves of growth.py as a drawing and as a table."""
import math
import os
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers"))

from machine import machine_table  # noqa: E402
import sections  # noqa: E402

WIDTH, HEIGHT = 300, 190
LEFT, TOP, GAP_X, GAP_Y = 62, 58, 78, 84
ROWS = (("instructions", "thousand instructions of the loop", 1000), ("cpu_us", "µs of processor time, all threads", 1))
PANELS = (("jobs", ("jobs",)), ("workers", ("attached", "spread", "beat")), ("questions", ("questions",)))
LINES = {"jobs": "#2a6fb0", "attached": "#2a6fb0", "spread": "#c2571a", "beat": "#5b8c3a", "questions": "#2a6fb0"}
NAMES = {"jobs": "", "attached": "one at a time", "spread": "1,000 at once, shared", "beat": "a heartbeat", "questions": ""}


def short(n):
    return {1000: "1k", 10000: "10k", 100000: "100k", 1000000: "1M"}.get(n, str(n))


def top_of(values):
    """The end of the axis: 1, 2 or 5 times a power of ten."""
    most = max(values) * 1.15
    power = 10 ** math.floor(math.log10(most))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= most)


def panel(record, names, key, scale, x, y):
    curves = {n: [(p["at"], p[key] / scale) for p in record["curves"][n]["points"] if key in p] for n in names}
    ats = [at for n in names for at in (p["at"] for p in record["curves"][n]["points"])]
    low, high = math.log10(min(ats)), math.log10(max(ats))
    top = top_of([v for line in curves.values() for _, v in line])

    def place(at, v):
        return x + (math.log10(at) - low) / (high - low) * WIDTH, y + HEIGHT - v / top * HEIGHT
    out = [f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" fill="#fafafa" stroke="#999"/>']
    for i in range(5):
        v = top * i / 4
        out.append(f'<line x1="{x}" x2="{x + WIDTH}" y1="{place(min(ats), v)[1]:.1f}" y2="{place(min(ats), v)[1]:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{x - 6}" y="{place(min(ats), v)[1] + 4:.1f}" text-anchor="end">{v:g}</text>')
    for at in sorted(set(ats)):
        out.append(f'<text x="{place(at, 0)[0]:.1f}" y="{y + HEIGHT + 16}" text-anchor="middle">{short(at)}</text>')
    for number, (name, line) in enumerate(curves.items()):
        places = [place(at, v) for at, v in line]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in places)
        out.append(f'<polyline points="{path}" fill="none" stroke="{LINES[name]}" stroke-width="2"/>')
        out += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3.5" fill="{LINES[name]}"/>' for px, py in places]
        if NAMES[name]:
            out.append(f'<text x="{x + 8}" y="{y + 16 + 15 * number}" fill="{LINES[name]}">{NAMES[name]}</text>')
    return out


def draw(record, path):
    titles = {"jobs": "jobs in one flow", "workers": "workers", "questions": "questions that wait"}
    width = LEFT + len(PANELS) * (WIDTH + GAP_X) - GAP_X + 24
    height = TOP + len(ROWS) * (HEIGHT + GAP_Y) - 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="12" fill="#222">',
           f'<rect width="{width}" height="{height}" fill="#fff" stroke="none"/>',
           '<text x="16" y="22" font-size="15">What a no-op job costs the server, however much there is</text>']
    for row, (key, axis, scale) in enumerate(ROWS):
        y = TOP + row * (HEIGHT + GAP_Y)
        out.append(f'<text x="16" y="{y - 12}" fill="#555">{axis}, per job</text>')
        for column, (name, names) in enumerate(PANELS):
            x = LEFT + column * (WIDTH + GAP_X)
            out += panel(record, names, key, scale, x, y)
            out.append(f'<text x="{x + WIDTH / 2}" y="{y + HEIGHT + 34}" text-anchor="middle" fill="#555">{titles[name]}</text>')
    out.append("</svg>")
    sections.write(path, "\n".join(out) + "\n")


def table(record, path):
    """Between two marks of a document; the words around them are written by hand."""
    busy = f" **{record['busy']}**" if record["busy"] else ""
    lines = [f"Written by `make bench-growth` on {record['date']} in {record['minutes']:.1f} minutes: {record['version']}.{busy}", "",
             *machine_table(record["machine"]), "| curve | at | instructions | processor, µs | wall, µs |", "| --- | ---: | ---: | ---: | ---: |"]
    for name, curve in record["curves"].items():
        for p in curve["points"]:
            cells = [f"{p[k]:,}" if k in p else "" for k in ("instructions", "cpu_us", "wall_us")]
            lines.append(f"| `{name}`: {curve['text']} | {p['at']:,} | " + " | ".join(cells) + " |")
    sections.put(path, "growth", "\n".join(lines))
