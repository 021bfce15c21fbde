"""How long a run takes until each of its goals is near the kernel that is known best for it, with goals that share what they
learn and with goals that do not. `make bench-near` runs it.

usage: python3 tests/bench/until_near.py --evotile PROGRAM [--kernel FOLDER] [--variants apart,shared,gain] [--seconds N]
                                         [--percent P] [--device SPEC] [--out DIR] [--table]

FOLDER is an export of a run with a champion for each case: its cases are the goals, its latencies what is known. Each variant is a
run from nothing, without earlier runs and seed genomes, into DIR/VARIANT; one that is there is read again. A goal is near as
soon as its champion is within P percent, and a run ends when all are, or after N seconds.

  apart    each goal learns from its own trials alone, and they are asked in turn
  shared   a trial of one goal informs the others; asked in turn
  gain     the same; the goal of which most is expected is asked next
"""
import argparse
import json
import os
import signal
import subprocess
import sys

POLL_S = 5
VARIANTS = {"apart": {"share_goals": False, "goals_by_gain": False},
            "shared": {"share_goals": True, "goals_by_gain": False},
            "gain": {"share_goals": True, "goals_by_gain": True}}


def read_kernel(folder):
    try:
        with open(os.path.join(folder, "manifest.json")) as file:
            manifest = json.load(file)
    except (OSError, ValueError) as problem:
        sys.exit(f"until_near.py: {folder} is no export: {problem}")
    template = "/".join(filter(None, (manifest["template"]["name"], manifest["template"].get("solution"))))
    config = {"template": template, "objective": "per_case", "cases": [case["shape"] for case in manifest["cases"]]}
    if manifest.get("smem_limit"):
        config["limits"] = {"smem_bytes": manifest["smem_limit"]}
    return config, [(case["name"], case["p50_us"]) for case in manifest["cases"]]


def champions_of(evotile, folder):
    """By goal; None if there is no run yet."""
    done = subprocess.run([evotile, "summary", folder, "--json"], capture_output=True, text=True)
    return [goal["champions"] for goal in json.loads(done.stdout)["goals"]] if done.returncode == 0 else None


def seconds_until(champions, us):
    return next((champion["seconds"] for champion in champions if champion["after_us"] <= us), None)


def seconds_of(goals, near_us):
    return [seconds_until(champions, us) for champions, us in zip(goals, near_us)]


def search(arguments, variant, config, near_us):
    """Runs the variant until all goals are near."""
    folder = os.path.join(arguments.out, variant)
    path = folder + ".json"
    with open(path, "w") as file:
        json.dump({**config, "search": VARIANTS[variant]}, file, indent=2)
    command = [arguments.evotile, "run", path, "--learn-from", "none", "--time", f"{arguments.seconds}s", "--device", arguments.device,
               "--out", folder]
    print("$ " + " ".join(command), file=sys.stderr)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            try:
                process.wait(timeout=POLL_S)
            except subprocess.TimeoutExpired:
                goals = champions_of(arguments.evotile, folder)
                if goals and None not in seconds_of(goals, near_us):
                    process.send_signal(signal.SIGINT)
                    process.wait()
    if process.returncode not in (0, -signal.SIGINT):
        sys.exit(f"until_near.py: {' '.join(command)}: exit status {process.returncode}")


def print_table(names, columns):
    def cell(seconds):
        return f"{'-':>9}" if seconds is None else f"{seconds:>9.1f}"

    width = max(map(len, names))
    print(f"{'seconds until near':{width}}", *(f"{variant:>9}" for variant in columns))
    for i, name in enumerate(names):
        print(f"{name:{width}}", *(cell(times[i]) for times in columns.values()))
    print(f"{'all':{width}}", *(cell(None if None in times else max(times)) for times in columns.values()))
    print(f"{'goals that are near':{width}}", *(f"{sum(time is not None for time in times):>9}" for times in columns.values()))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--evotile", required=True)
    parser.add_argument("--kernel", default="kernels/attention_h200")
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--seconds", type=int, default=540)
    parser.add_argument("--percent", type=float, default=3)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", default="results/near")
    parser.add_argument("--table", action="store_true", help="of the runs that there are")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.variants.split(",") if name not in VARIANTS]
    if unknown:
        sys.exit(f"until_near.py: no variant {unknown[0]}: choose from {', '.join(VARIANTS)}")
    config, known = read_kernel(arguments.kernel)
    os.makedirs(arguments.out, exist_ok=True)
    near_us = [us * (1 + arguments.percent / 100) for _, us in known]
    columns = {}
    for variant in arguments.variants.split(","):
        folder = os.path.join(arguments.out, variant)
        if not arguments.table and not os.path.exists(os.path.join(folder, "run.db")):
            search(arguments, variant, config, near_us)
        goals = champions_of(arguments.evotile, folder)
        if goals is not None:
            columns[variant] = seconds_of(goals, near_us)
        elif not arguments.table:
            sys.exit(f"until_near.py: {folder} cannot be read: remove it, or see `evotile fsck {folder}`")
    print_table([name for name, _ in known], columns)


if __name__ == "__main__":
    main()
