"""The table of `make bench-attention`, from the records of any number of calls: for each row the latest kernel's duels,
the share of the limit that it reaches, and its SOL score; then the means of the groups beside their aims.

limit      the larger of the row's operations at the tensor cores' peak and its bytes at the rate of DRAM, or of L2
           where four sets of inputs fit there, by the figures of configs/devices: data sheet, and measured for L2
share      limit / time
SOL score  1 / (1 + (time - limit) / (rival - limit)): 1 at the limit, 0.5 at the time of the fastest rival. It is the
           score of SOL-ExecBench, whose baseline is here the fastest rival
"""
import glob
import json
import math
import os
import re

from attention_rows import AIMS, GROUPS, ROWS, SHAPE, in_group, rivals_of, row_name
from row_numbers import ranges

SETS = 4  # of inputs that a timed graph takes in rotation
HEADINGS = ["row", SHAPE, "ours, us", "fastest rival", "its us", "ratio", "99 % interval", "aim", "regime",
            "of the limit", "SOL score", "other rivals", "kernel"]


def device_figures(name):
    for path in glob.glob(os.path.join(os.path.dirname(__file__), "../../configs/devices/*.json")):
        with open(path) as file:
            figures = json.loads(re.sub(r"//.*", "", file.read()))
        if figures.get("name", "").removesuffix(", emulated") == name:
            return figures
    return None


def limit_us(case, figures):
    """None where the figures of the device are not known."""
    in_l2 = figures is not None and SETS * case["bytes"] <= figures["l2_bytes"]
    rate = figures and figures.get("l2_gb_per_s" if in_l2 else "dram_gb_per_s")
    return max(case["operations"] / figures["tensor_tflops"] / 1e6, case["bytes"] / rate / 1e3) if rate else None


def sol_score(us, rival_us, limit):
    """None where the rival is at the limit."""
    return 1 / (1 + (us - limit) / (rival_us - limit)) if limit and rival_us > limit else None


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def stored_records(folder):
    """Of every *.jsonl in the folder, oldest first. A line that was cut off by a kill is left out."""
    records = []
    for path in sorted(glob.glob(os.path.join(folder, "*.jsonl"))):
        with open(path) as file:
            for line in file:
                try:
                    records.append(json.loads(line))
                except ValueError:
                    continue
    return sorted(records, key=lambda record: record["measured"])


def latest(records):
    """Of one device, for each row and rival: only those of the row's latest kernel."""
    kernels = {record["row"]: record["case"] for record in records}
    found = {}
    for record in records:
        if record["case"] == kernels[record["row"]]:
            found.setdefault(record["row"], {})[record["rival"]] = record
    return found


def row_figures(index, duels, figures):
    """What a row of the table says; without "ratio" if no rival was measured."""
    measured = {rival: one for rival, one in duels.items() if "duel" in one}
    said = {"row": index + 1, "name": row_name(ROWS[index]), "aim": AIMS[index],
            "rivals": {rival: one["duel"]["times_as_fast"] for rival, one in measured.items()},
            "without": {rival: duels[rival]["unable"] if rival in duels else "not measured"
                        for rival in dict.fromkeys([*rivals_of(ROWS[index]), *duels]) if rival not in measured}}
    if not measured:
        return said
    fastest = min(said["rivals"], key=said["rivals"].get)
    record, duel = measured[fastest], measured[fastest]["duel"]
    limit = limit_us(record["kernel"], figures)
    said.update(
        us=duel["p50_us"], fastest=fastest, rival_us=duel["b_p50_us"], ratio=duel["times_as_fast"], low=duel["low"],
        high=duel["high"], limit_us=limit, share=limit and limit / duel["p50_us"],
        sol_score=sol_score(duel["p50_us"], duel["b_p50_us"], limit), kernel=record["kernel"]["folder"],
        regime=", ".join(filter(None, ["warm", f"{record['kernel']['smem'] >> 10} KB", record.get("conditions")])))
    return said


def group_figures(rows):
    """The means of the groups that have a measured row."""
    said = []
    for name, (_, aim, least_aim) in GROUPS.items():
        wanted = [index for index, row in enumerate(ROWS) if in_group(name, row)]
        ratios = [row["ratio"] for row in rows if row["row"] - 1 in wanted and "ratio" in row]
        if ratios:
            said.append({"group": name, "mean": mean(ratios), "aim": aim, "least": min(ratios), "least_aim": least_aim,
                         "measured": len(ratios), "rows": len(wanted)})
    return said


def report(records):
    """For each device what the table says."""
    said = []
    for device in sorted({record["device"] for record in records}):
        found = latest([record for record in records if record["device"] == device])
        figures = device_figures(device)
        rows = [row_figures(index, duels, figures) for index, duels in sorted(found.items())]
        used = [record for duels in found.values() for record in duels.values()]
        said.append({"device": device, "drivers": sorted({record["driver"] for record in used if record["driver"]}),
                     "rivals": sorted({record["baseline"] for record in used if "duel" in record}),
                     "rows": rows, "groups": group_figures(rows),
                     "missing": [index + 1 for index in range(len(ROWS)) if index not in found]})
    return said


def cells(row):
    if "ratio" not in row:
        return [f"{row['row']}", row["name"], "-", "none could be measured", *["-"] * (len(HEADINGS) - 4)]
    others = sorted((ratio, rival) for rival, ratio in row["rivals"].items() if rival != row["fastest"])
    return [f"{row['row']}", row["name"], f"{row['us']:.2f}", row["fastest"], f"{row['rival_us']:.2f}",
            f"{row['ratio']:.3f}", f"{row['low']:.3f} to {row['high']:.3f}",
            f"{row['aim']}{'' if row['ratio'] >= row['aim'] else ', missed'}", row["regime"],
            "-" if row["share"] is None else f"{100 * row['share']:.0f} %",
            "-" if row["sol_score"] is None else f"{row['sol_score']:.2f}",
            ", ".join(f"{rival} {ratio:.3f}" for ratio, rival in others) or "-", row["kernel"]]


def absences(rows):
    """Each rival that some row lacks, with the reason and the rows."""
    reasons = {}
    for row in rows:
        for rival, why in row["without"].items():
            reasons.setdefault((rival, why), []).append(row["row"] - 1)
    return [f"- {rival}, row{'s' if len(of) > 1 else ''} {ranges(of)}: {why}" for (rival, why), of in reasons.items()]


def markdown(said):
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in said["rows"]]
    lines += ["", f"On one {said['device']}, driver {' and '.join(said['drivers']) or 'unknown'}, in turns on the same "
              f"GPU. A ratio above 1: evotile is faster. Rivals: {'; '.join(said['rivals']) or 'none'}.", ""]
    lines += ["| group | rows | geometric mean | aim | least | aim |", "|---|---|---|---|---|---|"]
    for one in said["groups"]:
        lines.append(f"| {one['group']} | {one['measured']} of {one['rows']} | {one['mean']:.3f} | {one['aim']} | "
                     f"{one['least']:.3f} | {one['least_aim']} |")
    absent = absences(said["rows"])
    if absent:
        lines += ["", "Absent rivals:", "", *absent]
    if said["missing"]:
        lines += ["", f"Not measured: rows {ranges(number - 1 for number in said['missing'])}."]
    return "\n".join(lines)
