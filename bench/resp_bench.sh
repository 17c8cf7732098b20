#!/usr/bin/env bash
# resp_bench.sh [DIR]: the shared store by RESP beside a Redis with `appendfsync always` on the same disk, with
# redis-benchmark, round after round in turn, so that both meet the same noise. Prints requests per second, the best of
# the rounds of each, and their ratio. Installs nothing: redis-server and redis-benchmark must be there.
#
#   REEVE=build/release/reeve ROUNDS=3 REQUESTS=200000 bench/resp_bench.sh /tmp/there
set -euo pipefail
cd "$(dirname "$0")/.."

reeve=${REEVE:-build/release/reeve}
rounds=${ROUNDS:-3}
requests=${REQUESTS:-200000}
tests=${TESTS:-set,get,incr,sadd}
for program in redis-server redis-benchmark; do
    command -v "$program" >/dev/null || { echo "resp_bench: there is no $program here" >&2; exit 2; }
done
[[ -x $reeve ]] || { echo "resp_bench: there is no $reeve: build it, or say REEVE=…" >&2; exit 2; }

given=${1:-}
dir=${given:-$(mktemp -d)}
mkdir -p "$dir/redis" "$dir/reeve"
pids=()
leave() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$dir/redis" "$dir/reeve" "$dir/redis.log" "$dir/reeve.log"
    [[ -n $given ]] || rm -rf "$dir"
}
trap leave EXIT

port=$((20000 + RANDOM % 10000))
redis-server --port "$port" --dir "$dir/redis" --save '' --appendonly yes --appendfsync always --daemonize no \
    >"$dir/redis.log" 2>&1 &
pids+=($!)
"$reeve" serve --data "$dir/reeve" --listen 127.0.0.1:0 --resp-listen 127.0.0.1:0 >"$dir/reeve.log" 2>&1 &
pids+=($!)
for ((i = 0; i < 200; i++)); do
    own=$(sed -n 's/.*127\.0\.0\.1:\([0-9]*\) (RESP).*/\1/p' "$dir/reeve.log")
    [[ -n $own && $(redis-cli -p "$port" ping 2>/dev/null) == PONG ]] && break
    sleep 0.05
done

# run PORT: "SET 123456" and so on.
run() {
    redis-benchmark -p "$1" -t "$tests" -P 16 -c 50 -n "$requests" --csv 2>/dev/null |
        awk -F'"' 'NR > 1 { print $2, int($4) }'
}
run "$port" >/dev/null # both warm
run "$own" >/dev/null
for ((round = 0; round < rounds; round++)); do
    run "$port" | sed 's/^/redis /'
    run "$own" | sed 's/^/reeve /'
done | awk '
    { if ($3 > best[$1, $2]) best[$1, $2] = $3; if (!($2 in seen)) { seen[$2] = 1; order[++count] = $2 } }
    END {
        printf "%-8s %12s %12s %8s\n", "", "redis", "reeve", "ratio"
        for (i = 1; i <= count; i++) {
            a = best["redis", order[i]]; b = best["reeve", order[i]]
            printf "%-8s %12d %12d %8.2f\n", order[i], a, b, b / a
        }
    }'
