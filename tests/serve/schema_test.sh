#!/usr/bin/env bash
# The schema accepts and refuses the same requests as the server, and accepts what the server says of each.
python3 -c 'import jsonschema' 2>/dev/null || { echo "there is no jsonschema: make deps-test"; exit 77; }
exec python3 - "$BUILD/tests/serve/scripted_server" <<'PYTHON'
import json
import subprocess
import sys
import jsonschema

schema = json.load(open("docs/schemas/serve-1.json"))
jsonschema.Draft7Validator.check_schema(schema)
request, answer = (jsonschema.Draft7Validator({**schema, "$ref": f"#/definitions/{kind}"}) for kind in ("request", "answer"))
failures, sent = [], []
for line in open("tests/serve/requests.txt"):
    verdict, text = line.rstrip("\n").split(" ", 1)
    text = text.split(" # ")[0]
    sent.append(text)
    if request.is_valid(json.loads(text)) != (verdict == "ok"):
        failures.append(f"the schema says otherwise: {line}")
ran = subprocess.run([sys.argv[1], "config.json"], input="\n".join(sent), capture_output=True, text=True, check=True)
lines = ran.stdout.splitlines()
for line in lines:
    failures += [f"{line}: {error.message}" for error in answer.iter_errors(json.loads(line))]
# A request that was cancelled has no other answer; the hello is of none.
cancelled = sum(json.loads(line)["type"] == "cancel" for line in lines)
if len(lines) != len(sent) + 1 - cancelled:
    failures.append(f"{len(lines)} lines for {len(sent)} requests")
print("\n".join(failures) or f"{len(sent)} requests and their answers")
sys.exit(1 if failures else 0)
PYTHON
