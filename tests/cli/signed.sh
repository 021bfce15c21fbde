# An export is signed as minisign signs, and gate and replay refuse one without the signature of the key that they are given.
. "$ROOT/tests/cli/tell"
small c.json '"search": { "strategy": "random" }'
"$EVOTILE" run c.json --trials 2 --out run >/dev/null 2>&1
for key in mine other; do minisign -G -W -p $key.pub -s $key.key >/dev/null 2>&1; done
"$EVOTILE" export run --out frozen --sign mine.key >/dev/null 2>&1
minisign -V -p mine.pub -m frozen/manifest.json | grep -v '^Trusted comment: timestamp:[0-9]*	file:manifest.json	hashed'
replayed() { tell replay frozen --verify-key "${1:-mine.pub}" | grep -e '^evotile' -e '^status'; }
echo 'genuine'
replayed
replayed "$(tail -1 mine.pub)"
"$EVOTILE" gate frozen --against run --verify-key mine.pub >/dev/null
echo "gate: status $?"
minisign -S -s mine.key -m frozen/manifest.json >/dev/null
echo 'signed by minisign itself'
replayed
replayed other.pub

# changed COMMAND: changes a copy of the export.
changed() {
    rm -rf copy && cp -r frozen copy && (cd copy && eval "$*")
    tell replay copy --verify-key mine.pub | grep -e '^evotile' -e '^status'
    "$EVOTILE" gate frozen --against copy --verify-key mine.pub >/dev/null 2>&1
    echo "gate: status $?"
}
changed rm manifest.json.minisig
changed 'echo >>kernel.cu'
changed 'echo >>kernel.cu; "$ROOT/tests/cli/relist.py" kernel.cu'
changed "sed -i 's/file:manifest/file:anything/' manifest.json.minisig"
changed 'head -c 100 manifest.json.minisig >cut; mv cut manifest.json.minisig'
changed 'minisign -S -l -s ../mine.key -m manifest.json >/dev/null'
changed 'jq ".files[] = \"0123456789abcdef0123456789abcdef\"" manifest.json >short; mv short manifest.json
         minisign -S -s ../mine.key -m manifest.json >/dev/null'
tell replay run --verify-key mine.pub
tell gate run --against frozen --verify-key mine.pub
tell replay frozen --verify-key mine.key

# Nothing is exported if it cannot be signed.
changed_key() { python3 -c 'import base64, sys
lines = open("mine.key").read().split("\n")
key = bytearray(base64.b64decode(lines[1]))
key[int(sys.argv[1])] ^= 1
open("changed.key", "w").write(lines[0] + "\n" + base64.b64encode(key).decode() + "\n")' "$1"; }
changed_key 2
tell export run --out faulty --sign changed.key
changed_key 90
tell export run --out faulty --sign changed.key
tell export run --out faulty --sign mine.pub
tell export run --out faulty --sign nowhere.key
ls -d faulty* 2>&1 || true
