"""See llm_test.sh."""
import json
import os
import resource
import subprocess
import tempfile
import threading
import time

import proposals
from stub import KEY, Stub, answers, chunk, end, stream

PARENT = proposals.read_solution("templates/softmax_f32/start")
REPLY = ("HYPOTHESIS: multiply by the reciprocal\nFILE: kernel.cu\n<<<<<<< SEARCH\n        to[column] = expf(from[column] - largest) / sum;\n=======\n"
         "        to[column] = expf(from[column] - largest) * (1.0f / sum);\n>>>>>>> REPLACE\n")


def refuses(status, message="no", headers=()):
    return answers(json.dumps({"error": {"message": message}}), status, "application/json", headers)


SEEN = []  # everything that llm printed, for the key


def limit_files(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def run_llm(stub, *options, questions=None, key=KEY, environment=None, status=0, file_limit=None):
    """The answers to questions, and what was printed on standard error."""
    questions = questions or [proposals.request(PARENT)]
    settings = {"EVOTILE_LLM_URL": stub.url if stub else "", "EVOTILE_LLM_MODEL": "test-model", "EVOTILE_LLM_KEY": key, **(environment or {})}
    done = subprocess.run([proposals.program("llm"), "--backoff", "0.01", *options], input="".join(json.dumps(q) + "\n" for q in questions),
                          capture_output=True, text=True, env={**os.environ, **settings}, timeout=60, restore_signals=False,
                          preexec_fn=(lambda: limit_files(file_limit)) if file_limit else None)
    assert done.returncode == status, (done.returncode, done.stderr)
    SEEN.extend([done.stdout, done.stderr])
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def with_stub(*script, **more):
    options = more.pop("options", ())
    stub = Stub(*script)
    try:
        found, errors = run_llm(stub, *options, **more)
    finally:
        stub.close()
    return found, errors, stub


def check_stream():
    (answer,), _, stub = with_stub(answers(stream(REPLY)))
    files = proposals.apply(PARENT["files"], answer)
    assert "* (1.0f / sum)" in files["kernel.cu"] and answer["parent"] == PARENT["hash"]
    assert answer["tokens"] == {"prompt": 1000, "completion": 100}, answer
    body = stub.bodies[0]
    assert stub.keys == [f"Bearer {KEY}"] and stub.paths == ["/v1/chat/completions"]
    assert body["model"] == "test-model" and body["stream"] is True and body["stream_options"] == {"include_usage": True}
    assert PARENT["files"]["kernel.cu"] in body["messages"][1]["content"] and "HYPOTHESIS" in body["messages"][0]["content"]
    # one JSON object in place of a stream, with no count of tokens; prices
    whole = json.dumps({"choices": [{"message": {"content": REPLY}, "finish_reason": "stop"}]})
    (answer,), _, _ = with_stub(answers(whole, kind="application/json"), options=["--prompt-price", "1", "--completion-price", "2"])
    tokens = answer["tokens"]
    assert tokens["completion"] == (len(REPLY) + 3) // 4 and tokens["prompt"] > 500
    assert abs(tokens["cost"] - (tokens["prompt"] + 2 * tokens["completion"]) / 1e6) < 1e-12
    # members of the body are added and taken away
    _, _, stub = with_stub(answers(stream(REPLY)), options=["--extra", '{"max_tokens": null, "max_completion_tokens": 5, "seed": 3}', "--temperature", "0.5"])
    assert "max_tokens" not in stub.bodies[0] and stub.bodies[0]["max_completion_tokens"] == 5 and stub.bodies[0]["temperature"] == 0.5
    # a slow stream, a byte at a time
    def dribble(handler):
        data = stream(REPLY).encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        for at in range(len(data)):
            handler.wfile.write(data[at:at + 1])
    (answer,), _, _ = with_stub(dribble)
    assert "edits" in answer


def check_retries():
    half = stream(REPLY)[:200]
    (answer,), errors, stub = with_stub(refuses(503, "busy"), answers(half), answers(half, length=5000), refuses(500), answers(stream(REPLY)))
    assert "edits" in answer and len(stub.bodies) == 5, answer
    assert errors.count("trying again") == 4 and "busy" in errors
    assert answer["tokens"]["prompt"] > 1000 and answer["tokens"]["completion"] > 100, "cut replies are paid, too"
    # Retry-After
    started = time.monotonic()
    (answer,), _, _ = with_stub(refuses(429, "slow down", [("Retry-After", "1")]), answers(stream(REPLY)))
    assert "edits" in answer and time.monotonic() - started >= 1
    (answer,), _, stub = with_stub(refuses(429, "slow down", [("Retry-After", "3600")]), options=["--max-wait", "60"])
    assert "3600 s" in answer["error"] and len(stub.bodies) == 1
    # there is an end
    (answer,), _, stub = with_stub(refuses(502), options=["--retries", "2"])
    assert "after 3 tries" in answer["error"] and "502" in answer["error"] and len(stub.bodies) == 3
    # what another try does not help
    for status, words in ((401, "EVOTILE_LLM_KEY"), (404, "EVOTILE_LLM_MODEL"), (400, "status 400"), (302, "redirects")):
        (answer,), _, stub = with_stub(refuses(status, "bad", [("Location", "http://127.0.0.1:9/")]))
        assert words in answer["error"] and len(stub.bodies) == 1, answer
    # no server at all
    stub = Stub(answers(""))
    stub.close()
    (answer,), _ = run_llm(stub, "--retries", "1")
    assert "connection" in answer["error"] and "EVOTILE_LLM_URL" in answer["error"]


def check_garbage():
    for text, words in (("no idea, sorry", "no SEARCH/REPLACE"), (REPLY.replace("HYPOTHESIS:", "I do"), "HYPOTHESIS"),
                        (REPLY.replace("largest) / sum", "smallest) / sum"), "does not occur"), ("{" * 20000, "no SEARCH/REPLACE"),
                        ("[" * 100000, "no SEARCH/REPLACE")):
        (answer,), _, stub = with_stub(answers(stream(text, size=5000)))
        assert words in answer["error"] and len(stub.bodies) == 1 and "\n" not in answer["error"], answer
        assert answer["tokens"]["completion"] == 100, "an answer that cannot be used is paid all the same"
    for body in (b"\x00\xff\xfe garbage", b"data: {\n\n", b"<html>", b"{\"choices\": 7}", b"data: [1]\n\ndata: null\n\n"):
        (answer,), _, _ = with_stub(answers(body), options=["--retries", "0"])
        assert "error" in answer, answer
    # a reply without end stops at its limit
    def endless(handler):
        handler.send_response(200)
        handler.end_headers()
        handler.close_connection = True
        piece = chunk(content="x" * 65536).encode()
        for _ in range(1000):
            handler.wfile.write(piece)
    (answer,), _, stub = with_stub(endless)
    assert "longer than" in answer["error"] and len(stub.bodies) == 1, answer
    (answer,), _, _ = with_stub(answers(stream(REPLY, finish="length")))
    assert "--reply-tokens" in answer["error"]
    # two requests on one process: an error of the first does not spoil the second
    first, second = with_stub(answers(stream("no")), answers(stream(REPLY)), questions=[proposals.request(PARENT, number=1), proposals.request(PARENT, number=2)])[0]
    assert "error" in first and "edits" in second and (first["number"], second["number"]) == (1, 2)


def check_limits():
    three = [proposals.request(PARENT, number=n) for n in range(3)]
    found, _, stub = with_stub(answers(stream(REPLY)), options=["--max-tokens", "3500"], questions=three)
    assert "edits" in found[0] and "--max-tokens" in found[-1]["error"] and "1100 are spent" in found[1].get("error", "1100 are spent")
    assert len(stub.bodies) < 3 and all(body["max_tokens"] <= 3500 for body in stub.bodies)
    found, _, stub = with_stub(answers(stream(REPLY)), questions=three,
                               options=["--max-cost", "0.008", "--prompt-price", "2", "--completion-price", "10"])
    assert "edits" in found[0] and "--max-cost" in found[-1]["error"] and found[0]["tokens"]["cost"] == 0.003
    assert stub.bodies[0]["max_tokens"] <= 800
    run_llm(None, "--max-cost", "1", status=2)


def read(path):
    return open(path, "rb").read()


def check_record():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.exchanges")
        child = proposals.as_parent({**PARENT["files"], "kernel.cu": PARENT["files"]["kernel.cu"] + "// child\n"})
        questions = [proposals.request(PARENT, number=1), proposals.request(PARENT, number=2), proposals.request(child, number=3)]
        script = [answers(stream(REPLY)), answers(stream("garbage")), answers(stream(REPLY + "and thanks"))]
        recorded, _, _ = with_stub(*script, options=["--record", path], questions=questions)
        assert "error" in recorded[1]
        assert oct(os.stat(path).st_mode & 0o777) == "0o600"
        # the same run, bit for bit, without a network or an environment
        bare = {"EVOTILE_LLM_URL": "", "EVOTILE_LLM_MODEL": "", "EVOTILE_LLM_KEY": ""}
        replayed, _ = run_llm(None, "--replay", path, questions=questions, environment=bare)
        assert json.dumps(replayed) == json.dumps(recorded)
        # replay looks at number and parent alone; either mismatch is refused
        changed = proposals.request(PARENT, number=1, about="other words")
        assert run_llm(None, "--replay", path, questions=[changed])[0][0] == recorded[0]
        (answer,), _ = run_llm(None, "--replay", path, questions=[proposals.request(child, number=1)])
        assert "parent" in answer["error"] and PARENT["hash"][:32] in answer["error"], answer
        (answer,), _ = run_llm(None, "--replay", path, questions=[proposals.request(PARENT, number=9)])
        assert "no proposal 9" in answer["error"]
        # a run that is resumed with --record asks for, and pays, only what is new; a line that was cut is dropped
        before = read(path)
        open(path, "ab").write(b'{"number": 4, "par')
        again, _, stub = with_stub(answers(stream(REPLY)), options=["--record", path], questions=[*questions, proposals.request(PARENT, number=4)])
        assert again[:3] == recorded and len(stub.bodies) == 1 and "edits" in again[3]
        assert read(path).startswith(before) and read(path).count(b"\n") == 5
        # spent tokens count from one process to the next
        (answer,), _, stub = with_stub(answers(stream(REPLY)), options=["--record", path, "--max-tokens", "4500"], questions=[proposals.request(PARENT, number=5)])
        assert "4400 are spent" in answer["error"] and not stub.bodies
        # an answer is on the disk before it is given
        stub = Stub(answers(stream(REPLY)))
        fresh = os.path.join(folder, "fresh")
        with proposals.Proposer(["llm", "--record", fresh], {"EVOTILE_LLM_URL": stub.url, "EVOTILE_LLM_MODEL": "m", "EVOTILE_LLM_KEY": KEY}) as llm:
            given = llm.ask(proposals.request(PARENT))
            assert json.loads(read(fresh).splitlines()[-1])["answer"] == given
            SEEN.append(open(f"/proc/{llm.process.pid}/cmdline").read())
            SEEN.append(open(f"/proc/{llm.process.pid}/environ", "rb").read().decode(errors="replace"))
        stub.close()
        # other files
        lines = read(path).decode().splitlines()
        for text, words in (("{\"evotile_exchanges\": 2}\n", "version 2"), ("{}\n", "lacks its version"), ("", "no exchange"),
                            (lines[0] + "\nnonsense\n", ":2:")):
            other = os.path.join(folder, "other")
            open(other, "w").write(text)
            assert words in run_llm(None, "--replay", other, status=2)[1]
        run_llm(None, "--replay", os.path.join(folder, "missing"), status=2)
        run_llm(None, "--replay", path, "--record", path, status=2)
        assert "regular file" in run_llm(None, "--record", "/dev/null", environment={"EVOTILE_LLM_URL": "http://127.0.0.1:9"}, status=2)[1]
        # a full disk: the answer says so, and no part of a line stays
        full = os.path.join(folder, "full")
        (answer,), _, _ = with_stub(answers(stream(REPLY)), options=["--record", full], file_limit=200)
        assert "make room" in answer["error"] and read(full).count(b"\n") == 1 and read(full).endswith(b"\n")
        for name in os.listdir(folder):
            SEEN.append(read(os.path.join(folder, name)).decode())


def check_key():
    """A server that echoes the key, whole and in parts, in every place; a key in the clear; a key that is none."""
    echo = REPLY.replace("multiply by", KEY).replace("(1.0f / sum)", f"(1.0f / sum) /* {KEY} */")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "exchanges")
        script = [refuses(503, f"key {KEY} is busy"), answers("data: " + json.dumps({"error": {"message": f"bad {KEY[:20]}..."}}) + "\n\n"), answers(stream(echo, size=11))]
        (answer,), errors, _ = with_stub(*script, options=["--record", path])
        assert "[key]" in json.dumps(answer) and "[key]" in errors
        for step in (refuses(401, f"Incorrect API key provided: {KEY[:9]}*****{KEY[-9:]}"), refuses(400, "x" * 380 + KEY + KEY), answers(KEY, 403, "text/plain")):
            (answer,), _, _ = with_stub(step)
            SEEN.append(json.dumps(answer))
        SEEN.append(open(path).read())
    for url in ("http://example.com/v1", "http://192.0.2.1/v1"):
        assert "in the clear" in run_llm(None, environment={"EVOTILE_LLM_URL": url}, status=2)[1]
    for url in ("ftp://127.0.0.1/", "nonsense:", "https://user:pass@127.0.0.1/v1"):
        assert "EVOTILE_LLM_URL" in run_llm(None, environment={"EVOTILE_LLM_URL": url}, status=2)[1]
    assert "printable" in run_llm(None, key=KEY + "\r\nX: y", environment={"EVOTILE_LLM_URL": "http://127.0.0.1:9"}, status=2)[1]
    # no key at all is fine for a server here
    _, _, stub = with_stub(answers(stream(REPLY)), key="")
    assert stub.keys == [None]
    for text in SEEN:
        for at in range(len(KEY) - 7):
            assert KEY[at:at + 8] not in text, f"a part of the key shows in {text[:2000]!r}"


def check_prompts():
    """Own prompts, each strategy's own, an unknown name."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("system", "free", "insight", "full"):
            open(os.path.join(folder, f"{name}.txt"), "w").write(f"{name} of {{{{problem}}}}\n{{{{second_parent}}}}\nend")
        for strategy in ("free", "insight", "full"):
            _, _, stub = with_stub(answers(stream(REPLY)), options=["--prompts", folder], questions=[proposals.request(PARENT, strategy=strategy)])
            assert [m["content"] for m in stub.bodies[0]["messages"]] == ["system of softmax_f32\nend", f"{strategy} of softmax_f32\nend"]
        open(os.path.join(folder, "full.txt"), "w").write("{{nothing}}")
        (answer,), _, stub = with_stub(answers(stream(REPLY)), options=["--prompts", folder])
        assert "{{nothing}}" in answer["error"] and "history" in answer["error"] and not stub.bodies
    # the shipped ones name no part that a request lacks, and show history and insights where they should
    history = [{"number": 1, "parent": "abc", "hypothesis": "unroll it", "verdict": "ok", "ratio": 1.1}]
    for strategy, seen in (("free", ""), ("insight", "lanes idle"), ("full", "lanes idle unroll it")):
        question = proposals.request(PARENT, PARENT, strategy=strategy, history=history, insights={"counters": "lanes idle"})
        _, _, stub = with_stub(answers(stream(REPLY)), questions=[question])
        text = stub.bodies[0]["messages"][1]["content"]
        assert "{{" not in text and "second parent" in text
        for words in ("lanes idle", "unroll it"):
            assert (words in text) == (words in seen), (strategy, words)


def main():
    for check in (check_stream, check_retries, check_garbage, check_limits, check_record, check_prompts, check_key):
        check()
        print(check.__name__, "ok")


main()
