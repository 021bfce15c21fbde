"""What a run found, as Kernel Tuner returns it: a list of dicts, and a dict of the environment.

The times of a run are in run.db (docs/formats.md). `time` is the median in milliseconds, by which evotile compares.
"""
import array
import contextlib
import datetime
import json
import os
import re
import sqlite3

from evotile import EvotileError

INVALID = ("invalid", "filtered", "over_limit")
# Kernel Tuner's: of these objectives it knows whether more is better.
HIGHER_IS_BETTER = {"time": False, "energy": False, "fitness": True, "cost": False, "loss": False, "GFLOP/s": True, "TFLOP/s": True,
                    "GB/s": True, "TB/s": True, "GFLOPS/W": True, "TFLOPS/W": True, "GFLOP/J": True, "TFLOP/J": True}
TOTALS = ("framework_time", "strategy_time", "compile_time", "verification_time", "benchmark_time")


class ErrorConfig(str):
    """Stands for the result of a configuration that has none; `reason` says why. Kernel Tuner has classes of these names."""
    reason = ""

    def __str__(self):
        return type(self).__name__

    __repr__ = __str__


class InvalidConfig(ErrorConfig):
    pass


class CompilationFailedConfig(ErrorConfig):
    pass


class RuntimeFailedConfig(ErrorConfig):
    pass


def error_of(verdict, reason):
    kind = InvalidConfig if verdict in INVALID else CompilationFailedConfig if verdict == "compile_failed" else RuntimeFailedConfig
    error = kind(kind.__name__)
    error.reason = f"{verdict}: {reason}" if reason else verdict
    return error


def read_meta(db):
    return dict(db.execute("SELECT name, value FROM meta"))


def read_rows(run):
    """(meta, rows): the trials of a run in their order, each with the samples of its case."""
    path = os.path.join(run, "run.db")
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        rows = db.execute("SELECT trials.*, cases.samples_us FROM trials LEFT JOIN cases ON cases.event = trials.told AND cases.number = 0 "
                          "WHERE trials.told IS NOT NULL ORDER BY trials.number").fetchall()
        return dict(db.execute("SELECT name, value FROM meta").fetchall()), rows


def value_reader(gene, values):
    """The value of tune_params that a gene's word or number stands for."""
    if "text" in gene:  # words in the order of the values
        return dict(zip(gene["values"], values)).__getitem__
    numbers = {int(value): value for value in values}
    return lambda word: numbers[int(word)]


def read_parameters(genome, genes, parameters):
    """{parameter: value} of a genome's text; genes are in the order of the parameters."""
    words = dict(pair.split("=", 1) for pair in genome.split(","))
    return {name: value_reader(genes[gene], parameters[name])(words[gene]) for name, gene in zip(parameters, genes)}


def with_metrics(result, metrics):
    """The user's own: texts over parameters and results, or functions of them."""
    for name, metric in (metrics or {}).items():
        if isinstance(metric, str):
            known = {key: value for key, value in result.items() if isinstance(value, (int, float, str))}
            result[name] = eval(metric, {}, known)
        else:
            result[name] = metric(result)
    return result


def read_result(row, genes, parameters, metrics):
    result = read_parameters(row["genome"], genes, parameters)
    milliseconds = {name: 1000 * (row[column] or 0) for name, column in
                    (("compile_time", "compile_s"), ("verification_time", "verify_s"), ("benchmark_time", "measure_s"))}
    timestamp = str(datetime.datetime.fromtimestamp(row["finished"], datetime.timezone.utc))
    if row["verdict"] != "ok":
        return {**result, "__error__": error_of(row["verdict"], row["reason"]), **milliseconds, "strategy_time": 0.0, "framework_time": 0.0,
                "timestamp": timestamp}
    samples = array.array("d")
    samples.frombytes(row["samples_us"] or b"")
    result.update(time=row["score_us"] / 1000, times=[sample / 1000 for sample in samples], **milliseconds)
    return {**with_metrics(result, metrics), "strategy_time": 0.0, "framework_time": 0.0, "timestamp": timestamp}


def check_objective(objective, higher_is_better, metrics):
    """(objective, whether more is better)."""
    objective = objective or "time"
    if not isinstance(objective, str):
        raise EvotileError("objective is a list: evotile searches for one objective; compare others in the results")
    if objective != "time" and objective not in (metrics or {}):
        raise EvotileError(f"objective is {objective!r}, which is no key of metrics: define it there, or leave it out")
    if higher_is_better is None and objective not in HIGHER_IS_BETTER:
        raise EvotileError(f"say objective_higher_is_better=True or False for the objective {objective!r}")
    return objective, HIGHER_IS_BETTER.get(objective) if higher_is_better is None else bool(higher_is_better)


def best_of(results, objective, higher_is_better):
    good = [result for result in results if "__error__" not in result]
    return (max if higher_is_better else min)(good, key=lambda result: result[objective]) if good else None


def common_reason(results):
    """The reason that most of the failed configurations share, without what differs from one to the next."""
    reasons = {}
    for result in results:
        if "__error__" in result:
            key = re.sub(r"\d+", "#", result["__error__"].reason)
            count, reason = reasons.get(key, (0, result["__error__"].reason))
            reasons[key] = (count + 1, reason)
    return max(reasons.values(), default=(0, ""))[1]


def read_environment(meta, run, config, call, results, seconds):
    info = json.loads(meta.get("device_info") or "{}")
    env = {"device_name": meta.get("device_name"), "cuda_version": meta.get("driver") or None,
           "compute_capability": str(info.get("compute_capability", "")), "iterations": call.iterations,
           "compiler_options": call.compiler_options, "device_properties": info,
           "evotile": {"version": meta.get("evotile"), "run": run, "config": config, "reference": "answer" if call.has_answer else "first configuration",
                       "notes": call.notes}}
    for name in TOTALS:
        env[f"total_{name}"] = sum(result[name] for result in results)
    env["overhead_time"] = max(0.0, 1000 * seconds - sum(env[f"total_{name}"] for name in TOTALS))
    return env
