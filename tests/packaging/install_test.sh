#!/usr/bin/env bash
# packaging/install: the installed program needs no environment variable and no checkout; an installation over an older one and
# the removal take away what evotile put there, and nothing else.
set -euo pipefail
cd "$TMPDIR"
prefix="$TMPDIR/a prefix" install=$ROOT/packaging/install
wrong() { echo "$1"; exit 1; }
installed() { (cd "$prefix" && find . -not -type d | sort); }

"$install" --remove "$prefix" 2>message && wrong "removed what is not installed"
grep -q "give the PREFIX and the DESTDIR" message || wrong "$(cat message)"
mkdir -p "$prefix/bin"
echo other >"$prefix/bin/other" # of another program
(umask 077 && "$install" "$BUILD" "$prefix")

# From another folder, with nothing in the environment.
env -i "$prefix/bin/evotile" space "$prefix/share/evotile/configs/demo.json" --device emulated:sm_90 >space 2>&1 || wrong "$(cat space)"
env -i "$prefix/libexec/evotile/proposers/mutate" --help >/dev/null || wrong "the proposer does not start"
[[ $("$prefix/bin/evotile" manual | cksum) == $(cksum <"$prefix/share/man/man1/evotile.1") ]] || wrong "another manual"
cmp "$ROOT/docs/install.md" "$prefix/share/doc/evotile/docs/install.md"
[[ -z $(find "$prefix" -not -perm -044 -o -type f -perm /022) ]] || wrong "not for all to read, or for others to write: $(find "$prefix" -ls)"

# An older installation had one more file; the user added one of theirs.
installed >first
echo old >"$prefix/share/evotile/templates/old file.cu"
echo 'share/evotile/templates/old file.cu' >>"$prefix/share/evotile/installed.txt"
mkdir "$prefix/share/evotile/templates/mine"
echo mine >"$prefix/share/evotile/templates/mine/kernel.cu"
"$install" "$BUILD" "$prefix"
diff <(grep -v /mine/ <(installed)) first || wrong "an installation over another one differs from the first"
"$install" --remove "$prefix"
diff <(installed) <(printf '%s\n' ./bin/other ./share/evotile/templates/mine/kernel.cu) || wrong "the removal left or took too much"
rm -r "$prefix/share/evotile/templates/mine"
[[ ! -e $prefix/share/doc/evotile && ! -e $prefix/libexec/evotile ]] || wrong "the removal left folders"

# An installation that fails half way can be removed.
mkdir -p "$prefix/share/man/man1/evotile.1"
if "$install" "$BUILD" "$prefix" 2>message; then wrong "installed over a folder"; fi
rmdir "$prefix/share/man/man1/evotile.1"
"$install" --remove "$prefix"
[[ $(installed) == ./bin/other ]] || wrong "left of half an installation: $(installed)"
