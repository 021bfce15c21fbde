#!/usr/bin/env bash
# The search of tests/python/search.py inside a real package, in a virtual environment of its own under $TMPDIR: only with
# EVOTILE_LONG=1, because it downloads the package. Skipped where that fails.
#
#   tests/python/axpy_search.sh openevolve|shinka|evotoolkit      VENV=FOLDER: use this environment, make it if it is missing
set -eu
cd "$(dirname "$0")/../.."
package=$1
[[ ${EVOTILE_LONG:-0} == 1 ]] || { echo "downloads $package: only with EVOTILE_LONG=1"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
venv=${VENV:-$work/venv}
[[ -x $venv/bin/pip ]] || python3 -m venv "$venv" || { echo "python3 has no venv: apt install python3-venv"; exit 77; }
if [[ ! -e $venv/has_$package ]]; then
    listed=tests/python/$package.txt
    alone=$(sed -n 's/^# without dependencies: //p' "$listed")
    { "$venv/bin/pip" install -q --disable-pip-version-check -r "$listed" &&
        { [[ -z $alone ]] || "$venv/bin/pip" install -q --disable-pip-version-check --no-deps "$alone"; }; } >"$work/pip.log" 2>&1 ||
        { echo "$package cannot be installed here:"; tail -5 "$work/pip.log"; exit 77; }
    touch "$venv/has_$package"
fi
EVOTILE=${EVOTILE:-$PWD/build/evotile} "$venv/bin/python" tests/python/search.py "$package" "$work/run"
