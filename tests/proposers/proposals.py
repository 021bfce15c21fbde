"""What the tests of the proposers share: requests, and answers applied to a parent's files as evotile does it.

    import proposals
    parent = proposals.read_solution("templates/softmax_f32/start")
    with proposals.Proposer(["mutate"]) as mutate:
        answer = mutate.ask(proposals.request(parent, seed=7))
    files = proposals.apply(parent["files"], answer)
"""
import hashlib
import json
import os
import subprocess

ROOT = os.environ["ROOT"]
BUILD = os.environ.get("BUILD", "build")


def program(name):
    return os.path.join(ROOT, BUILD, "proposers", name)


def hash_of(files):
    return hashlib.md5(json.dumps(files, sort_keys=True).encode()).hexdigest()


def read_solution(folder):
    folder = os.path.join(ROOT, folder)
    files = {}
    for name in sorted(os.listdir(folder)):
        files[name] = open(os.path.join(folder, name)).read()
    return {"solution": os.path.basename(folder), "hash": hash_of(files), "files": files, "genome": "THREADS=256", "verdict": "ok",
            "score_us": 12.5, "resources": {"registers": 32}, "hypothesis": "the start"}


def as_parent(files):
    return {"solution": "child", "hash": hash_of(files), "files": files, "genome": "", "verdict": "ok", "score_us": None, "resources": {}, "hypothesis": ""}


def request(*parents, number=1, seed=1, strategy="full", history=(), insights=None, about="softmax of rows"):
    return {"type": "propose", "protocol": 1, "number": number, "seed": seed, "strategy": strategy,
            "task": {"problem": "softmax_f32", "about": about,
                     "device": {"name": "NVIDIA H200", "compute_capability": "9.0", "sm_count": 132}, "limits": {"smem_bytes": 232448},
                     "cases": [{"ROWS": 16, "COLS": 100}], "problem_json": "{ \"format\": 2 }",
                     "reference": {"file": "reference.cu", "text": "// y = softmax(x)\n"}, "bounds": {"memory_us": 7.1}},
            "parents": list(parents), "history": list(history), "insights": insights}


class Proposer:
    """A proposer that runs, with its pipes."""

    def __init__(self, command, environment=None, **more):
        self.process = subprocess.Popen([program(command[0]), *command[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **(environment or {})}, **more)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, question):
        self.process.stdin.write((question if isinstance(question, str) else json.dumps(question)) + "\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        assert line.endswith("\n"), f"no answer, but {line!r}"
        return json.loads(line)

    def ask(self, question):
        self.send(question)
        return self.receive()

    def close(self):
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        status = self.process.wait(60)
        self.process.stdout.close()
        return status


def occurrences(text, search):
    count, at = 0, text.find(search)
    while at >= 0:
        count, at = count + 1, text.find(search, at + 1)
    return count


def apply(files, answer):
    """The files of the child. Fails where evotile refuses the answer."""
    kinds = [kind for kind in ("genome", "edits", "files") if kind in answer]
    assert len(kinds) == 1, f"one of genome, edits and files: {answer}"
    assert answer["hypothesis"].strip() and "\n" not in answer["hypothesis"]
    after = dict(files)
    for edit in answer.get("edits", []):
        assert occurrences(files[edit["file"]], edit["search"]) == 1, f"a search text is not once in the parent: {edit}"
        assert occurrences(after[edit["file"]], edit["search"]) == 1, f"a search text is not once, one edit after another: {edit}"
        after[edit["file"]] = after[edit["file"]].replace(edit["search"], edit["replace"], 1)
    for name, text in answer.get("files", {}).items():
        if text is None:
            del after[name]
        else:
            after[name] = text
    if kinds != ["genome"]:
        assert after != files, "nothing is changed"
    return after


class Judge:
    """`evotile serve` on a pipe, for one problem."""

    def __init__(self, config, device="emulated:sm_90"):
        self.process = subprocess.Popen([os.environ["EVOTILE"], "serve", config, "--device", device, "--templates", os.path.join(ROOT, "templates")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def judge_all(self, candidates, level):
        """The answers to {id: files}, by id."""
        for name, files in candidates.items():
            print(json.dumps({"type": "evaluate", "id": name, "solution": {"files": files}, "level": level}), file=self.process.stdin, flush=True)
        answers = {}
        while len(answers) < len(candidates):
            message = json.loads(self.process.stdout.readline())
            answers[message["id"]] = message["answer"] if message["type"] == "answer" else {"verdict": "refused", "reason": message["error"]}
        return answers

    def close(self):
        self.process.stdin.close()
        return self.process.wait(60)
