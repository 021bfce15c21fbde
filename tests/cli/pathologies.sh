# What injected pathologies cost: a template's macros, which are no genes. The latencies are predictions.
. "$ROOT/tests/cli/tell"
cp -r "$ROOT/templates" templates
declare_them() { # NAME JSON: the template softmax_rows with these pathologies, as ./templates/NAME
    cp -r templates/softmax_rows "templates/$1"
    sed -i "s/\"name\": \"softmax_rows\"/\"name\": \"$1\"/; s/^  \"insights\"/  \"pathologies\": $2,\n  \"insights\"/" \
        "templates/$1/template.json"
    small "$1.json" '"budget": { "trials": 1 }'
    sed -i "s/\"softmax_rows\"/\".\/templates\/$1\"/; 0,/\"budget\"/{/\"budget\"/d}" "$1.json"
}
declare_them slow '{ "IDLE": { "values": [1, 400] }, "WRONG": { "about": "is refused", "values": [1] } }'
mkdir tmp && export TMPDIR=$PWD/tmp
python3 - <<'PYTHON'
import re
path = "templates/slow/kernel.cu"
source = open(path).read()
start = source.index("{", source.index("__global__")) + 1
open(path, "w").write(source[:start] + """
#ifdef IDLE
#pragma unroll 1
    for (int i = 0; i < IDLE; ++i)
        asm volatile("bar.sync 0;");
#endif
#ifdef WRONG
    return;
#endif
""" + source[start:])
PYTHON
"$EVOTILE" run slow.json --out run 2>&1 | tail -1
"$EVOTILE" ablate run --pathologies 2>/dev/null | sed '1,3d'
"$EVOTILE" ablate run --pathologies --json 2>/dev/null | jq -r '.moves[] | "\(.genome) \(.verdict) \(.ratio != null) \(.low != null)"'
"$EVOTILE" summary run --json | grep -c '"percent_slower"' # it is not stored
"$EVOTILE" space slow.json | grep -c 'IDLE'                # no gene
"$EVOTILE" export run --out frozen >/dev/null 2>&1
"$EVOTILE" ablate frozen --pathologies --markdown 2>/dev/null | grep -c 'IDLE=400'
ls tmp | wc -l # nothing stays

echo "mistakes"
declare_them zero '{ "IDLE": { "values": [0, 1] } }'
declare_them gene '{ "THREADS": { "values": [1] } }'
declare_them none '{}'
declare_them empty '{ "IDLE": { "values": [] } }'
for mistake in zero gene empty; do tell space $mistake.json 2>&1 | grep -v '^ '; done
"$EVOTILE" run none.json --out nothing >/dev/null 2>&1
tell ablate nothing --pathologies
