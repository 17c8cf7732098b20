#!/bin/sh
# scale-hook.sh: a hook for `reeve scaler --hook`, to be filled in for your cloud (docs/guides/scaling.md). As it stands its
# "machines" are processes of this one, so that it can be tried without a cloud:
#
#   REEVE_DATA=.reeve MACHINES=/tmp/machines reeve scaler --token OPERATOR --max 3 --hook 'sh examples/scale-hook.sh'
#
# The report is one JSON object on standard input. It says how many workers there are to be, not how many more: acting on
# it twice is acting on it once. Exit 0: it is done, or under way. Anything else: it is told again later.
set -eu
report=$(cat)
machines=${MACHINES:?a directory for what is known of machines}
mkdir -p "$machines"

number() { printf '%s' "$report" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }
ends() { printf '%s' "$report" | sed -n 's/.*"end":\[\([^]]*\)\].*/\1/p' | tr -d '"' | tr ',' ' '; }
count() { find "$machines" -name 'machine-*' -type d | wc -l; }

# --- these two are your cloud: `gcloud compute instances create …`, `aws ec2 run-instances …`; the image starts a worker

machine_start() { # NAME
    mkdir "$machines/$1"
    setsid "${REEVE:-reeve}" worker --data "$machines/$1/worker" --name "$1" --slots "$(number slots)" \
        >"$machines/$1/log" 2>&1 </dev/null &
    echo $! >"$machines/$1/pid"
}

machine_end() { # NAME: its worker is drained and has no job
    kill "$(cat "$machines/$1/pid")" || true
    rm -r "${machines:?}/$1"
}

# ---

for worker in $(ends); do
    name=${worker%-*} # a worker's id is its name, a dash and six digits
    if [ -d "$machines/$name" ]; then machine_end "$name"; fi
done
next=1
while [ "$(count)" -lt "$(number wanted)" ]; do
    while [ -d "$machines/machine-$next" ]; do next=$((next + 1)); done
    machine_start "machine-$next"
done
