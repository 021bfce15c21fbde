#!/usr/bin/env bash
# VERSION and what follows it, and packaging/dist: the same bytes from the same sources, wherever and whenever they are packed.
set -euo pipefail
wrong() { echo "$1"; exit 1; }
equal() { [[ $2 == "$3" ]] || wrong "$1: \"$2\" instead of \"$3\""; }

# ---- one version ----

version=$(cat VERSION)
release=${version%%+*} # in an unpacked tarball of no release, the commit follows
[[ $release =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || wrong "VERSION: $release"
equal debian/changelog "$(sed -n '1s/^evotile (\(.*\)) .*/\1/p' debian/changelog)" "$release"
equal CHANGELOG.md "$(sed -n 's/^## \([^ ]*\) .*/\1/p' CHANGELOG.md | head -n 1)" "$release"
equal python/VERSION "$(cat python/VERSION)" "$version"
grep -q '^version = { file = "VERSION" }' python/pyproject.toml || wrong "python/pyproject.toml has a version of its own"
printed=$("$EVOTILE" --version | head -n 1)
[[ $printed =~ ^"evotile $release"(\+([0-9a-f]{8,}|unknown))?(-dirty)?$ ]] || wrong "--version prints \"$printed\""

# No file of the checkout is kept out of its tarball.
[[ ! -e .git ]] || diff <(git archive HEAD | tar -t | grep -v '/$' | sort) <(git ls-tree -r --name-only HEAD | sort)

# ---- a small repository ----

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git() { command git -c user.name=a -c user.email=a@b.invalid -c tag.gpgSign=false "$@"; }
cd "$TMPDIR"
mkdir -p small/packaging small/folder
cp "$ROOT"/packaging/{dist,sums} small/packaging
cp "$ROOT/Makefile" small
cd small
git init -q
echo 1.2.3 >VERSION
echo '/build/' >.gitignore
echo a >'folder/a name'
echo b >--checkpoint-action=exec=false
ln -s folder/none link
git add -A
git commit -qm first
named() { make -s --eval='named: ; @echo $(packed) $(version)' named 2>/dev/null; }
hash=$(git rev-parse --short=8 HEAD)
equal "an untagged commit" "$(named)" "1.2.3+$hash 1.2.3+$hash"
git tag v1.2.4
equal "another tag" "$(named)" "1.2.3+$hash 1.2.3+$hash"
git tag v1.2.3
equal "the release" "$(named)" "1.2.3 1.2.3"
echo c >>folder/'a name'
equal "a changed release" "$(named)" "1.2.3 1.2.3-dirty"

# ---- its tarball ----

packaging/dist 1.2.3 build/dist >printed 2>message
grep -q 'lacks what you changed' message || wrong "no warning about changes: $(cat message)"
git checkout -q folder
cp -r build/dist first
(umask 077 && chmod -R g-rwx . && touch folder/* && packaging/dist 1.2.3 build/dist >/dev/null 2>message)
[[ ! -s message ]] || wrong "$(cat message)"
diff -r first build/dist || wrong "two tarballs differ"
(cd build/dist && sha256sum --quiet -c SHA256SUMS)
mkdir unpacked
tar -xzf build/dist/evotile-1.2.3.tar.gz -C unpacked
diff <(cd unpacked/evotile-1.2.3 && find . -not -type d -printf '%P\n' | sort) <({ git ls-files && echo MANIFEST; } | sort) ||
    wrong "the tarball lacks files of the commit, or has others"
cd unpacked/evotile-1.2.3
equal "an unpacked tarball" "$(named)" "1.2.3 1.2.3"
mkdir build # what is no source does not count
echo d >build/d
packaging/dist 1.2.3 "$TMPDIR/again" >/dev/null
diff -r "$TMPDIR/again" ../../build/dist || wrong "a tarball of the unpacked one differs"
rm link
if packaging/dist 1.2.3 "$TMPDIR/again" >/dev/null 2>&1; then wrong "packed without a file of the MANIFEST"; fi
rm MANIFEST
if packaging/dist 1.2.3 "$TMPDIR/again" >/dev/null 2>message; then wrong "packed from nowhere"; fi
grep -q 'clone the repository, or unpack a tarball' message || wrong "$(cat message)"
diff -r "$TMPDIR/again" ../../build/dist || wrong "a failure changed a tarball"
