# Runs the two commands of README.md in a copy of the checkout with less work: three trials of a small case, and the
# tests of one file. The copy contains the existing build.
build=${BUILD:-build}
checkout=$PWD/checkout
mkdir -p "$checkout/$build"
cd "$ROOT" || exit 1
cp -a --parents Makefile VERSION README.md search wisdom proposers templates configs tests/run tests/floors tests/base/strbuf_test.c "$checkout"
cp -a "$build"/{search,wisdom,proposers,libevotile.a,libproposers.a,evotile,flags} "$checkout/$build"
cd "$checkout" || exit 1
sed -i 's/"S": 128/"S": 32/; s/"budget": {[^}]*}/"budget": { "trials": 3 }/' configs/demo.json
[[ $build == */san ]] && export SAN=1
unset BUILD

sed -n '/^## Two commands/,/^##/s/^\(make [a-z]*\) .*/\1/p' README.md | while read -r command; do
    echo "\$ $command"
    $command >output 2>&1 </dev/null
    echo "status $?"
    grep -E '^evotile: [0-9]+ trials are stored|^  build/[a-z/]*evotile replay|passed, ' output
done
ls kernels/demo/manifest.json
