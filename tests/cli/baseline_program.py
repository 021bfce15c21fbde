"""A baseline whose times are made up, and which fails as it is told: baseline_program.py [FAULT]"""
import json
import sys

fault = sys.argv[1] if len(sys.argv) > 1 else ""
times = {"plain": 1.2, "fused": 0.9} if fault == "fast" else {"plain": 12.0, "fused": 9.0}
if fault == "slow":  # as eager PyTorch and a compiled kernel are
    times = {"plain": 167000.0, "fused": 6000.0}
for line in sys.stdin:
    question = json.loads(line)
    ask = question["ask"]
    if ask == "begin":
        print("begun", file=open("begun", "a"))
        answer = {"baseline": "made up 1.0", "device": question["device_name"], "implementations": [*times, "wide"]}
        if fault == "device":
            answer["device"] = "another GPU"
    elif ask == "capture":
        implementation = question["implementation"]
        assert set(question["case"]) == {"ROWS", "COLS", "F32"} and question["launches"] > 0 and question["sets"] > 0
        answer = {"captured": True} if implementation in times else {"unable": "the rows are not wide"}
        launches, calls = question["launches"], 2 * question["sets"]
        if fault == "unable":
            answer = {"unable": "made up"}
    else:
        replays = question["samples"] + (1 if ask == "warm" else 0)
        calls = (launches if ask == "warm" else 1) * (replays + (4 if question.get("warmup_us", 0) > 0 else 0))
        us = times[implementation] * (2 if ask == "cold" else 1)
        answer = {"samples_us": [us + 0.001 * i for i in range(question["samples"])]}
        if fault == "few":
            answer["samples_us"].pop()
        if fault == "negative":
            answer["samples_us"][0] = -1
    if fault == "slow" and ask != "begin" and implementation in times:  # the GPU time that torch_baseline.py would need
        print(calls * times[implementation] / 1e6, file=open("spent", "a"))
    if fault == "dies" and ask == "warm":
        sys.exit(7)
    if fault == "error":
        answer = {"error": "there is no library"}
    print("loading ..." if fault == "talks" else json.dumps(answer), flush=True)
