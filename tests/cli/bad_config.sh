# A missing or broken config gives one line with the position and exit status 2, and creates no run folder.
. "$ROOT/tests/cli/tell"
tell run missing.json
tell run .
echo '{ "template": "softmax_rows" "cases": [] }' >broken.json
tell run broken.json
printf '{\n  "template": "softmax_rows",\n  "cases": [ { "ROWS": 4, "COLS": 40 } ],\n  "budgte": {}\n}\n' >unknown.json
tell run unknown.json
small template.json
sed -i s/softmax_rows/softmax_row/ template.json
tell run template.json
small dimension.json
sed -i 's/"ROWS": 4/"ROWS": -4/' dimension.json
tell space dimension.json
small gene.json '"genes": { "THREAD": [32] }'
tell run gene.json
small value.json '"genes": { "THREADS": [33] }'
tell run value.json
small device.json
sed -i s/sm_89/sm_999/ device.json
tell run device.json
sed -i s/emulated:sm_999/gpu/ device.json
tell run device.json
ls
# Errors in the run's copy of the template name the original file.
small c.json
mkdir own && cp -r "$ROOT/templates/softmax_rows" own && sed -i "s,lib/half.cuh,lib/none.cuh," own/softmax_rows/*.cu
tell run c.json --templates own --out torn
