"""See llm_run_test.sh."""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile

import proposals
from stub import KEY, Stub, answers, stream

sys.path.insert(0, os.path.join(proposals.ROOT, "tests/evolve"))
from run_rows import PROGRESS, query  # noqa: E402

LINE = "z[i] = ALPHA * x[i] + y[i];"


def reply(hypothesis, search, replace):
    return f"HYPOTHESIS: {hypothesis}\nFILE: kernel.cu\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


REPLIES = [reply("a fused multiply-add", LINE, "z[i] = fmaf(ALPHA, x[i], y[i]);"), "I have no idea.",
           reply("a part is enough", "i < N;", "i < N / 2;"), reply("loads past the first cache", "y[i]", "__ldcg(&y[i])"),
           reply("an error of syntax", "threadIdx.x", "thread")]


class Server:
    """A stub that answers each question with a reply of its own, in the order in which they came first, and counts them."""

    def __init__(self):
        self.questions, self.asked = [], []
        self.stub = Stub(self.answer)

    def answer(self, handler):
        question = json.dumps(self.stub.bodies[-1], sort_keys=True)
        if question not in self.questions:
            self.questions.append(question)
        self.asked.append(self.questions.index(question) + 1)
        answers(stream(REPLIES[min(self.asked[-1], len(REPLIES)) - 1]))(handler)


def environment(server=None):
    more = {"EVOTILE_LLM_URL": server.stub.url, "EVOTILE_LLM_MODEL": "stub", "EVOTILE_LLM_KEY": KEY} if server else {}
    return {**os.environ, "EVOTILE_TEMPLATES": os.path.join(proposals.ROOT, "tests/templates"), "EVOTILE_CACHE": os.path.abspath("cache"), **more}


def command(name, *options):
    proposer = " ".join([proposals.program("llm"), *options])
    return [os.environ["EVOTILE"], "evolve", "config.json", "--proposer", f"exec {proposer}", "--strategy", "full", "--proposals", str(len(REPLIES)),
            "--tune", "1", "--device", "emulated:sm_90", "--compile-workers", "1", "--out", name]


def content(name):
    """What a run holds, without times."""
    return (query(name, "SELECT number, parent, other, request, answer, solution, hash, hypothesis, diff, verdict, reason, score_us, ratio, decision, "
                        "prompt_tokens, completion_tokens FROM proposals ORDER BY number"),
            query(name, "SELECT number, goal, genome, operator, verdict, score_us FROM trials ORDER BY number"))


def recorded(path):
    """The proposals that a file of --record has whole."""
    if not os.path.exists(path):
        return []
    text = open(path).read()
    return [json.loads(line)["number"] for line in text[:text.rfind("\n") + 1].splitlines()[1:]]


def finish(arguments, server=None):
    ran = subprocess.run(arguments, capture_output=True, text=True, env=environment(server))
    assert ran.returncode == 0, ran.stderr
    return ran.stderr


def check_key_is_nowhere(*texts):
    for text in texts:
        assert KEY not in text, text
    for folder, _, names in os.walk("."):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                assert KEY.encode() not in file.read(), f"the key is in {folder}/{name}"


def test_record_and_replay(server):
    """A replayed run is the recorded one: every request, answer, trial and decision."""
    log = finish(command("whole", "--record", "whole.exchanges"), server)
    assert server.asked == [1, 2, 3, 4, 5] and set(server.stub.keys) == {f"Bearer {KEY}"}, server.asked
    rows = content("whole")[0]
    assert [row[9] for row in rows] == ["ok", "refused", "wrong", "ok", "compile_failed"], [(row[9], row[10]) for row in rows]
    assert all(row[14] == 1000 and row[15] == 100 for row in rows), "tokens, also of a reply that is no answer"
    replayed = finish(command("replayed", "--replay", "whole.exchanges"))
    assert len(server.asked) == 5, "a replay asks no server"
    for one, other in zip(content("whole"), content("replayed")):
        for row, again in zip(one, other):
            assert row == again, f"{row}\nis not\n{again}"
    check_key_is_nowhere(log, replayed)


def kill_at(server, name, point):
    child = subprocess.Popen(command(name, "--record", f"{name}.exchanges"), stderr=subprocess.DEVNULL, env=environment(server), start_new_session=True)
    while child.poll() is None and (query(name, PROGRESS) or [(0,)])[0][0] < point:
        pass
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def test_kills(server):
    """A run whose processes are all killed asks nothing again that it had stored or recorded, and ends as the whole one."""
    wanted, last = content("whole"), query("whole", PROGRESS)[0][0]
    points = random.Random(7).sample(range(1, last), min(last - 1, 50 if os.environ.get("EVOTILE_LONG") else 2))
    for point in points:
        name = f"killed{point}"
        kill_at(server, name, point)
        have = set(recorded(f"{name}.exchanges"))
        stored = {row[0] for row in query(name, "SELECT number FROM proposals WHERE answer IS NOT NULL")}
        assert stored <= have, f"{name}: {stored - have} are used and not recorded"
        before = len(server.asked)
        finish([os.environ["EVOTILE"], "resume", name, "--compile-workers", "1"], server)
        again = have & set(server.asked[before:])
        assert not again, f"{name}: {again} are paid for twice"
        assert content(name) == wanted, f"{name} differs from the whole run"
        numbers = recorded(f"{name}.exchanges")
        assert numbers == [1, 2, 3, 4, 5], f"{name}: {numbers}"
        shutil.rmtree(name)
    assert len(server.questions) == 5, "a question changes with the way a run goes"
    print(f"{len(points)} points of {last - 1}")


def main():
    with tempfile.TemporaryDirectory(prefix="evotile-llm-run-") as folder:
        os.chdir(folder)
        with open("config.json", "w") as out:
            json.dump({"template": "axpy", "solutions": ["loop"], "cases": [{"N": 3000}]}, out)
        server = Server()
        test_record_and_replay(server)
        test_kills(server)
        server.stub.close()


if __name__ == "__main__":
    main()
