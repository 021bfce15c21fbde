#!/usr/bin/env bash
# Ten T1 descriptions with every construct that is imported: evotile counts as many valid genomes as python3 does.
set -u
evotile=$(realpath "${BUILD:-build}/evotile")
here=$(realpath "$(dirname "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
count=0
for file in "$here"/*.json; do
    name=$(basename "$file" .json)
    "$evotile" import "$file" --name "t_$name" --out "$folder" 2>"$folder/messages" ||
        { echo "$name is not imported:"; cat "$folder/messages"; failed=1; continue; }
    expected=$(python3 "$here/count.py" "$file")
    actual=$("$evotile" space "$folder/t_$name.json" --device emulated:sm_90 --json | jq '.goals[0].valid')
    [ "$actual" = "$expected" ] || { echo "$name: python counts $expected, evotile ${actual:-nothing}"; failed=1; }
    [ "$expected" -gt 0 ] || { echo "$name has no genomes"; failed=1; }
    count=$((count + 1))
done
[ "$count" = 10 ] || { echo "$count descriptions, not 10"; failed=1; }
exit "$failed"
