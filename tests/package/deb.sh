#!/usr/bin/env bash
# deb.sh: the Debian package, made and lived with: built twice, installed, used, removed, purged. Prints TAP.
#
# It is installed by dpkg, for real, into a copy of this machine: an overlay over its root in a namespace of its own, of
# which nothing reaches the machine itself. What the package leaves behind is what the upper layer has.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
test_count=0
failed=0
check() { # RESULT NAME
    test_count=$((test_count + 1))
    if [[ $1 == true ]]; then
        echo "ok $test_count - $2"
    else
        echo "not ok $test_count - $2"
        failed=1
    fi
}
is() { "$@" && echo true || echo false; }

# ---- made ----

export DEB_BUILD_OPTIONS=noautodbgsym
tree=$(git status --porcelain)
package=$(tools/deb.sh)
check "$(is test -s "$package")" "make deb makes a package"
first=$(sha256sum <"$package")
mv "$package" "$dir/first.deb"
package=$(tools/deb.sh)
check "$(is test "$(sha256sum <"$package")" = "$first")" "made again it is the same, byte for byte"
version=$(sed -n 's/^project(reeve VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
check "$(is test "$(dpkg-deb -f "$package" Version)" = "$version")" "it has the version of the program"
depends=$(dpkg-deb -f "$package" Depends)
check "$(is grep -q 'libc6.*libssl3.*libuv1' <<<"$depends")" "it depends on what the program is linked with"
check "$(is test -z "$(grep -E 'libarchive|libcurl|libpq' <<<"$depends")")" "what is loaded on use is only recommended"
missing=
for library in $(sed -n '/^packages=(/,/)$/p' tools/deps.sh | grep -oE 'lib[a-z0-9.-]*-dev'); do
    case $library in libcmocka-dev | libjansson-dev) continue ;; esac # for tests
    grep -q "^Build-Depends:.*[ ,]$library" debian/control || missing+=" $library"
done
check "$(is test -z "$missing")" "what building takes is in its Build-Depends${missing:+, but not$missing}"
check "$(is test "$(git status --porcelain)" = "$tree")" "making it leaves nothing in the tree"
if command -v lintian >/dev/null; then
    said=$(lintian --fail-on error,warning "$package" 2>&1) && clean=true || clean=false
    [[ $clean == true ]] || sed 's/^/# /' <<<"$said"
    check $clean "lintian has nothing to say"
else
    echo "# lintian is not on this machine: not asked"
fi

# ---- put in place by hand ----

DESTDIR=$dir/root PREFIX=/opt/reeve tools/install.sh >/dev/null
check "$(is test "$("$dir/root/opt/reeve/bin/reeve" version)" = "$(build/release/reeve version)")" "make install: the program runs"
check "$(is grep -q '^ExecStart=/opt/reeve/bin/reeve serve ' "$dir/root/opt/reeve/lib/systemd/system/reeve-server.service")" \
    "make install: units name it where it is"
echo "# mine" >"$dir/root/etc/reeve/reeve.yaml"
DESTDIR=$dir/root PREFIX=/opt/reeve tools/install.sh >/dev/null
check "$(is grep -qx '# mine' "$dir/root/etc/reeve/reeve.yaml")" "make install: settings that are there stay"
files="bin/reeve share/man/man1/reeve.1 share/man/man5/reeve-flow.5 share/man/man8/reeve-serve.8 share/man/man8/reeve-worker.8 share/bash-completion/completions/reeve share/zsh/site-functions/_reeve"
files+=" share/fish/vendor_completions.d/reeve.fish share/doc/reeve/LICENSE share/doc/reeve/examples/etl.yaml share/doc/reeve/examples/python/etl.py"
files+=" share/reeve/python/reeve/worker.py share/reeve/python/titan_sdk/__init__.py"
for file in $files; do check "$(is test -s "$dir/root/opt/reeve/$file")" "make install: $file"; done
check "$(is test -e "$dir/root/opt/reeve/share/reeve/python/reeve/py.typed")" "make install: py.typed, which is empty"
wheel=$dir/root/opt/reeve/share/reeve/python/reeve-$version-py3-none-any.whl
check "$(is sh -c 'python3 -m zipfile -t "$0" >/dev/null' "$wheel")" "make install: a wheel of the version of the program"
check "$(is grep -q "python/reeve-$version-py3-none-any.whl$" < <(dpkg-deb -c "$package"))" "the package has the wheel"

# ---- lived with ----

probe=$(unshare --mount true 2>&1) || {
    echo "# no mount namespace here ($probe): the package is not installed"
    echo "ok $((test_count += 1)) - installed # SKIP no mount namespace"
    echo "1..$test_count"
    exit $failed
}
while read -r result name; do
    case $result in
    yes) check true "$name" ;;
    no) check false "$name" ;;
    *) echo "# $result $name" ;;
    esac
done < <(unshare --mount --pid --fork --kill-child tests/package/life.sh "$package" "$dir" 2>&1 || echo "no the life of the package comes to its end")

echo "1..$test_count"
exit $failed
