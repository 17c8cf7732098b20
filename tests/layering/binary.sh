#!/usr/bin/env bash
# binary.sh BUILD: the release program as a file and at rest. Prints TAP.
#
# What it is linked with: only what docs say it needs; what is rarely used is loaded on use. And a server and a worker with
# nothing to do: below 10 MB each, also after work, no processor time, and nobody wakes up but for heartbeats.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$1/reeve
heartbeats=2 # that the measurement lasts; 5 s each
rss_kib_max=9765 # 10 MB

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

# ---- what it is linked with ----

allowed=" libc.so.6 libm.so.6 ld-linux-x86-64.so.2 libuv.so.1 libssl.so.3 libcrypto.so.3 libyaml-0.so.2 libzstd.so.1 \
liblua5.4.so.0 libpcre2-8.so.0 libsqlite3.so.0 libseccomp.so.2 libwslay.so.1 "
for library in $(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    check "$(is grep -qF " $library " <<<"$allowed")" "$library is one of its direct dependencies"
done
for library in libarchive libcurl libpq; do
    check "$(is test -z "$(readelf -d "$program" | grep "NEEDED.*$library")")" "$library is at most loaded on use"
done

# ---- at rest ----

dir=$(mktemp -d)
server=
worker=
finish() {
    [[ -z $worker ]] || kill -9 "$worker" 2>/dev/null || true
    [[ -z $server ]] || kill -9 "$server" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$dir"
}
trap finish EXIT

await() { # COMMAND...: until it is true, for a minute
    local i
    for ((i = 0; i < 1200; i++)); do
        "$@" && return 0
        sleep 0.05
    done
    echo "# never true: $*"
    return 1
}
attached() { grep -q "attached" "$dir/worker.log"; }
rss() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
wakeups() { cat "/proc/$1/task/"*/status | awk '/^voluntary/ { n += $2 } END { print n }'; }
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

"$program" serve --data "$dir/data" --listen 127.0.0.1:0 2>"$dir/server.log" &
server=$!
await test -s "$dir/data/address"
REEVE_DATA=$dir/data "$program" worker --data "$dir/worker" 2>"$dir/worker.log" &
worker=$!
await attached
sleep 1
fresh=("$(rss $server)" "$(rss $worker)")
# It has worked before: what jobs, logs and the journal left behind must come to rest, too.
for ((i = 0; i < 10; i++)); do "$program" run --data "$dir/data" -- echo hello >/dev/null; done
sleep 1

before=("$(wakeups $server)" "$(ticks $server)" "$(wakeups $worker)" "$(ticks $worker)")
sleep $((heartbeats * 5))
after=("$(wakeups $server)" "$(ticks $server)" "$(wakeups $worker)" "$(ticks $worker)")
names=("server" "worker")
pids=("$server" "$worker")
for i in 0 1; do
    name=${names[i]}
    kib=$(rss "${pids[i]}")
    woken=$((after[2 * i] - before[2 * i]))
    used=$((after[2 * i + 1] - before[2 * i + 1]))
    echo "# $name: ${fresh[i]} KiB, after work $kib KiB, $woken wake-ups and $used ticks in $heartbeats heartbeats"
    check "$(is test "${fresh[i]}" -lt $rss_kib_max)" "a $name at rest takes less than 10 MB"
    check "$(is test "$kib" -lt $rss_kib_max)" "a $name that has worked takes less than 10 MB"
    # Each heartbeat: the worker is woken to say it and by the answer, the server by the question; one more for the edges.
    check "$(is test "$woken" -le $((2 * heartbeats + 2)))" "a $name at rest is woken by heartbeats only"
    check "$(is test "$used" -le 2)" "a $name at rest uses no processor time"
done

echo "1..$test_count"
exit $failed
