"""Sets the winner of a matrix product beside the kernels of CUTLASS, by CUTLASS's own profiler, where that is installed.

    python3 -m evotile.cutlass results/gemm -- --A=f32:row --B=f32:row --accum=f32

docs/traces.md describes it. Both time warm calls, each in a program of its own: the ratio is an estimate.
"""
import argparse
import json
import re
import shutil
import subprocess
import sys


class ProfilerError(Exception):
    """The run or the profiler gives nothing to compare."""


def command_output(command, what):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ProfilerError(f"{command[0]}: {error.strerror}: name {what}") from error
    if done.returncode != 0:
        raise ProfilerError(f"{command[0]}: " + (done.stderr.strip().splitlines() or ["it fails"])[-1])
    return done.stdout


def winners(run, evotile):
    """The best row of each case of a run."""
    rows = json.loads(command_output([evotile, "board", run, "--cases", "--json"], "the program with --evotile"))["rows"]
    best = {}
    for row in rows:
        if row["case"] not in best or row["latency_p50_us"] < best[row["case"]]["latency_p50_us"]:
            best[row["case"]] = row
    if not best:
        raise ProfilerError(f"{run} has no kernel that passed: search it first")
    return list(best.values())


def sizes_of(case, names):
    """{"m": 64, "n": 48, "k": 40} of "M=64,N=48,K=40"."""
    dimensions = dict(part.split("=", 1) for part in case.split(","))
    missing = [name for name in names if name not in dimensions]
    if missing:
        raise ProfilerError(f"the case {case} has no dimension {missing[0]}: name rows, columns and length of the sum with --dimensions")
    return {option: int(dimensions[name]) for option, name in zip("mnk", names)}


def parse_profile(text):
    """Kernels of the profiler's report, as {"operation", "passed", "us"}; those that did not run have no runtime."""
    kernels = []
    for block in re.split(r"^\s*Problem ID:", text, flags=re.M)[1:]:
        found = dict(re.findall(r"^\s*(Operation|Disposition|Runtime):\s*(\S+)", block, flags=re.M))
        if "Operation" in found and "Runtime" in found:
            kernels.append({"operation": found["Operation"], "passed": found.get("Disposition") == "Passed", "us": 1000 * float(found["Runtime"])})
    return kernels


def fastest_kernel(profiler, sizes, arguments):
    """The fastest that computes the right product; and how many passed."""
    command = [profiler, "--operation=Gemm", "--providers=cutlass", *(f"--{name}={value}" for name, value in sizes.items()), *arguments]
    kernels = parse_profile(command_output(command, "the profiler with --profiler"))
    passed = [kernel for kernel in kernels if kernel["passed"] and kernel["us"] > 0]
    if not passed:
        raise ProfilerError(f"of {len(kernels)} kernels of {profiler} none passed: choose others behind --, such as -- --A=f16:row --B=f16:column")
    return min(passed, key=lambda kernel: kernel["us"]), len(passed)


def compare(row, profiler, names, arguments):
    kernel, passed = fastest_kernel(profiler, sizes_of(row["case"], names), arguments)
    return {"case": row["case"], "genome": row["genome"], "predicted": row["predicted"], "p50_us": row["latency_p50_us"], "cutlass": kernel["operation"],
            "cutlass_us": kernel["us"], "cutlass_passed": passed, "estimated_times_as_fast": kernel["us"] / row["latency_p50_us"]}


def main(arguments):
    own, behind = (arguments[:arguments.index("--")], arguments[arguments.index("--") + 1:]) if "--" in arguments else (arguments, [])
    parser = argparse.ArgumentParser(prog="python3 -m evotile.cutlass", description=__doc__.split("\n")[0], epilog="Arguments behind -- are the profiler's.")
    parser.add_argument("run", help="a run folder")
    parser.add_argument("--dimensions", default="M,N,K", metavar="M,N,K", help="dimensions of the rows, the columns and the sum (default: M,N,K)")
    parser.add_argument("--profiler", default="cutlass_profiler", help="CUTLASS's profiler (default: cutlass_profiler)")
    parser.add_argument("--evotile", default="evotile", help="the program (default: evotile)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(own)
    names = options.dimensions.split(",")
    if len(names) != 3:
        parser.error(f"--dimensions {options.dimensions}: name three, such as M,N,K")
    if shutil.which(options.profiler) is None:
        raise ProfilerError(f"{options.profiler} is not installed: build it from CUTLASS (make cutlass_profiler), and name it with --profiler")
    rows = [compare(row, options.profiler, names, behind) for row in winners(options.run, options.evotile)]
    if options.json:
        print(json.dumps({"run": options.run, "cases": rows}, indent=1))
        return
    for row in rows:
        print(f"{row['case']}: {row['p50_us']:.2f} us{' predicted' if row['predicted'] else ''}; CUTLASS {row['cutlass_us']:.2f} us ({row['cutlass']}, the "
              f"fastest of {row['cutlass_passed']}); an estimated {row['estimated_times_as_fast']:.3f} times as fast")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ProfilerError as error:
        sys.exit(f"evotile.cutlass: {error}")
