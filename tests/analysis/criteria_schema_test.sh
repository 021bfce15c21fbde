#!/usr/bin/env bash
# The schema accepts and refuses the same criteria as gate does.
python3 -c 'import jsonschema' 2>/dev/null || { echo "there is no jsonschema: make deps-test"; exit 77; }
exec python3 - "$EVOTILE" "$TMPDIR/criteria.json" <<'PYTHON'
import json
import re
import subprocess
import sys
import jsonschema

program, path = sys.argv[1:]
schema = json.load(open("docs/schemas/criteria-1.json"))
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
lines = open("tests/analysis/criteria_schema.txt").read().splitlines()
for shipped in ("configs/criteria.json", "tests/fuzz/seeds/criteria/every_key.json"):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", open(shipped).read(), flags=re.S)
    lines.append("ok " + json.dumps(json.loads(text)))
failures = []
for line in lines:
    verdict, text = line.split(" ", 1)
    with open(path, "w") as file:
        file.write(text)
    # The kernels are not there: what is said of them says that the criteria were accepted.
    said = subprocess.run([program, "gate", "nowhere", "--against", "nowhere", "--criteria", path],
                          capture_output=True, text=True).stderr
    if ("nowhere holds no run" in said) != (verdict == "ok"):
        failures.append(f"gate says otherwise: {line}: {said}")
    if validator.is_valid(json.loads(text)) != (verdict == "ok"):
        failures.append(f"the schema says otherwise: {line}")
print("\n".join(failures) or f"{len(lines)} criteria")
sys.exit(1 if failures else 0)
PYTHON
