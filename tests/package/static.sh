#!/usr/bin/env bash
# static.sh: the program without shared libraries: that it has none, and that it runs a server, a worker and jobs. Prints TAP.
set -euo pipefail
cd "$(dirname "$0")/../.."

program=$PWD/build/release/reeve-static
dir=$(mktemp -d)
test_count=0
failed=0
finish() {
    "$program" down --data "$dir/up" >/dev/null 2>&1 || true
    rm -rf "$dir"
}
trap finish EXIT
check() { # RESULT NAME
    test_count=$((test_count + 1))
    if [[ $1 == true ]]; then
        echo "ok $test_count - $2"
    else
        echo "not ok $test_count - $2"
        failed=1
    fi
}
is() { "$@" >/dev/null 2>&1 && echo true || echo false; }

if ! cmake --build --preset release --target reeve-static >"$dir/log" 2>&1; then
    tail -20 "$dir/log" | sed 's/^/# /'
    check false "make static makes it"
    echo "1..$test_count"
    exit 1
fi
check "$(is grep -q 'statically linked\|not a dynamic' <<<"$(ldd "$program" 2>&1)")" "it has no shared library"
check "$(is test "$("$program" version)" = "$(build/release/reeve version)")" "it is the same program"
check "$(is "$program" up --detach --data "$dir/up" --listen 127.0.0.1:0)" "up starts a server and a worker"
check "$(is test "$("$program" run --data "$dir/up" -- echo hello)" = hello)" "a job runs"
check "$(is "$program" submit --data "$dir/up" --wait examples/etl.yaml)" "a flow with expressions runs"
check "$(is test "$("$program" kv set --data "$dir/up" a b >/dev/null && "$program" kv get --data "$dir/up" a)" = b)" "the store answers"
address=$(cat "$dir/up/address")
check "$(is "$program" ls --server "localhost:${address##*:}" --data "$dir/up")" "names of machines are found"
check "$(is grep -q '/assets/' <<<"$(curl -fs --compressed "http://$address/")")" "the console is in it"
# A library from outside needs the glibc of the build; here it is that one, elsewhere a sentence says that it is not there.
check "$(is "$program" submit --data "$dir/up" --wait examples/archive.yaml)" "an archive runs, where libarchive fits"
check "$(is "$program" cert init --data "$dir/cert" localhost)" "certificates are made"

echo "1..$test_count"
exit $failed
