"""bench/RESULTS.md from the figures of a run."""
import figures
from figures import number
from machine import machine_table


def cell(value, form=number):
    return "" if value is None else form(value)


def row_name(row):
    return row["name"] + (f" ({row['shape']})" if row["shape"] else "")


def floor_of(workload):
    return figures.median(workload["floors"]) if workload["floors"] else None


def reeve_of(workload):
    """The figure that the others are compared with: the first row of Reeve."""
    return next((figures.median(row["values"]) for row in workload["rows"] if row["name"] == "Reeve"), None)


def ordered(workload):
    """Fastest first."""
    return sorted(workload["rows"], key=lambda row: -figures.speed(figures.median(row["values"]), workload["more_is_better"]))


def settings_of(workload):
    parts = []
    if workload["op"] == "submit":
        parts.append(f"{workload['clients']} client{'s' * (workload['clients'] > 1)}, {workload['flight']} in flight each")
    if workload["payload"]:
        parts.append(f"payload {workload['payload']} bytes")
    if workload["seconds"]:
        parts.append(f"{workload['seconds']:g} s a round (Reeve and the floor as in `reeve bench`)")
    parts.append(f"{workload['rounds']} round{'s' * (workload['rounds'] > 1)}")
    return "; ".join(parts)


def verdict(row, more_is_better):
    if not row["targets"]:
        return ""
    target = figures.median(row["targets"])
    met = figures.is_met(figures.median(row["values"]), target, more_is_better)
    return f"{row_name(row)}: {'met' if met else '**missed**'} ({'≥' if more_is_better else '≤'} {number(target)})"


def beaten(workload):
    """Whether Reeve is faster than the system that it has to be faster than."""
    other = next((figures.median(row["values"]) for row in workload["rows"] if row["name"] == workload["beats"]), None)
    reeve = reeve_of(workload)
    if other is None or reeve is None:
        return []
    times = figures.ratio(reeve, other, workload["more_is_better"])
    return [f"faster than {workload['beats']}: {'met' if times > 1 else '**missed**'} ({times:.3g} times)"]


def workload_part(workload):
    more, unit = workload["more_is_better"], workload["unit"]
    floor, reeve = floor_of(workload), reeve_of(workload)
    lines = [f"## {workload['name']}: {workload['text']}", "", f"Settings: {settings_of(workload)}. "
             f"Unit: {unit}{', more is better' if more else ', less is better'}."]
    if floor:
        lines[-1] += f" Floor {workload['floor']}: {number(floor)} {unit}."
    said = [each for each in (verdict(row, more) for row in workload["rows"]) if each] + beaten(workload)
    if said:
        lines += ["", f"Target {workload['target']}. " + "; ".join(said) + "."]
    lines += ["", f"| | median, {unit} | min … max | of the floor | of Reeve | durable | syncs per 1,000 | jobs or answers a round |",
              "| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |"]
    for row in ordered(workload):
        got = figures.summary(row, more, floor, reeve)
        syncs = cell(row["syncs_per_1000"])
        if row["own_syncs_per_1000"] is not None:
            syncs += f" (own count {number(row['own_syncs_per_1000'])})"
        lines.append(f"| {row_name(row)} | {number(got['median'])} | {number(got['min'])} … {number(got['max'])} | "
                     f"{cell(got['of_floor'], lambda v: f'{v:.3g}')} | {cell(got['of_reeve'], lambda v: f'{v:.3g}')} | "
                     f"{row['durable']} | {syncs.strip()} | {cell(figures.median(row['operations']) or None)} |")
    for name, reason in workload["not_run"].items():
        lines.append(f"| {one_line(name)} | not run: {one_line(reason)} | | | | | | |")
    return lines + [""]


def one_line(text):
    return " ".join(str(text).split()).replace("|", "/")[:300]


def machine_part(results):
    lines = ["## The machine", "", *machine_table(results["machine"])]
    lines += ["Floors, measured before all: " + ", ".join(f"{each['shape']} {number(each['value'])} {each['unit']}"
                                                             for each in results["floors"]) + ".", ""]
    return lines


def systems_part(results):
    lines = ["## The systems", "", "| | version | before an answer | settings |", "| --- | --- | --- | --- |"]
    for each in results["systems"]:
        lines.append(f"| {each['name']} | {one_line(each['version'])} | {each['sync']} | {each['settings']} |")
    return lines + [""]


HOW = """*of the floor* and *of Reeve* say how fast a system is beside them: 1 = as fast, 2 = twice as fast, whichever way the unit runs. Floors are those of
[docs/benchmarks.md](../docs/benchmarks.md), measured in the same rounds. *durable* is what an answer means when the power fails. *syncs per 1,000* are the calls of `fsync`, `fdatasync`, `msync` and
`sync_file_range` of the servers that `strace` saw in a run of its own, with fewer operations (filling the queue and starting the server included), for 1,000 operations; who claims durability and does not sync would show here. In brackets what the system itself counted during
the measurement. After each submit workload the jobs in the queue were counted: as many as were acknowledged. Rows with different *durable* are not the same work."""


def markdown(results, more=""):
    quick = " **A quick run: it shows that everything works, not how fast it is.**" if results["quick"] else ""
    busy = f" **{results['busy']}**" if results["busy"] else ""
    lines = ["# Beside others", "",
             f"Written by `{results['command']}` on {results['date']} in {results['minutes']:.1f} minutes; not edited by hand. "
             f"All systems ran on the same machine, on the same disk, in turn within each round; the median of the rounds counts.{quick}{busy}", "", HOW, "",
             "![The same as bars](results.svg)", ""]
    lines += machine_part(results)
    for workload in results["workloads"]:
        lines += workload_part(workload)
    lines += systems_part(results)
    if more:
        lines += [more.strip(), ""]
    return "\n".join(lines)
