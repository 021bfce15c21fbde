# Folders that cannot be written, and folders that contain something else.
. "$ROOT/tests/cli/tell"
small c.json
touch file
tell run c.json --out file/results
tell run c.json --out /proc/results
tell run c.json --out done >/dev/null
tell run c.json --out done
tell board nowhere
ln -s nowhere link
tell run c.json --out link
[ -L link ] && echo "the link is there still"

tell resume nowhere
tell replay nowhere
tell export nowhere --out frozen
mkdir mine && touch mine/something
tell export done --out mine --force
tell export done --out file/frozen
ls -p
