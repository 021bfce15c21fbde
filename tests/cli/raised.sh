# If a config raises the shared memory limit there are two boards: within 48 KB, and all genomes.
cat >c.json <<JSON
{
  "template": "attention_fwd",
  "cases": [ { "B": 1, "H": 1, "S": 40, "D": 64 } ],
  "limits": { "smem_bytes": 101376 },
  "device": "emulated:sm_89"
}
JSON
"$EVOTILE" run c.json --out run --trials 3 --seed-genome 'K_STAGES=3,V_STAGES=3; BLOCK_N=128' 2>/dev/null
"$EVOTILE" board run | grep -E '^goal|^ +[0-9]'
rows() { python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row["within_smem_bytes"], row["smem_bytes"], row["genome"].split(",")[1])' | sort; }
"$EVOTILE" board run --csv | rows
# The device's own limit applies if the config's is higher.
sed 's/101376/300000/' c.json >beyond.json
"$EVOTILE" space beyond.json --json | jq .smem_limit_bytes
"$EVOTILE" space beyond.json --genome 'BLOCK_N=128,K_STAGES=4,V_STAGES=4' | grep -o '(SMEM_LIMIT.*'
# With the default limit there is one board, and its rows state the limit.
sed 's/101376/49152/' c.json >usual.json
"$EVOTILE" run usual.json --out usual --trials 1 2>/dev/null
"$EVOTILE" board usual | grep '^goal'
"$EVOTILE" board usual --csv | rows
