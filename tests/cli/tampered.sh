# gate and replay judge the files that get linked: a folder that is not what was exported is refused with status 3.
. "$ROOT/tests/cli/tell"
small c.json '"search": { "strategy": "random" }'
"$EVOTILE" run c.json --trials 4 --out run >/dev/null 2>&1
"$EVOTILE" export run --out frozen >/dev/null 2>&1
"$EVOTILE" export run --rank 2 --out other >/dev/null 2>&1

# refused WHAT COMMAND...: the command changes a copy of the export in the folder copy.
refused() {
    local what=$1
    shift
    rm -rf copy && cp -r frozen copy && (cd copy && eval "$*")
    echo "$what"
    tell replay copy | grep -e '^evotile' -e '^status' -e '^  compile_failed'
    "$EVOTILE" gate copy --against frozen >/dev/null 2>&1
    echo "gate: status $?"
}
flip() { python3 -c 'import sys
bytes = bytearray(open(sys.argv[1], "rb").read())
bytes[int(sys.argv[2])] ^= 1
open(sys.argv[1], "wb").write(bytes)' "$@"; }
# The manifest lists the present contents of a file.
relist() { "$ROOT/tests/cli/relist.py" "$@"; }

refused 'one bit of the machine code' flip variant_1.cubin 3000
refused 'another machine code' cp ../other/variant_1.cubin .
refused 'a header' "echo '#define KEEP 0' >>variant_1.h"
refused 'the source, and the launcher' "echo >>kernel.cu; echo >>frozen.c"
refused 'the copy of the template' "echo >>template/softmax_rows/reference.c"
refused 'files that make or the template would read' \
    "echo all: >GNUmakefile; echo >cuda.h; echo >template/lib/more.cuh; echo >notes.txt"
refused 'a file is missing' rm reference.c
refused 'a link' "mv kernel.cu ../linked.cu; ln -s ../linked.cu kernel.cu"
refused 'a link to a folder' "mv template ../linked; ln -s ../linked template"
refused 'one bit of the machine code, and its hash' "flip variant_1.cubin 3000; relist variant_1.cubin"
refused 'another machine code, and its hash' "cp ../other/variant_1.cubin .; relist variant_1.cubin"
refused 'another machine code with its mark' \
    "cp ../other/variant_1.cubin .; relist --mark-of ../other variant_1.cubin"
refused 'files outside' "relist ../run/run.db /etc/passwd"

# What make writes, and what it does not read, is no change; earlier exports list no hashes.
rm -rf copy && cp -r frozen copy
mkdir copy/source
touch copy/{frozen.o,libfrozen.a,check.bin,.build,notes.txt,LICENSE} copy/source/variant_1.cubin
"$EVOTILE" replay copy >/dev/null 2>&1
echo "built: status $?"
jq 'del(.files)' frozen/manifest.json >copy/manifest.json
"$EVOTILE" replay copy 2>&1 >/dev/null
echo "no hashes: status $?"
relist --folder copy --nvrtc 12.1
"$EVOTILE" replay copy 2>&1 >/dev/null | sed 's/this is [0-9.]*/this is N/'
"$EVOTILE" replay frozen --device emulated:sm_80 2>&1 >/dev/null
