# A database that a later version wrote is not changed.
. "$ROOT/tests/cli/tell"
small c.json
"$EVOTILE" run c.json --out run >/dev/null 2>&1
file=$(ls run/*.db run/*.sqlite run/*.evotile 2>/dev/null | head -n 1)
# SQLite keeps the application's version number at byte 60 of its file (PRAGMA user_version).
printf '\0\0\377\377' | dd of="$file" bs=1 seek=60 conv=notrunc status=none
before=$(md5sum <"$file")
tell board run
tell resume run
[ "$before" = "$(md5sum <"$file")" ] && echo "the file is as it was"
