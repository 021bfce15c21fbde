"""A baseline of axpy whose times are made up."""
import json
import sys

times = {"plain": 12.0, "fused": 9.0}
for line in sys.stdin:
    question = json.loads(line)
    ask = question["ask"]
    if ask == "begin":
        answer = {"baseline": "made up 1.0", "device": question["device_name"], "implementations": list(times)}
    elif ask == "capture":
        implementation = question["implementation"]
        answer = {"captured": True}
    else:
        us = times[implementation] * (2 if ask == "cold" else 1)
        answer = {"samples_us": [us + 0.001 * i for i in range(question["samples"])]}
    print(json.dumps(answer), flush=True)
