# The genes, constraints and counts of a small space.
cat >config.json <<'END'
{
  "template": "softmax_rows", "device": "emulated:sm_89", "objective": "per_case",
  "cases": [{"ROWS": 64, "COLS": 1000}, {"ROWS": 8, "COLS": 33, "F32": 1}]
}
END
$EVOTILE space config.json
