# `cases` makes a config of a table of shapes, or of a program's calls, that `try` and `run` take as it is: the cases of most of the
# time come first, equal calls are added up, and a call that is no case says why.
. "$ROOT/tests/cli/tell"
here() { tell "$@" | sed "s|$ROOT|ROOT|g"; }
calls=$ROOT/tests/calls/recorded.jsonl

cat >shapes.csv <<'CSV'
COLS, ROWS, count
100,64,10
1024,4096,3

100,64,5
"33",5,1
CSV
here cases softmax_f32 --from-csv shapes.csv
here cases softmax_f32 --from-csv shapes.csv --top 2 --out mine.json
cat mine.json
"$EVOTILE" try mine.json --goal 1 --device emulated:sm_90 --json | jq -c '[.verdict, .cases[0].case]'
"$EVOTILE" run mine.json --device emulated:sm_90 --trials 4 --out run 2>/dev/null && "$EVOTILE" board run --json --top 1 2>/dev/null | jq -c '[.rows[].goal_name]'

# One champion for all of them; a case of hardly any time still has a weight.
printf 'ROWS,COLS,weight\n64,100,3\n8,100,0\n' >joint.csv
here cases softmax_f32 --from-csv joint.csv --joint --out joint.json
cat joint.json
"$EVOTILE" space joint.json --device emulated:sm_90 --json | jq -c '[.goals[].name]'
here cases softmax_f32 --from-csv joint.csv --joint

# Shares that the file gives, a default, a template of another folder.
printf 'ROWS,F32,weight\r\n8,1,0.25\r\n9,,0.75\r\n' >weights.csv
sed -i 's/^ROWS/COLS,ROWS/; s/^\([89]\)/64,\1/' weights.csv
mkdir -p elsewhere && cp -r "$ROOT/templates/softmax_rows" "$ROOT/templates/lib" elsewhere/
here cases ./elsewhere/softmax_rows --from-csv weights.csv --out elsewhere/mine.json | sed "s|$PWD|HERE|"
sed "s|$PWD|HERE|" elsewhere/mine.json
"$EVOTILE" space elsewhere/mine.json --device emulated:sm_90 --json | jq -c '[.goals[].name]'

# What PyTorch calls (tests/python/record_program.py).
for template in softmax_rows rms_norm gelu_product attention_fwd; do
    here cases $template --from-torch "$calls"
done
"$EVOTILE" cases attention_fwd --from-torch "$calls" --json 2>/dev/null | jq -c '[.calls, .covered, .other_calls, .calls_of_other_operators, (.others | length)]'
here cases attention_fwd/hopper --from-torch "$calls" --top 1 --out attention.json
grep template attention.json

# A shape for which no genome is valid is no case.
printf 'B,H,S,D,H_KV\n1,6,64,64,4\n1,6,64,64,3\n' >heads.csv
here cases attention_fwd --from-csv heads.csv

# Bad input.
bad() {
    printf "$1" >bad.csv
    here cases softmax_f32 --from-csv bad.csv
}
bad 'ROWS,COL\n1,2\n'
bad 'ROWS,ROWS\n1,2\n'
bad 'ROWS,COLS\n1\n'
bad 'ROWS,COLS\n1,2,3\n'
bad 'ROWS\n1\n'
bad 'ROWS,COLS\n1,x\n'
bad 'ROWS,COLS\n1,2.5\n'
bad 'ROWS,COLS\n0,2\n'
bad 'ROWS,COLS,count\n1,2,0\n'
bad 'ROWS,COLS\n'
bad ''
here cases softmax_f32
here cases softmax_f32 --from-csv shapes.csv --from-torch "$calls"
here cases softmax_f32 --from-csv none.csv
here cases softmax_f32 --from-csv shapes.csv --top 0
here cases none --from-csv shapes.csv 2>&1 | cut -c1-60
here cases softmax_f32 --from-torch shapes.csv
echo '{ "operator": "aten::mm", "arguments": {} }' >other.jsonl
here cases softmax_f32 --from-torch other.jsonl
echo '{ "operator": "aten::mm" }' >other.jsonl
here cases softmax_f32 --from-torch other.jsonl
export EVOTILE_TEMPLATES=$ROOT/tests/templates
here cases axpy --from-torch "$calls"
seq -f '%.0f,1' 5000 | sed '1i ROWS,COLS' >many.csv
here cases rms_rows --from-csv many.csv
