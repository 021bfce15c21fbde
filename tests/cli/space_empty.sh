# A space without a valid genome is printed, followed by an error that says what to relax.
cat >config.json <<'END'
{
  "template": "softmax_rows", "device": "emulated:sm_89",
  "genes": {"THREADS": [32], "ROW_THREADS": [64]},
  "cases": [{"ROWS": 64, "COLS": 1000}]
}
END
$EVOTILE space config.json | tail -2
exit "${PIPESTATUS[0]}"
