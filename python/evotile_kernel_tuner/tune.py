"""tune_kernel: Kernel Tuner's function, on evotile."""
import dataclasses
import itertools
import os
import re
import shutil
import subprocess
import sys
import time

from evotile import EvotileError

from . import launch, results
from .arguments import read_arguments
from .signature import read_signature
from .template import check_language, condition_texts, read_file, read_parameters, read_source, write_template

# Kernel Tuner's strategies, and those of `evotile run`, which may also be named themselves.
STRATEGIES = {None: "grid", "brute_force": "grid", "random_sample": "random", "bayes_opt": "auto", "genetic_algorithm": "evolve"}
OWN_STRATEGIES = ("auto", "evolve", "free", "insight", "full", "random", "grid")
EVALUATIONS = 100  # Kernel Tuner's default of the strategies that search
ITERATIONS_MIN, ITERATIONS_MAX = 3, 256
ATOL = 1e-6
WHOLE_RACE = 100   # a configuration of any speed is timed in full

NOT_SUPPORTED = {
    "verify": "give answer=[...] and atol: evotile compares element by element, as numpy.allclose does",
    "log": "verbose=True prints every trial, and the run folder keeps all of them",
    "cache": "every trial is kept in a run folder: env['evotile']['run']",
    "simulation_mode": "`evotile simulate FILE` searches a recorded space",
    "parallel": "evotile compiles on all cores; EVOTILE_DEVICE=cuda:all uses all GPUs",
    "observers": "clocks, power and energy of each trial are in the run folder: `evotile report RUN`",
    "objectives": "evotile searches for one objective; compare others in the results",
    "texmem_args": "read the array through a pointer, or by __ldg",
    "compiler": "evotile compiles by NVRTC",
    "defines": "evotile defines the parameters; write further macros into the source",
}


@dataclasses.dataclass
class Call:
    """What template.py writes."""
    kernel_name: str
    name: str            # of the template
    source: str
    included: dict
    parameters: dict
    conditions: list
    block_names: tuple
    grid: list
    block: list
    shared_memory: object
    arguments: list
    has_answer: bool
    atol: float
    compiler_options: list
    iterations: int
    timing: dict
    budget: dict
    notes: list          # what was decided, one line each


def say(text, quiet):
    if not quiet:
        print(f"evotile: {text}", file=sys.stderr)


def find_program():
    program = os.environ.get("EVOTILE") or "evotile"
    path = shutil.which(program)
    if path is None:
        raise EvotileError(f"there is no program {program}: put evotile on PATH, or set EVOTILE to it")
    return os.path.abspath(path)


def check_supported(given):
    for name, remedy in NOT_SUPPORTED.items():
        if given[name] is not None and given[name] is not False:
            raise EvotileError(f"{name} is not supported: {remedy}")
    if given["platform"] != 0:
        raise EvotileError("platform is not supported: it is OpenCL's")


def read_strategy(strategy, options):
    """(strategy of `evotile run`, its budget)."""
    options = dict(options or {})
    if strategy not in STRATEGIES and strategy not in OWN_STRATEGIES:
        names = [name for name in STRATEGIES if name] + [name for name in OWN_STRATEGIES if name not in STRATEGIES]
        raise EvotileError(f"strategy {strategy!r} is not supported: choose among {', '.join(names)}")
    budget = {}
    trials, seconds = options.pop("max_fevals", None), options.pop("time_limit", None)
    if options:
        raise EvotileError(f"strategy_options[{next(iter(options))!r}] is not supported: evotile's strategies have max_fevals and time_limit")
    name = STRATEGIES.get(strategy, strategy)
    if trials is None and seconds is None and name != "grid":
        trials = EVALUATIONS
    if trials is not None:
        budget["trials"] = int(trials)
    if seconds is not None:
        budget["time"] = f"{max(1, round(float(seconds)))}s"
    return name, budget


def read_device(device):
    """$EVOTILE_DEVICE in place of Kernel Tuner's default, so that a script runs unchanged on an emulated device."""
    if isinstance(device, str):
        return device
    if not launch.is_whole(device):
        raise EvotileError(f"device is {device!r}: give the number of a GPU, or evotile's name of a device, as emulated:sm_90")
    return os.environ.get("EVOTILE_DEVICE") or f"cuda:{device}" if device == 0 else f"cuda:{device}"


def new_folder(name):
    """A folder of this call: results/kernel_tuner/NAME, NAME-2 and so on."""
    base = os.path.join("results", "kernel_tuner", name)
    for number in itertools.count(1):
        folder = base if number == 1 else f"{base}-{number}"
        if not os.path.exists(folder):
            return folder


def make_call(given, notes):
    iterations = given["iterations"]
    if not launch.is_whole(iterations) or not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:
        raise EvotileError(f"iterations is {iterations!r}: evotile takes {ITERATIONS_MIN} to {ITERATIONS_MAX} samples of a configuration")
    source, included = read_source(given["kernel_source"])
    check_language(given["lang"], source)
    parameters = read_parameters(given["tune_params"])
    block_names = launch.read_block_names(given["block_size_names"], parameters)
    base = re.split(r"[<\s]", given["kernel_name"].strip())[0].split("::")[-1]
    conditions = condition_texts(given["restrictions"], parameters, notes)
    limit = launch.thread_limit(block_names, parameters)
    answer = given["answer"]
    if answer is not None and all(one is None for one in answer):
        answer = None
    if answer is None:
        if given["atol"] != ATOL:
            notes.append("atol has no effect without an answer")
        notes.append("there is no answer: every configuration has to agree with the first valid one, and whether that is right is not checked")
    divisors = [given[f"grid_div_{axis}"] for axis in "xyz"]
    return Call(
        kernel_name=given["kernel_name"], name=re.sub(r"\W", "_", base), source=source, included=included, parameters=parameters,
        conditions=conditions + ([limit] if limit else []), block_names=block_names,
        grid=launch.grid_texts(given["problem_size"], divisors, block_names, parameters, notes),
        block=launch.block_texts(block_names, parameters), shared_memory=launch.shared_memory_text(given["smem_args"], parameters, notes),
        arguments=read_arguments(given["arguments"], answer, read_signature(base, source), given["cmem_args"], parameters),
        has_answer=answer is not None, atol=float(given["atol"]), compiler_options=list(given["compiler_options"] or []),
        iterations=int(iterations), timing={"samples": int(iterations), "race_margin": WHOLE_RACE}, budget={}, notes=notes)


def run_search(program, config, run, given, strategy):
    command = [program, "run", config, "--out", run, "--device", read_device(given["device"]), "--strategy", strategy]
    if given["seed"] is not None:
        command += ["--seed", str(int(given["seed"]))]
    if given["verbose"]:
        command.append("--verbose")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace") as ran:
        lines = []
        for line in ran.stderr:
            lines = (lines + [line])[-1:]
            if not given["quiet"]:
                sys.stderr.write(line)
    if ran.returncode != 0:
        why = lines[0].strip().replace("evotile: ", "", 1) if lines else "it printed nothing"
        first = re.search(r"the default genome, which is the reference, (is .*?): correct the kernel, ", why)
        if first:
            raise EvotileError(f"the first configuration, with which all others have to agree, {first[1]}: put values that pass first in the lists "
                               "of tune_params, or give answer=[...]")
        raise EvotileError(f"`evotile run` ended with status {ran.returncode}: {why}")


def print_results(found, env, parameters, objective, quiet):
    """As Kernel Tuner does, on standard output."""
    if quiet:
        return
    for result in found:
        if "__error__" not in result:
            print(line_of(result, [*parameters, "time"]))
    print(f"\nBEST PERFORMING CONFIGURATION FOR OBJECTIVE {objective}:")
    print(line_of(env["best_config"], [*parameters, objective]))


def line_of(result, names):
    shown = {name: f"{result[name]:.6g}" if isinstance(result[name], float) else str(result[name]) for name in dict.fromkeys(names)}
    return ", ".join(f"{name}={text}{'ms' if name == 'time' else ''}" for name, text in shown.items())


def tune_kernel(kernel_name, kernel_source, problem_size, arguments, tune_params, grid_div_x=None, grid_div_y=None, grid_div_z=None,
                restrictions=None, answer=None, atol=ATOL, verify=None, verbose=False, lang=None, device=0, platform=0, smem_args=None,
                cmem_args=None, texmem_args=None, compiler=None, compiler_options=None, defines=None, log=None, iterations=7,
                block_size_names=None, quiet=False, strategy=None, strategy_options=None, cache=None, metrics=None, simulation_mode=None,
                parallel=None, observers=None, objective=None, objective_higher_is_better=None, objectives=None, seed=None):
    """Tunes a CUDA kernel. The parameters are those of kernel_tuner.tune_kernel; what evotile cannot do is an EvotileError that says what to
    do instead. Returns (results, env).

    Every configuration is judged by evotile's checks (docs/judging.md) before it is timed: against `answer`, or else against the first valid
    configuration. One that fails has `__error__` in place of `time`, with a `reason`. The template, its config and the run folder
    are kept: env["evotile"] names them, for `evotile board`, `report` and `export`.
    """
    given = dict(locals())
    started = time.monotonic()
    check_supported(given)
    objective, higher_is_better = results.check_objective(objective, objective_higher_is_better, metrics)
    searching, budget = read_strategy(strategy, strategy_options)
    if objective != "time" and searching not in ("grid", "random"):
        raise EvotileError(f"objective {objective!r} cannot guide a search, which compares times: use strategy='brute_force' or 'random_sample'")
    program = find_program()
    call = make_call(given, [])
    call.budget = budget
    for note in call.notes:
        say(note, quiet)
    count = len(call.notes)
    folder = new_folder(call.name)
    config, genes = write_template(call, program, folder)
    for note in call.notes[count:]:
        say(note, quiet)
    run = os.path.join(folder, "run")
    run_search(program, config, run, given, searching)
    meta, rows = results.read_rows(run)
    found = [results.read_result(row, genes, call.parameters, metrics) for row in rows]
    best = results.best_of(found, objective, higher_is_better)
    if best is None:
        raise EvotileError(f"none of {len(found)} configurations passed: {results.common_reason(found)}")
    failed = sum("__error__" in result for result in found)
    if failed:
        say(f"{failed} of {len(found)} configurations failed, most of them so: {results.common_reason(found)}", quiet)
    env = results.read_environment(meta, os.path.abspath(run), os.path.abspath(config), call, found, time.monotonic() - started)
    env["best_config"] = best
    print_results(found, env, call.parameters, objective, quiet)
    return found, env
