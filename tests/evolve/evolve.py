#!/usr/bin/env python3
"""usage: evolve.py EVOTILE [PART...]: the parts of the tests beside it; each makes runs in a temporary folder."""
import collections
import difflib
import html
import json
import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile

from run_rows import PROGRESS, query

EVOTILE = os.path.abspath(sys.argv[1])
PROPOSER = os.path.abspath("tests/evolve/proposer.py")
os.environ["ROOT_OF_TEST"] = os.getcwd()
os.environ["EVOTILE_TEMPLATES"] = os.path.abspath("tests/templates")
os.environ["EVOTILE_DEVICES"] = os.path.abspath("configs/devices")
folder = tempfile.TemporaryDirectory(prefix="evotile-evolve-test-")
os.chdir(folder.name)
os.environ["EVOTILE_CACHE"] = os.path.join(folder.name, "cache")
failures = []


def check(holds, text):
    if not holds:
        failures.append(text)


def write(name, value):
    with open(name, "w") as out:
        json.dump(value, out)


write("config.json", {"template": "axpy", "solutions": ["loop"], "cases": [{"N": 3000}]})


def command(name, script, *options, config="config.json"):
    write(f"{name}.script", script)
    return [EVOTILE, "evolve", config, "--proposer", f"exec {PROPOSER} {name}.script {name}.log", "--tune", "3",
            "--device", "emulated:sm_90", "--compile-workers", "1", "--out", name, *options]


def run(name, script, *options, config="config.json", status=0):
    options = options or ("--proposals", str(len(script)))
    ran = subprocess.run(command(name, script, *options, config=config), capture_output=True, text=True)
    check(ran.returncode == status, f"{name}: status {ran.returncode}: {ran.stderr}")
    return ran.stderr


def lineage(name):
    ran = subprocess.run([EVOTILE, "summary", name, "--lineage", "--json"], capture_output=True, text=True)
    check(ran.returncode == 0, f"{name}: {ran.stderr}")
    return json.loads(ran.stdout)


def asked(name):
    return [line.split() for line in open(f"{name}.log")]


def edit(search, replace, file="kernel.cu", **more):
    return {"edits": [{"file": file, "search": search, "replace": replace}], **more}


LINE = "z[i] = ALPHA * x[i] + y[i];"
SIGNATURE = 'extern "C" __global__ void axpy'
SHARED = edit(f"        {LINE}", "    {\n        __shared__ float staged[4096];\n        staged[threadIdx.x] = x[i];\n"
              "        z[i] = ALPHA * staged[threadIdx.x] + y[i];\n    }")

# ---- decisions ----

SLOW = edit(LINE, "{ float sum = 0; for (int k = 0; k < 64; ++k) sum += __cosf(x[i] * k); "
            "z[i] = ALPHA * x[i] + y[i] + (sum > 1e30f ? sum : 0); }")
FASTER = edit('"default": 1 }', '"default": 64 }', file="solution.json")
WIDER = {"edits": [{"file": "solution.json", "search": "[1, 2, 4, 8, 16, 32], \"default\": 1", "replace": "[32, 64], \"default\": 64"},
                   {"file": "solution.json", "search": "\"default\": 64 },\n", "replace": "\"default\": 32 },\n"}]}


def decisions():
    run("slow", [SLOW])
    row, = lineage("slow")["proposals"]
    check(row["decision"] == "revert" and row["verdict"] == "ok" and row["ratio"] < 0.98, f"a slower one: {row}")
    # The slow solution as a start: its own repair is promoted.
    write("slow.json", {"template": "axpy", "solutions": ["slow"], "cases": [{"N": 3000}]})
    templates = os.path.join(folder.name, "templates")
    subprocess.run(["cp", "-r", os.environ["EVOTILE_TEMPLATES"], templates], check=True)
    subprocess.run(["cp", "-r", f"{templates}/axpy/loop", f"{templates}/axpy/slow"], check=True)
    kernel = open(f"{templates}/axpy/slow/kernel.cu").read()
    changed = SLOW["edits"][0]
    open(f"{templates}/axpy/slow/kernel.cu", "w").write(kernel.replace(changed["search"], changed["replace"]))
    described = open(f"{templates}/axpy/slow/solution.json").read().replace('"former_name": "axpy_loop",\n', "")
    open(f"{templates}/axpy/slow/solution.json", "w").write(described)
    repair = edit(changed["replace"], changed["search"], tokens={"prompt": 900, "completion": 100, "cost": 0.5})
    run("repaired", [repair, SHARED, {"genome": "THREADS=32,BLOCKS=16"}, repair],
        "--proposals", "4", "--templates", templates, config="slow.json")
    told = lineage("repaired")
    rows = told["proposals"]
    check([row["decision"] for row in rows[:1]] == ["promote"] and rows[0]["ratio"] > 1.02, f"a faster one: {rows[0]}")
    check(told["best"] == "p1" and told["best_us"] < told["first_us"], f"the best: {told['best']}")
    check((rows[0]["prompt_tokens"], rows[0]["completion_tokens"], rows[0]["cost"]) == (900, 100, 0.5), "tokens are stored")
    check("-        { float sum" in rows[0]["diff"] and f"+        {LINE}" in rows[0]["diff"], f"the diff: {rows[0]['diff']}")
    check(rows[2]["verdict"] == "ok" and rows[2]["solution"] == rows[2]["parent"], f"a genome: {rows[2]}")
    run("genomes", [{"genome": "THREADS=32,BLOCKS=16"}, {"genome": "THREADS=32,BLOCKS=16"}, {"genome": "THREADS=31"},
                    {"genome": "WARPS=31"}])
    genomes = lineage("genomes")["proposals"]
    check(genomes[0]["verdict"] == "ok" and "tried before" in genomes[1]["reason"], f"a genome again: {genomes}")
    check("THREADS" in genomes[2]["reason"] and "WARPS" in genomes[3]["reason"], f"no genome: {genomes}")
    check(told["root"] == "slow" and rows[0]["diff"] in told["diff"], f"the winner against the start: {told.get('diff')}")
    best = json.loads(subprocess.run([EVOTILE, "replay", "repaired", "--json"], capture_output=True, text=True).stdout)
    check("p1" in best["rows"][0]["record"], f"the promoted one is the best: {best['rows'][0]['record']}")
    # What is promoted is what the others see.
    board = json.loads(subprocess.run([EVOTILE, "board", "repaired", "--json"], capture_output=True, text=True).stdout)
    check("p1" in json.dumps(board), "the board has the new solution")
    for verb in (["replay", "repaired"], ["report", "repaired"], ["export", "repaired", "--out", "exported"], ["fsck", "repaired"]):
        ran = subprocess.run([EVOTILE, *verb], capture_output=True, text=True)
        check(ran.returncode == 0, f"{verb}: {ran.stderr}{ran.stdout}")
    ran = subprocess.run([EVOTILE, "resume", "repaired"], capture_output=True, text=True)
    check("finished after 4 proposals" in ran.stderr, ran.stderr)


def any_parent():
    """A solution that was dropped because it is slower may be changed, and one that would not be chosen any more."""
    repair = edit(SLOW["edits"][0]["replace"], LINE + " ", _of="p1")
    run("two_steps", [SLOW, repair, {"genome": "THREADS=64,BLOCKS=8", "_of": "p1"}, edit(LINE, LINE + "   ", _of="loop")], "--proposals", "4",
        "--strategy", "full")
    rows = lineage("two_steps")["proposals"]
    check([row["parent"] for row in rows] == ["loop", "p1", "p1", "loop"], f"parents: {rows}")
    check(rows[0]["decision"] == "revert" and rows[1]["ratio"] > 1.05 and rows[1]["decision"] != "revert", f"a gain of two steps: {rows}")
    check(rows[2]["solution"] == "p1" and rows[2]["verdict"] == "ok", f"a genome of it: {rows[2]}")
    ran = subprocess.run([EVOTILE, "report", "two_steps"], capture_output=True, text=True)
    check(ran.returncode == 0, ran.stderr)


def mixed():
    """Edits of what is there, and whole files beside them."""
    run("mixed", [{"edits": [{"file": "kernel.cu", "search": SIGNATURE, "replace": '#include "part.cuh"\n\n' + SIGNATURE},
                             {"file": "kernel.cu", "search": LINE, "replace": "z[i] = times(ALPHA, x[i]) + y[i];"}],
                   "files": {"part.cuh": "__device__ float times(float a, float b) { return a * b; }\n"}}], "--tune", "0", "--proposals", "1")
    row, = lineage("mixed")["proposals"]
    check(row["verdict"] == "ok" and "+++ b/part.cuh" in row["diff"] and "+#include" in row["diff"], f"{row}")


def costs():
    """Insights name the lines whose accesses cost too much: of a start, and of what a proposal made of it."""
    templates = os.path.join(folder.name, "costs-templates")
    subprocess.run(["cp", "-r", os.environ["EVOTILE_TEMPLATES"], templates], check=True)
    subprocess.run(["cp", "-r", f"{templates}/axpy/loop", f"{templates}/axpy/conflicts"], check=True)
    place = "threadIdx.x % 32 * 32 + threadIdx.x / 32"
    kernel = open(f"{templates}/axpy/conflicts/kernel.cu").read()
    conflicting = kernel.replace(SHARED["edits"][0]["search"], SHARED["edits"][0]["replace"].replace("threadIdx.x]", place + "]"))
    open(f"{templates}/axpy/conflicts/kernel.cu", "w").write(conflicting)
    described = open(f"{templates}/axpy/conflicts/solution.json").read().replace('"former_name": "axpy_loop",\n', "")
    open(f"{templates}/axpy/conflicts/solution.json", "w").write(described)
    write("conflicts.json", {"template": "axpy", "solutions": ["conflicts"], "cases": [{"N": 3000}]})
    repair = {"edits": [{"file": "kernel.cu", "search": f"staged[{place}] = x", "replace": "staged[threadIdx.x] = x"},
                        {"file": "kernel.cu", "search": f"* staged[{place}]", "replace": "* staged[threadIdx.x]"}]}
    run("costs", [repair, {"error": "none"}], "--strategy", "insight", "--templates", templates, "--proposals", "2", config="conflicts.json")
    row = lineage("costs")["proposals"][0]
    check(row["verdict"] == "ok" and row["decision"] == "promote", f"without bank conflicts: {row}")
    first, second = [json.loads(row[0])["insights"]["costs"] for row in query("costs", "SELECT request FROM proposals ORDER BY number")]
    line = 1 + conflicting[:conflicting.index(f"staged[{place}] = x")].count("\n")
    found = [cost for cost in first if "bank" in cost["kind"]]
    check(found and found[0]["file"] == "kernel.cu" and found[0]["line"] in (line, line + 1) and found[0]["degree"] > 8, f"conflicts: {first}")
    check(not [cost for cost in second if "bank" in cost["kind"]], f"no conflicts any more: {second}")


# ---- what is refused ----

LOOP = "for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += BLOCKS * THREADS)"
REFUSED = [
    # edits
    (edit("i", "j"), "refused", "matches"),
    (edit("no such text", ""), "refused", "matches 0 times"),
    (edit("", "x"), "refused", "searches for nothing"),
    (edit(LINE, LINE, file="kernl.cu"), "refused", 'did you mean "kernel.cu"'),
    (edit(LINE, LINE), "refused", "nothing changes"),
    ({"edits": []}, "refused", "1 to 256 edits"),
    ({"edits": [{"file": "kernel.cu"}]}, "refused", 'texts "file", "search" and "replace"'),
    ({"files": {}}, "refused", "at least one file"),
    ({"files": {"kernel.cu": 7}}, "refused", "must be a text"),
    ({"files": {"gone.cu": None}}, "refused", "no file"),
    ({"files": {"solution.json": None}}, "refused", "solution.json is missing"),
    ({"files": {"kernel.cu": None}}, "invalid", "kernel.cu"),
    ({"files": {f"f{i}.cuh": "" for i in range(70)}}, "refused", "at most 64 files"),
    ({"files": {"big.cuh": "x" * (5 << 20)}}, "refused", "4 MB"),
    ({"files": {"solution.json": "{"}}, "invalid", "JSON"),
    # answers
    ({"genome": "THREADS=64", "edits": []}, "refused", "exactly one"),
    ({}, "refused", "exactly one"),
    ({"genome": "THREADS=64", "files": {"a.cuh": ""}}, "refused", "exactly one"),
    ({**edit(LINE, LINE + " "), "files": {"kernel.cu": ""}}, "refused", "kernel.cu is among"),
    ({**edit(LINE, "z[i] = nowhere(x[i]);"), "files": {"new.cuh": "// new\n"}}, "compile_failed", "nowhere"),
    ({"genome": "THREADS=128", "parent": "0" * 32}, "refused", "must be the hash"),
    ({"genome": "THREADS=128", "parent": None}, "refused", "parent"),
    ({"genome": "THREADS=128", "hypothesis": ""}, "refused", "hypothesis"),
    ({"genome": "THREADS=128", "note": 1}, "refused", 'no key "note"'),
    ({"error": "no \u001b[31midea"}, "refused", "gives up: no \\x1b[31midea"),
    ("garbage", "refused", "not valid JSON"),
    ("[1, 2]", "refused", "must be a JSON object"),
    ('{"number": 1e99}', "refused", "number"),
    ('{"hypothesis": "x"}', "refused", "number"),
    # what judges
    ({"files": {"../reference.cu": "x"}}, "refused", "cannot name a file"),
    ({"files": {"../problem.json": "{}"}}, "refused", "cannot name a file"),
    (edit('#include "../plain.cu"\n' + SIGNATURE, "x"), "refused", "matches 0 times"),
    (edit(SIGNATURE, '#include "../reference.cu"\n' + SIGNATURE), "*", "leads out of the template"),
    (edit('"source": "kernel.cu"', '"source": "../reference.cu"', file="solution.json"), "invalid", "own folder"),
    (edit('"source": "kernel.cu"', '"source": "kernel.cu", "reference": {}', file="solution.json"), "invalid", "reference"),
    (edit('"source": "kernel.cu"', '"source": "kernel.cu", "stress": []', file="solution.json"), "invalid", "stress"),
    # what is not computed, or not timed, elsewhere than where one looks
    (edit('"source": "kernel.cu"', '"constraints": [{"require": "N % 8 == 0", "because": "vectors"}], "source": "kernel.cu"', file="solution.json"),
     "invalid", "a probe case of the problem"),
    (edit('"kernel": "axpy", ', '"kernel": "axpy", "when": "N < 1000", ', file="solution.json"), "*", "no launch runs at case"),
    # cheats
    (edit(LOOP, LOOP.replace("i < N", "i < N && i < 1024")), "wrong", ""),  # a sample of the output
    (edit(LINE, "if (i % 7 != 3) " + LINE), "wrong", ""),  # skipped work
    (edit(LINE, "z[i] = x[i] + x[i] + y[i];"), "wrong", "ALPHA"),  # only the usual factor
    (edit("float ALPHA) {", "float ALPHA) {\n    if (N == 3000) return;"), "wrong", "N=3000"),  # none at all where it is timed
    ({"edits": [{"file": "kernel.cu", "search": SIGNATURE, "replace": "#include <cuda_fp16.h>\n" + SIGNATURE},
                {"file": "kernel.cu", "search": LINE,
                 "replace": "z[i] = __half2float(__hfma(__float2half(ALPHA), __float2half(x[i]), __float2half(y[i])));"}]},
     "wrong", "error bound"),  # lower precision
    ({"edits": [{"file": "kernel.cu", "search": SIGNATURE, "replace": "__device__ int done;\n" + SIGNATURE},
                {"file": "kernel.cu", "search": "float ALPHA) {",
                 "replace": "float ALPHA) {\n    if (done && N == 3000) return;\n    if (threadIdx.x == 0 && blockIdx.x == 0) done = 1;"}]},
     "*", ""),  # the output of the call before
    (edit(LINE, "{ " + LINE + " ((float *)x)[i] = 0; }"), "*", ""),  # changes an input
    (edit(LINE, LINE + " z[N] = 0;"), "*", ""),  # behind the end
    (edit(LINE, "asm volatile(\"nonsense;\");"), "compile_failed", ""),
    (edit("THREADS + threadIdx.x", "THREADS + thread"), "compile_failed", ""),
    (edit('"grid": ["BLOCKS", 1, 1]', '"grid": [0, 1, 1]', file="solution.json"), "invalid", ""),
    (edit('"launches": [', '"launches": [], "unused": [', file="solution.json"), "invalid", ""),
]


def refusals():
    script = [step for step, _, _ in REFUSED]
    run("refused", script)
    rows = lineage("refused")["proposals"]
    check(len(rows) == len(script), f"{len(rows)} rows of {len(script)}")
    for (step, verdict, words), row in zip(REFUSED, rows):
        if row["decision"] != "revert" or row["verdict"] in ("ok", None) or \
                (verdict != "*" and row["verdict"] != verdict) or words not in row["reason"]:
            failures.append(f"{json.dumps(step)[:300]}: {verdict}, ...{words}...: {json.dumps(row)[:600]}")
        check("/tmp" not in row["reason"], f"a path of this host: {row['reason']}")
    # Nothing that judges was touched.
    for name in ("problem.json", "reference.cu", "plain.cu", "reference.c"):
        theirs = open(os.path.join(os.environ["EVOTILE_TEMPLATES"], "axpy", name)).read()
        for place in ("template/axpy", "solutions/templates/problem"):
            check(open(f"refused/{place}/{name}").read() == theirs, f"{place}/{name} was changed")


def symbols():
    """An input that is a variable of the module is shared by all calls: a solution may do that with constants alone."""
    as_variable = {"edits": [
        {"file": "kernel.cu", "search": SIGNATURE + "(const float *x, ", "replace": "__device__ float x[1 << 20];\n\n" + SIGNATURE + "("},
        {"file": "solution.json", "search": '"arguments": ["x", ', "replace": '"arguments": ['},
        {"file": "solution.json", "search": '"source": "kernel.cu",', "replace": '"source": "kernel.cu", "symbols": { "x": "x" },'}]}
    for numbers, verdict in ((16384, "ok"), (16385, "invalid")):
        write("numbers.json", {"template": "axpy", "solutions": ["loop"], "cases": [{"N": numbers}]})
        run(f"symbols{numbers}", [as_variable], "--tune", "0", "--proposals", "1", config="numbers.json")
        row = lineage(f"symbols{numbers}")["proposals"][0]
        check(row["verdict"] == verdict, f"{numbers} numbers: {row}")
        check(verdict == "ok" or "may read at most 65536 as a variable" in row["reason"], f"{numbers} numbers: {row}")


# What the schema cannot say: that a parent, a file, a gene or a text exists, and how large all files are together.
BEYOND = ("matches", "did you mean", "nothing changes", "no file", "is missing", "4 MB", "64 files", "must be the hash", "invalid",
          "probe case", "no launch", "is among", "nowhere", "wrong", "compile_failed", "wrote_outside", "leads out", "x\\n", "read_only")


def schema():
    """The schema refuses what the engine refuses as an answer, and accepts the others."""
    try:
        import jsonschema
    except ImportError:
        print("there is no jsonschema: make deps-test")
        return
    whole = json.load(open(os.path.join(os.environ["ROOT_OF_TEST"], "docs/schemas/proposer-1.json")))
    jsonschema.Draft7Validator.check_schema(whole)
    validator = jsonschema.Draft7Validator({**whole, "$ref": "#/definitions/answer"})
    rows = {}
    for number, (step, verdict, words) in enumerate(REFUSED, 1):
        answer = step
        if isinstance(step, str):
            try:
                answer = json.loads(step)
            except ValueError:
                continue
        else:
            answer = {"number": number, "parent": "0" * 32, "hypothesis": "h", **step}
            answer = {key: value for key, value in answer.items() if value is not None or key != "parent"}
        beyond = verdict != "refused" or any(text in words for text in BEYOND)
        gives_up = isinstance(answer, dict) and "error" in answer
        check(validator.is_valid(answer) == (beyond or gives_up), f"the schema says otherwise: {json.dumps(step)[:200]}: {words}")
    for step in (FASTER, SHARED, {"genome": "A=1", "tokens": {"prompt": 1, "completion": 2, "cost": 0.5}}, {"files": {"a.cuh": None}}):
        check(validator.is_valid({"number": 1, "parent": "0" * 32, "hypothesis": "h", **step}), f"refused by the schema: {step}")


# ---- the proposer as a process ----

def processes():
    # It ends before its first answer to 2, writes 3 twice, and answers ahead.
    run("dies", [FASTER, {**edit(LINE, LINE + " "), "_exit": 3}, {"error": "x", "_again": True}, {"error": "y"}],
        "--proposals", "4", "--ahead", "2")
    numbers = [int(row[0]) for row in asked("dies")]
    rows = lineage("dies")["proposals"]
    check([row["number"] for row in rows] == [1, 2, 3, 4] and all(row["decision"] for row in rows), f"{rows}")
    check(numbers.count(2) == 2, f"what it did not answer is asked again: {numbers}")
    text = run("hangs", [None], "--proposals", "1", "--proposer-timeout", "0.2s")
    check("did not answer within 0.2 s" in lineage("hangs")["proposals"][0]["reason"], text)
    text = run("ends", [{"_exit": 5}], "--proposals", "1", status=0)
    write("ends.script", [])
    ran = subprocess.run(command("never", [], "--proposals", "1")[:4] + ["exit 7"] + command("never", [], "--proposals", "1")[5:],
                         capture_output=True, text=True)
    check(ran.returncode == 1 and "ended with status 7, 4 times without an answer" in ran.stderr and
          "evotile resume never" in ran.stderr, ran.stderr)


def full():
    """A run ends when it can hold no more solutions."""
    if not os.environ.get("EVOTILE_LONG"):
        return
    text = run("full", [{"files": {"note.cuh": f"// {n}\n"}} for n in range(280)], "--tune", "0", "--ahead", "3")
    check("has 256 solutions" in text and len(lineage("full")["proposals"]) == 254, text[-500:])
    for verb in ("board", "summary", "report", "fsck"):
        ran = subprocess.run([EVOTILE, verb, "full"], capture_output=True, text=True)
        check(ran.returncode == 0, f"{verb}: {ran.stderr}")
    ran = subprocess.run([EVOTILE, "resume", "full"], capture_output=True, text=True)
    check("is finished after 254 proposals" in ran.stderr, ran.stderr)


def crossover():
    firsts = set()
    for seed in range(1, 5):
        script = [SHARED] + [edit(LINE, LINE + " " * n, _parent=1) for n in range(1, 9)]
        run(f"crossed{seed}", script, "--proposals", str(len(script)), "--seed", str(seed), "--tune", "0")
        two = [row for row in asked(f"crossed{seed}") if row[2] == "2"]
        rows = lineage(f"crossed{seed}")["proposals"]
        check(len(two) == sum(row["other"] is not None for row in rows), f"{two}: {rows}")
        firsts |= {row["other"] for row in rows if row["other"]}
        for row in rows:
            check(row["other"] is None or row["other"] != row["parent"], f"two different parents: {row}")
    check(len(firsts) > 1, f"crossovers of one first parent alone: {firsts}")


def strategies():
    seen = {}
    for strategy in ("free", "insight", "full"):
        run(strategy, [edit("i", "j"), edit("THREADS + threadIdx.x", "THREADS + thread"), edit("i", "k")],
            "--proposals", "3", "--strategy", strategy)
        database = sqlite3.connect(f"{strategy}/run.db")
        seen[strategy] = [json.loads(row[0]) for row in database.execute("SELECT request FROM proposals ORDER BY number")]
        database.close()
    for strategy, requests in seen.items():
        last = requests[2]
        check(len(last["history"]) == (2 if strategy == "full" else 0), f"{strategy}: {last['history']}")
        check((last["insights"] is None) == (strategy == "free"), f"{strategy}: {last['insights']}")
        check(last["seed"] != requests[1]["seed"] and last["strategy"] == strategy, "seed and strategy")
        if strategy != "free":
            fault = last["insights"]["faults"][0]
            check(fault["proposal"] == 2 and fault["file"] == "kernel.cu" and fault["line"] == 4, f"{strategy}: {fault}")
        try:
            import jsonschema
            schema = json.load(open(os.path.join(os.environ["ROOT_OF_TEST"], "docs/schemas/proposer-1.json")))
            validator = jsonschema.Draft7Validator({**schema, "$ref": "#/definitions/request"})
            for request in requests:
                failures.extend(f"{strategy}: {error.json_path}: {error.message[:200]}" for error in validator.iter_errors(request))
        except ImportError:
            print("there is no jsonschema: make deps-test")


# ---- the log ----

ADVICE = '</script><b>advice</b> **of** the | proposer'
ADVISED = {"edits": [*SHARED["edits"], {"file": "solution.json", "search": '"genes"', "replace":
           f'"insights": [{{"when": "MEASURED_REGISTERS < 250", "favour": {{"THREADS": "lower"}}, "because": "{ADVICE}"}}], "genes"'}],
           "tokens": {"prompt": 900, "completion": 100, "cost": 0.25}}
LOGGED = [ADVISED, edit("i", "j"), edit("THREADS + threadIdx.x", "THREADS + thread"), {"genome": "THREADS=32,BLOCKS=16"},
          {"files": {"note.cuh": "// a note\n++ b/forged.cu\n", "kernel.cu": None}}, edit("staged[4096]", "staged[4097]", _of="p1")]


def counted_change(name, parent, child):
    """Files, lines added and removed between two solutions of a run, without diff."""
    files = added = removed = 0
    places = [f"{name}/template/axpy/{solution}" for solution in (parent, child)]
    for file in sorted({file for place in places for file in os.listdir(place)}):
        texts = [open(f"{place}/{file}").read().splitlines() if os.path.exists(f"{place}/{file}") else [] for place in places]
        lines = [line[0] for line in difflib.ndiff(*texts)]
        files += texts[0] != texts[1]
        added += lines.count("+")
        removed += lines.count("-")
    return files, added, removed


def log():
    run("logged", LOGGED, "--proposals", str(len(LOGGED)), "--tune", "1")
    told = lineage("logged")
    rows = {row["number"]: row for row in told["proposals"]}
    for row in rows.values():
        if row["solution"] and row["verdict"] == "ok" and not row.get("genome"):
            change = row["change"]
            check((len(change["files"]), change["added"], change["removed"]) == counted_change("logged", row["parent"], row["solution"]),
                  f"the change of {row['solution']}: {change}")
        # What follows: the proposals that change it, or have it as a second parent.
        made = row.get("goal") is not None and not row.get("genome")
        follow = [other["number"] for other in rows.values() if made and row["solution"] in (other["parent"], other["other"])]
        check(row["next"] == follow, f"next of {row['number']}: {row['next']}, not {follow}")
        check((row["numbers"] is not None) == (row["verdict"] == "ok"), f"numbers of {row['number']}: {row['numbers']}")
        check(row["decision"] == "revert" or "as fast as the champion" in row["reason"] or "best genome" in row["reason"], f"why: {row}")
    check(told["started_with"][0]["next"] == [n for n, row in rows.items() if "loop" in (row["parent"], row["other"])], "next of the start")
    # Numbers are those of the best trial that the store has.
    for row in [*rows.values(), told["started_with"][0]]:
        numbers = row["numbers"]
        if numbers is None:
            continue
        where = f"goal = {row.get('goal', 0)}" if not row.get("genome") else f"number = {row['trial']}"
        best = query("logged", "SELECT number, genome, score_us, registers, smem_bytes, spill_bytes, ctas_per_sm, occupancy, told FROM trials "
                     f"WHERE {where} AND verdict = 'ok' AND raced = 0 ORDER BY score_us, number LIMIT 1")[0]
        check(tuple(numbers[key] for key in ("trial", "genome", "score_us", "registers", "smem_bytes", "spill_bytes", "ctas_per_sm",
                                             "occupancy")) == best[:8], f"numbers: {numbers}: {best}")
        cases = query("logged", f"SELECT p50_us, p90_us FROM cases WHERE event = {best[8]} ORDER BY number")
        check([(one["p50_us"], one["p90_us"]) for one in numbers["cases"]] == cases, f"cases: {numbers}: {cases}")
        check(numbers["cases"][0]["case"] == "N=3000" and row["profile"]["findings"], f"findings: {row['profile']}")
    # An insight that reads what was measured holds without a profile, too.
    check(rows[1]["profile"]["advice"] == [f"lower THREADS: {ADVICE}"], f"advice: {rows[1]['profile']}")
    check(rows[3]["profile"]["stopped_at"] == "compile" and rows[3]["profile"]["faults"][0]["line"] == 4, f"a fault: {rows[3]['profile']}")
    check(rows[2]["profile"] is None and rows[2]["change"] is None, f"refused: {rows[2]}")
    check(rows[4]["change"] == {"genome": "THREADS=32,BLOCKS=16"}, f"a genome: {rows[4]['change']}")
    check(rows[6]["parent"] == "p1", f"a child of p1: {rows[6]}")
    summary = told["summary"]
    for key, of in (("decision", "decisions"), ("verdict", "verdicts")):
        check(summary[of] == collections.Counter(row[key] for row in rows.values()), f"{of}: {summary}")
    check((summary["prompt_tokens"], summary["completion_tokens"], summary["cost"]) == (900, 100, 0.25), f"{summary}")
    # A profile's findings and measures take the place of the trial's.
    ran = subprocess.run([EVOTILE, "profile", "logged", "--solution", "p1", "--device", "emulated:sm_90", "--json"], capture_output=True, text=True)
    check(ran.returncode == 0, f"profile: {ran.stderr}")
    profiled, = [row["profile"] for row in lineage("logged")["proposals"] if row["number"] == 1]
    shown = [finding["text"] for case in json.loads(ran.stdout)["cases"] for finding in case["findings"]]
    check([finding["text"] for finding in profiled["findings"]] == shown and profiled["measures"]["MEASURED_REGISTERS"] > 0,
          f"profiled: {profiled}: {shown}")
    printed(rows, told)


def printed(rows, told):
    """What is printed says the same, and what the proposer wrote is text."""
    texts = {name: subprocess.run([EVOTILE, *command], capture_output=True, text=True).stdout for name, command in (
        ("text", ["summary", "logged", "--lineage"]), ("markdown", ["summary", "logged", "--lineage", "--markdown"]),
        ("report", ["report", "logged", "--markdown"]), ("json", ["report", "logged", "--json"]))}
    subprocess.run([EVOTILE, "report", "logged", "-o", "logged.html"], capture_output=True)
    page = open("logged.html").read()
    for number, row in rows.items():
        check(f"# Iteration {number}: " in texts["markdown"] and f"#### Iteration {number}: " in texts["report"], f"iteration {number}")
        check(html.escape(row["reason"]).replace("&#x27;", "&#39;") in page, f"the reason of {number} is not in the page: {row['reason']}")
        check(row["decision"] != "revert" or row["reason"] in texts["text"], f"the reason of {number}: {row['reason']}")
    inner = json.loads(texts["json"])["runs"][0]["lineage"]
    check([row["number"] for row in inner["proposals"]] == list(rows) and inner["best"] == told["best"], "the report has the lineage")
    check("<b>advice" not in page and "&lt;b&gt;advice" in page, "advice is no markup")
    check(r"- advice: lower THREADS: \</script>\<b>advice\</b> \*\*of\*\* the \| proposer" in texts["markdown"], "advice is no mark")
    # The figures stay when the sources are gone.
    os.rename("logged/template", "logged/gone")
    gone = lineage("logged")["proposals"][0]
    os.rename("logged/gone", "logged/template")
    check(gone["numbers"]["registers"] == rows[1]["numbers"]["registers"] and gone["profile"]["missing"], f"without its template: {gone['profile']}")


# ---- proposals of several runs ----

NOT_COMPILED = {"refused", "invalid", "compile_failed", "over_limit", "lost", "filtered"}
NOT_RUN = NOT_COMPILED | {"timeout", "crashed", "launch_failed", "unverified"}


def counted(names):
    """The figures again, from what the runs print of each proposal."""
    found = {}
    for name in names:
        told = lineage(name)
        strategies_of = dict(query(name, "SELECT number, json_extract(request, '$.strategy') FROM proposals"))
        of_run = {}
        for row in told["proposals"]:
            if row["decision"] not in ("revert", "keep", "promote"):
                continue
            one = found.setdefault(strategies_of[row["number"]], collections.Counter(bests=[], speedups=[], names=set()))
            speedups = of_run.setdefault(strategies_of[row["number"]], [1])
            one["names"].add(name)
            one["proposals"] += 1
            one["compiled"] += row["verdict"] not in NOT_COMPILED
            one["ran"] += row["verdict"] not in NOT_RUN
            one["correct"] += row["verdict"] == "ok"
            one["tokens"] += row["prompt_tokens"] + row["completion_tokens"]
            if row["verdict"] == "ok":
                one["speedups"].append(told["first_us"] / row["score_us"])
                speedups.append(told["first_us"] / row["score_us"])
        for strategy, speedups in of_run.items():
            found[strategy]["bests"].append(max(speedups))
    return found


def scores():
    run("scored_free", [edit(LINE, LINE + " "), edit("i", "j"), SLOW], "--proposals", "3", "--tune", "1", "--strategy", "free")
    run("scored_full", [SHARED, edit(LINE, "if (i % 7 != 3) " + LINE), {"error": "none"}], "--proposals", "3", "--tune", "1")
    names = ["scored_free", "scored_full", *(name for name in ("repaired", "refused", "logged", "slow") if os.path.isdir(name))]
    ran = subprocess.run([EVOTILE, "summary", *names, "--proposals", "--json"], capture_output=True, text=True)
    check(ran.returncode == 0, ran.stderr)
    wanted = counted(names)
    rows = json.loads(ran.stdout)
    check(len(rows) == len(wanted) and all(row["proposer"] == "proposer.py" for row in rows), f"{rows}")
    for row in rows:
        one = wanted[row["strategy"]]
        for key in ("proposals", "compiled", "ran", "correct", "tokens"):
            check(row[key] == one[key], f"{key}: {row}: {one}")
        check(row["runs"] == len(one["names"]) and row["speedups"] == len(one["speedups"]), f"{row}: {one}")
        for key, figure in (("median_speedup", statistics.median(one["speedups"])), ("best_speedup", max(one["speedups"])),
                            ("median_best", statistics.median(one["bests"]))):
            check(abs(row[key] / figure - 1) < 1e-9, f"{key}: {row[key]}, not {figure}")
    ran = subprocess.run([EVOTILE, "summary", "scored_free", "--proposals", "--markdown"], capture_output=True, text=True)
    check("| free | proposer.py | 1 | 3 | 2 (67 %) | 2 (67 %) | 2 (67 %) |" in ran.stdout, f"Markdown: {ran.stdout}{ran.stderr}")


# ---- killing ----

KILLED = [SHARED, edit("i", "j"), {"genome": "THREADS=32,BLOCKS=2"}, edit(LINE, LINE + "  "), SLOW, {"error": "none"},
          edit(LINE, "if (i % 7 != 3) " + LINE), {"genome": "THREADS=128,BLOCKS=32"}, edit(LINE, LINE + "    ", _of="loop")]


def shown(name):
    told = lineage(name)
    for part in (told["summary"], *told["proposals"]):
        part.pop("seconds")
    trials = query(name, "SELECT number, goal, genome, operator, verdict, score_us FROM trials ORDER BY number")
    return json.dumps(told, sort_keys=True), trials


def kills():
    run("whole", KILLED)
    wanted = shown("whole")
    requests = {row[0]: row[1] for row in asked("whole")}
    last = query("whole", PROGRESS)[0][0]
    every = 1 if os.environ.get("EVOTILE_LONG") else 11
    for point in range(1, last, every):
        name = f"killed{point}"
        child = subprocess.Popen(command(name, KILLED, "--proposals", str(len(KILLED))), stderr=subprocess.DEVNULL)
        while child.poll() is None and (query(name, PROGRESS) or [(0,)])[0][0] < point:
            pass
        child.send_signal(signal.SIGKILL)
        child.wait()
        answered = {str(row[0]) for row in query(name, "SELECT number FROM proposals WHERE answer IS NOT NULL")}
        before = len(asked(name)) if os.path.exists(f"{name}.log") else 0
        ran = subprocess.run([EVOTILE, "resume", name, "--compile-workers", "1"], capture_output=True, text=True)
        check(ran.returncode == 0, f"{name}: {ran.stderr}")
        for number, digest, _ in asked(name)[before:]:
            check(number not in answered, f"{name}: proposal {number} is asked again, whose answer is stored")
        for number, digest, _ in asked(name):
            check(requests[number] == digest, f"{name}: the request {number} differs")
        check(shown(name) == wanted, f"{name} has another lineage")
    # A process that is killed between config.json and the store leaves a solution that the store does not know.
    subprocess.run(["cp", "-r", "whole", "extra"], check=True)
    subprocess.run(["cp", "-r", "extra/template/axpy/loop", "extra/template/axpy/p10"], check=True)
    config = open("extra/config.json").read()
    known = ",".join(json.dumps(name) for name in query("whole", "SELECT value FROM meta WHERE name = 'solutions'")[0][0].split(","))
    check(known in config, f"{known}: {config}")
    open("extra/config.json", "w").write(config.replace(known, known + ',"p10"'))
    write("whole.script", KILLED + [edit(LINE, LINE + "   ")])
    ran = subprocess.run([EVOTILE, "resume", "extra", "--proposals", "10", "--compile-workers", "1"], capture_output=True, text=True)
    check(ran.returncode == 0 and len(lineage("extra")["proposals"]) == 10, f"one solution too many: {ran.stderr}")


parts = [decisions, any_parent, mixed, costs, refusals, symbols, schema, processes, full, crossover, strategies, log, scores, kills]
chosen = [part for part in parts if len(sys.argv) < 3 or part.__name__ in sys.argv[2:]]
for part in chosen:
    part()
print("\n".join(failures) or f"{len(chosen)} parts")
sys.exit(1 if failures else 0)
