#!/usr/bin/env bash
# Nothing is wrong in the shipped templates, by `lint`: references agree, every input and gene is used, and each mutant is
# caught, but for those that explained.txt explains. With EVOTILE_LONG=1 all templates and solutions, else two that take
# some two seconds each.
set -u
here=$(realpath "$(dirname "$0")")
top=$(realpath "$here/../..")
evotile=$(realpath "${BUILD:-build}/evotile")
export EVOTILE_TEMPLATES=$top/templates EVOTILE_DEVICES=$top/configs/devices
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# Prints "TEMPLATE|CHECK SUBJECT" for each finding that is wrong; status 1 if a check could not be made.
findings() {
    local status=0
    "$evotile" lint "$1" --device emulated:sm_90 --json >"$folder/found" 2>"$folder/messages" || status=$?
    [ "$status" = 0 ] || [ "$status" = 3 ] || { cat "$folder/messages" >&2; return 1; }
    jq -e '.caught > 0' "$folder/found" >/dev/null || { echo "$2: no mutant was caught" >&2; return 1; }
    jq -r '.findings[] | select(.result == "WRONG") | "\(.check) \(.subject)"' "$folder/found" |
        sed "s/:[0-9]*\$//; s#^#$2|#" | sort -u
}

# Compares what is found in a template with what is explained.
check() {
    findings "$1" "$2" >"$folder/lines" || failed=1
    grep "^$2|" "$here/explained.txt" | sed 's/|[^|]*$//' | sort -u >"$folder/explained"
    diff "$folder/explained" "$folder/lines" >"$folder/difference" ||
        { echo "$2: expected (<) and found (>):"; cat "$folder/difference"; failed=1; }
}

if [ "${EVOTILE_LONG:-0}" != 0 ]; then
    for path in "$top"/templates/*/template.json "$top"/templates/*/*/solution.json; do
        path=$(dirname "$path")
        name=${path#"$top"/templates/} config=$here/${name//\//_}.json
        [ ! -e "$config" ] || path=$config # a solution that is not valid for the default dimensions
        check "$path" "$name"
    done
else
    for name in rms_norm convolution_2d; do
        check "$top/templates/$name" "$name"
    done
fi

# A finding that nothing explains fails: a gene without effect.
"$evotile" new mine --dir "$folder" 2>/dev/null
sed -i 's|"genes": {|&\n    "SPARE": { "values": [1, 2, 3], "default": 1 },|' "$folder/mine/first/solution.json"
findings "$folder/mine" mine >"$folder/lines" || failed=1
grep -q '^mine|genes SPARE$' "$folder/lines" || { echo "a gene without effect is not found"; failed=1; }
exit "$failed"
