# A store of champions: added from runs and exported kernels, merged, packed for libevotile_wisdom, gated, collected.
. "$ROOT/tests/cli/tell"
export EVOTILE_WISDOM=wisdom.db
small c.json '"search": { "strategy": "random" }'
"$EVOTILE" run c.json --trials 3 --out run >/dev/null 2>&1
"$EVOTILE" export run --out frozen >/dev/null 2>&1
sed 's/"COLS": 40/"COLS": 33/' c.json >d.json
"$EVOTILE" run d.json --trials 3 --out other >/dev/null 2>&1

tell wisdom list
tell wisdom add run
tell wisdom add frozen other --store other.db
tell wisdom merge other.db
"$EVOTILE" wisdom list --json | jq -c '.figures[] | [.template, .case, .device, .sm_count, .driver, .predicted, .p50_us > 0]'
"$EVOTILE" wisdom list | sed 's/  *[0-9.]* predicted.*//'
tell wisdom pack -o app.wisdom
minisign -G -W -p key.pub -s key.key >/dev/null 2>&1
tell wisdom pack --out=signed.wisdom --sign key.key
minisign -V -q -p key.pub -m signed.wisdom && cmp app.wisdom signed.wisdom && echo 'signed, and the same file'

# Kernels that are C++ templates have other names in machine code: the compiler knows them.
echo '{ "template": "two_pass_max", "cases": [ { "N": 700 } ], "device": "emulated:sm_89" }' >pass.json
EVOTILE_TEMPLATES=$ROOT/tests/templates "$EVOTILE" run pass.json --trials 1 --out pass >/dev/null 2>&1
EVOTILE_TEMPLATES=$ROOT/tests/templates tell wisdom add pass --store pass.db
"$EVOTILE" wisdom pack --store pass.db --out pass.wisdom 2>/dev/null
grep -aoE '_Z[A-Za-z0-9_]*max_pass[A-Za-z0-9_]*' pass.wisdom | sort -u | wc -l

# A measured dispatcher has what every kernel took at every shape; a case's own kernel has samples.
echo '{ "template": "softmax_rows", "cases": [ { "ROWS": 4, "COLS": 40 }, { "ROWS": 8, "COLS": 60 } ], "device": "emulated:sm_89" }' >two.json
echo '[ { "ROWS": 5, "COLS": 50 } ]' >shapes.json
sed -i 's/"cases"/"objective": "per_case", "genes": { "VECTOR": [1], "KEEP": [0], "UNROLL": [1] }, "cases"/' two.json
"$EVOTILE" run two.json --trials 2 --out two >/dev/null 2>&1
"$EVOTILE" export two --out chosen --within 0 --dispatch-cases shapes.json >/dev/null 2>&1
tell wisdom add chosen --store two.db 2>&1 | sed 's/[0-9]* added/N added/'
"$EVOTILE" wisdom list --store two.db --json | jq -c '[.figures[] | [.case, has("low_us")]] | unique[]'
"$EVOTILE" wisdom list --store two.db --json | jq --argjson units "$(jq '.units | length' chosen/manifest.json)" '(.figures | length) == 3 * $units'
"$EVOTILE" wisdom list --store two.db | awk 'NR > 1 && /COLS=50/ && / to / { print "an interval that is not known: " $0 }'

echo 'gate'
gated() { "$EVOTILE" gate "$@" 2>said | jq -rc '[.passed, .entries, .stale], (.rows[] | [.case, .stale])' 2>/dev/null; echo "status ${PIPESTATUS[0]}"; }
gated app.wisdom --device emulated:sm_89
gated wisdom.db --device emulated:sm_89
# Two devices share the entries, of several templates and shapes; what each gets is the figures' order, not that of the devices.
cp two.db all.db && "$EVOTILE" wisdom merge wisdom.db pass.db --store all.db >/dev/null 2>&1
two=emulated:sm_89,emulated:sm_89
export EVOTILE_TEMPLATES=$ROOT/tests/templates
gated all.db --device $two --templates "$ROOT/templates" >of_two
gated all.db --device emulated:sm_89 --templates "$ROOT/templates" | diff - of_two && sort of_two | uniq -c | sed 's/^ *//'
# The last one's template has changed, which is known before the others are tried.
mkdir changed && cp -r "$ROOT/tests/templates/two_pass_max" "$ROOT/templates/softmax_rows" "$ROOT/templates/lib" changed/ && echo '// changed' >>changed/two_pass_max/kernel.cu
gated all.db --device $two --templates changed
export EVOTILE_TEMPLATES=$ROOT/templates
tell gate app.wisdom --device emulated:sm_89,emulated:sm_90
tell gate app.wisdom --device emulated:sm_89,
cp wisdom.db slow.db && python3 -c 'import sqlite3
store = sqlite3.connect("slow.db")
store.execute("UPDATE figures SET p50_us = p50_us / 1.06, low_us = 0, high_us = 0 WHERE case_name LIKE \"%33\"")
store.commit()'
gated slow.db --device emulated:sm_89 | sed 's/[0-9.]* us, and took [0-9.]*/N us, and took M/'
sed -n 's/[0-9.]* us, and took [0-9.]*/N us, and took M/p' said
gated slow.db --device emulated:sm_89 --tolerance 7
tell gate run --against run --time 9s
tell gate signed.wisdom --verify-key nothing.pub
cp signed.wisdom changed.wisdom && cp signed.wisdom.minisig changed.wisdom.minisig
printf x | dd of=changed.wisdom bs=1 seek=900 conv=notrunc 2>/dev/null
tell gate changed.wisdom --verify-key key.pub
tell gate changed.wisdom --device emulated:sm_89
# The index is whole, and a code is not: that of the template comes first, and machine code last.
flip() { python3 -c 'import struct, sys
data = bytearray(open("app.wisdom", "rb").read())
index = struct.unpack_from("<Q", data, 24)[0]
data[int(sys.argv[1]) if sys.argv[1][0] == "-" else index + int(sys.argv[1])] ^= 1
open("changed.wisdom", "wb").write(data)' "$1"; }
flip 300
tell gate changed.wisdom --device emulated:sm_89
flip -40
gated changed.wisdom --device emulated:sm_89
tell gate app.wisdom --device emulated:sm_90
tell gate app.wisdom --against run
mkfifo pipe && tell gate pipe --against run
# A template that has changed makes its entries stale; they are packed no more, and gc removes them.
mkdir -p mine && cp -r "$ROOT/templates/softmax_rows" "$ROOT/templates/lib" mine/ && echo '/* changed */' >>mine/softmax_rows/kernel.cu
gated wisdom.db --device emulated:sm_89 --templates mine
tell wisdom pack -o stale.wisdom
tell wisdom gc --templates mine --device emulated:sm_89
tell wisdom list

# An export holds the solutions of its kernels alone: here not the problem's default.
cp -r "$ROOT/kernels/gemm_epilogues_h200" hopper && tell wisdom add hopper --store hopper.db

echo 'refused'
tell wisdom
tell wisdom pak
tell wisdom add
tell wisdom list run
tell wisdom pack
tell wisdom add run --out x
tell wisdom add run --sign key.key
tell wisdom add nowhere
tell wisdom merge nowhere.db
cp frozen/kernel.cu kept.cu && echo '/* changed */' >>frozen/kernel.cu
tell wisdom add frozen
cp kept.cu frozen/kernel.cu
jq 'del(.device.sm_count)' frozen/manifest.json >cut.json && cp cut.json frozen/manifest.json
tell wisdom add frozen
tell wisdom list --store run/run.db
tell wisdom list --store c.json
mkdir folder && ln -s other.db link.db && : >empty.db
tell wisdom list --store folder
tell wisdom list --store link.db
tell wisdom list --store empty.db
tell wisdom pack -o nowhere/app.wisdom --store other.db
TMPDIR=nowhere tell wisdom add run
HOME= XDG_DATA_HOME= EVOTILE_WISDOM= tell wisdom list
