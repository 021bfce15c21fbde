"""See mutate_test.sh."""
import json
import os
import subprocess
import tempfile

import proposals

STARTS = {"softmax_f32": {"ROWS": 16, "COLS": 100}, "rms_norm": {"ROWS": 16, "COLS": 100}, "gelu_product": {"M": 20, "N": 40, "K": 30}}
# What must be found on a start, since its speed depends on it.
EXPECTED = {
    "softmax_f32": {"vectorize", "stage_in_shared", "warp_shuffle", "fast_functions", "hoist_division", "restrict"},
    "rms_norm": {"vectorize", "warp_shuffle", "reciprocal_root", "hoist_division", "restrict"},
    "gelu_product": {"vectorize", "coarsen", "tile_in_shared", "unroll", "restrict", "block_sizes"},
}
# What must be found on what an operator made of a start: an order that leads on.
CHAINS = {
    "softmax_f32": [("unroll", "vectorize", "keep_in_registers", "warp_shuffle", "hoist_division"), ("read_only", "vectorize", "keep_in_registers", "restrict")],
    "rms_norm": [("unroll", "vectorize", "keep_in_registers", "warp_shuffle"), ("reciprocal_root", "warp_shuffle", "vectorize", "restrict", "keep_in_registers")],
    "gelu_product": [("coarsen", "coarsen", "tile_in_shared", "restrict"), ("tile_in_shared", "coarsen", "coarsen", "launch_bounds"),
                     ("unroll", "coarsen", "tile_in_shared", "coarsen"), ("vectorize", "coarsen", "coarsen", "restrict")],
}
WALKS, DEPTH = (40, 6) if os.environ.get("EVOTILE_LONG", "0") not in ("", "0") else (1, 4)


def names():
    listed = subprocess.run([proposals.program("mutate"), "--list"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if not line.startswith(" ")]


def singles(parent, operator):
    """The proposals of one operator alone, each once: the history makes it go through them."""
    history, found = [], []
    with proposals.Proposer(["mutate", "--only", operator]) as mutate:
        for seed in range(200):
            answer = mutate.ask(proposals.request(parent, seed=seed, history=history))
            if "error" in answer:
                assert "no operator applies" in answer["error"], answer
                break
            if "; " in answer["hypothesis"]:  # two of them at once: the single ones are used up when this is all that is left
                if seed > 40:
                    break
                continue
            assert answer["hypothesis"] not in [entry["hypothesis"] for entry in history], "proposed twice"
            history.append({"number": seed, "parent": parent["solution" if seed % 2 else "hash"], "hypothesis": answer["hypothesis"], "verdict": "ok"})
            found.append(proposals.apply(parent["files"], answer))
    return found


def chain(parent, operators):
    """One operator after another, each of which must apply."""
    for operator in operators:
        found = singles(parent, operator)
        assert found, f"{operator} does not apply any more: {operators}"
        parent = proposals.as_parent(found[0])
    return parent["files"]


def walk(parent, number):
    """Edits of edits, DEPTH answers long."""
    found = []
    with proposals.Proposer(["mutate"]) as mutate:
        for step in range(DEPTH):
            answer = mutate.ask(proposals.request(parent, number=step, seed=1000 * number + step))
            if "error" in answer:
                break
            parent = proposals.as_parent(proposals.apply(parent["files"], answer))
            found.append(parent["files"])
    return found


# Two children of a start, by their operators, and what shows that a child of both has both.
CROSSED = [("softmax_f32", "vectorize", "load_pack", "warp_shuffle", "__shfl_xor_sync"),
           ("rms_norm", "vectorize", "load_pack", "warp_shuffle", "__shfl_xor_sync"),
           ("rms_norm", "reciprocal_root", "rsqrtf", "restrict", "__restrict__"),
           ("gelu_product", "register_limit", "maxrregcount", "coarsen", "live"),
           ("gelu_product", "tile_in_shared", "a_tile", "coarsen", "each")]


def check_crossover():
    """A child of two parents has what both have; what only removes is no crossover."""
    crossed = {}
    for number, (problem, first_operator, first_mark, second_operator, second_mark) in enumerate(CROSSED):
        start = proposals.read_solution(f"templates/{problem}/start")
        first, second = (proposals.as_parent(singles(start, operator)[0]) for operator in (first_operator, second_operator))
        with proposals.Proposer(["mutate"]) as mutate:
            for parents in ((first, second), (second, first)):
                answer = mutate.ask(proposals.request(*parents, seed=number))
                assert answer["parent"] == parents[0]["hash"], "the first is changed"
                assert answer["hypothesis"].endswith("as the other parent does"), answer
                files = proposals.apply(parents[0]["files"], answer)
                text = "".join(files.values())
                assert first_mark in text and second_mark in text, f"{first_operator} and {second_operator}: {answer}"
                assert files not in (first["files"], second["files"])
                crossed[(problem, f"{parents[0] is first} of {first_operator} and {second_operator}")] = files
                tried = [{"number": 1, "parent": parents[0]["hash"], "hypothesis": answer["hypothesis"], "verdict": "ok"}]
                again = mutate.ask(proposals.request(*parents, seed=number, history=tried))
                assert again["hypothesis"] != answer["hypothesis"], "proposed twice"
            # The start has nothing that its child lacks, and the only step from the start to a child is that child.
            for parents in ((first, start), (start, first)):
                answer = mutate.ask(proposals.request(*parents, seed=number))
                assert answer["parent"] == parents[0]["hash"] and "other parent" not in answer["hypothesis"], answer
    return crossed


def check_same():
    """The same requests have the same answers, in another process and another order."""
    parent = proposals.read_solution("templates/softmax_f32/start")
    questions = [proposals.request(parent, number=n, seed=n * 77) for n in range(30)]
    answers = []
    for order in (questions, questions[::-1]):
        with proposals.Proposer(["mutate"]) as mutate:
            answers.append({answer["number"]: json.dumps(answer) for answer in map(mutate.ask, order)})
    assert answers[0] == answers[1]
    assert len(set(answers[0].values())) > 10, "seeds make a difference"


def check_refusals():
    parent = proposals.read_solution("templates/softmax_f32/start")
    with proposals.Proposer(["mutate"]) as mutate:
        bad = {**parent, "files": {"kernel.cu": "int a;"}}
        assert "solution.json" in mutate.ask(proposals.request(bad))["error"]
        bad = {**parent, "files": {**parent["files"], "kernel.cu": "int a; // __global__ void f() {}"}}
        assert "no kernel" in mutate.ask(proposals.request(bad))["error"]
        assert "one JSON object" in mutate.ask("nonsense")["error"]
        assert mutate.close() == 0
    done = subprocess.run([proposals.program("mutate"), "--only", "nothing"], capture_output=True, text=True)
    assert done.returncode == 2 and "--list" in done.stderr


def main():
    check_same()
    check_refusals()
    crossed = check_crossover()
    total = 0
    for problem, case in STARTS.items():
        parent = proposals.read_solution(f"templates/{problem}/start")
        candidates, used = {}, set()
        for operator in names():
            for number, files in enumerate(singles(parent, operator)):
                candidates[f"{operator} {number}"] = files
                used.add(operator)
        assert EXPECTED[problem] <= used, f"{problem}: {EXPECTED[problem] - used} do not apply"
        for operators in CHAINS[problem]:
            candidates[" ".join(operators)] = chain(parent, operators)
        for number in range(WALKS):
            for step, files in enumerate(walk(parent, number)):
                candidates[f"walk {number}.{step}"] = files
        candidates.update({name: files for (of, name), files in crossed.items() if of == problem})
        with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
            json.dump({"template": f"{problem}/start", "cases": [case]}, config)
            config.flush()
            judge = proposals.Judge(config.name)
            answers = judge.judge_all(candidates, "emulated")
            assert judge.close() == 0
        bad = {name: answer for name, answer in answers.items() if answer["verdict"] != "ok"}
        assert not bad, f"{problem}: {bad}"
        total += len(answers)
    print(f"{total} edits are right")


main()
