#!/usr/bin/env bash
# life.sh PACKAGE DIR: called by deb.sh in namespaces of its own: the package from its installation to its purge, in an
# overlay over the machine's root. Prints "yes FACT" or "no FACT", and other lines as remarks.
set -euo pipefail
package=$1
dir=$2/life

is() { # FACT COMMAND...
    local fact=$1
    shift
    if "$@" >/tmp/said 2>&1; then echo "yes $fact"; else
        echo "no $fact"
        sed 's/^/    /' /tmp/said
    fi
}
not() { ! "$@"; }

mkdir -p "$dir"
mount -t tmpfs tmpfs "$dir"
mkdir "$dir"/{upper,work,root}
mount -t overlay overlay -o "lowerdir=/,upperdir=$dir/upper,workdir=$dir/work" "$dir/root"
cp "$package" "$dir/root/reeve.deb"
root=$dir/root
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
for fresh in tmp run; do mount -t tmpfs -o mode=1777 tmpfs "$root/$fresh"; done
enter=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root")
in_root() { "${enter[@]}" "$@"; }
left() { # what the upper layer has, but for the books that dpkg and its helpers keep
    (cd "$dir/upper" && find . ! -type d ! -path './var/lib/dpkg/*' ! -path './var/log/*' ! -path './var/cache/*' \
        ! -path './etc/*passwd*' ! -path './etc/*group*' ! -path './etc/*shadow*' ! -path './etc/sub[ug]id*' \
        ! -path './reeve.deb' ! -path './etc/.pwd.lock' ! -path './var/lib/systemd/deb-systemd-helper-*' -print) | sort
}
await() { # COMMAND...: until it is true, for a minute
    local i
    for ((i = 0; i < 600; i++)); do
        "$@" >/dev/null 2>&1 && return 0
        read -rt 0.1 <> <(:) || true
    done
    return 1
}

# ---- installed ----

is "dpkg installs it without a systemd that runs" in_root dpkg -i /reeve.deb
is "it is configured" in_root dpkg-query -W -f '${db:Status-Abbrev}' reeve
is "the server has a user of its own" in_root id reeve
is "and the worker another one" in_root id reeve-worker
is "both units are enabled" in_root test -L /etc/systemd/system/multi-user.target.wants/reeve-server.service -a \
    -L /etc/systemd/system/multi-user.target.wants/reeve-worker.service
is "settings are a conffile" grep -q /etc/reeve/reeve.yaml "$root/var/lib/dpkg/info/reeve.conffiles"
if in_root sh -c 'command -v systemd-analyze' >/dev/null; then
    is "systemd understands the units" in_root systemd-analyze verify --man=no \
        /lib/systemd/system/reeve-server.service /lib/systemd/system/reeve-worker.service
else
    echo "systemd-analyze is not on this machine: units are not looked at"
fi

# ---- used ----

is "up starts a server and a worker" in_root reeve up --detach --data /tmp/up --listen 127.0.0.1:0
is "and a job runs" in_root sh -c 'test "$(reeve run --data /tmp/up -- echo hello)" = hello'
is "and an example of the package" in_root reeve submit --data /tmp/up --wait /usr/share/doc/reeve/examples/etl.yaml
is "and down ends them" in_root reeve down --data /tmp/up

# As the units start them, but for systemd itself, and at a port that nobody else has.
command_of() { sed -n "s/^ExecStart=//; T; s/ \$WORKER_OPTIONS//; p" "$root/lib/systemd/system/reeve-$1.service"; }
in_root install -d -o reeve -g reeve -m 750 /var/lib/reeve
in_root install -d -o reeve-worker -g reeve-worker -m 750 /var/lib/reeve-worker /run/reeve-worker
# shellcheck disable=SC2046
"${enter[@]}" setpriv --reuid reeve --regid reeve --clear-groups env REEVE_LISTEN=127.0.0.1:0 \
    $(command_of server) >"$dir/server.log" 2>&1 &
server=$!
is "the server of the unit starts" await test -s "$root/var/lib/reeve/worker.token" -a -s "$root/var/lib/reeve/address"
hand_over=$(sed -n 's/^ExecStartPre=-+//p' "$root/lib/systemd/system/reeve-worker.service")
# shellcheck disable=SC2086
is "the worker gets its token" in_root $hand_over
# shellcheck disable=SC2046
"${enter[@]}" setpriv --reuid reeve-worker --regid reeve-worker --clear-groups env REEVE_DATA=/run/reeve-worker \
    $(command_of worker) >"$dir/worker.log" 2>&1 &
worker=$!
is "root runs a job on them" in_root sh -c 'test "$(REEVE_DATA=/var/lib/reeve timeout 60 reeve run -- id -un)" = reeve-worker'
is "which cannot read what is the server's" not in_root setpriv --reuid reeve-worker \
    --regid reeve-worker --clear-groups cat /var/lib/reeve/admin.token
kill $worker
is "TERM ends the worker" wait $worker
kill $server
is "and the server" wait $server

is "the manual pages render without a complaint" in_root sh -c \
    'for page in man1/reeve.1 man5/reeve-flow.5 man8/reeve-serve.8 man8/reeve-worker.8; do
        test -z "$(man --warnings=w -E UTF-8 -l /usr/share/man/$page.gz 2>&1 >/tmp/page)" && grep -q "SEE ALSO" /tmp/page || exit 1
    done'
is "completion loads in bash" in_root bash -c \
    '. /usr/share/bash-completion/completions/reeve; COMP_LINE="reeve subm" COMP_POINT=10; _reeve reeve subm reeve; test "${COMPREPLY[0]}" = submit'

# ---- again, and gone ----

echo "# a line of the owner" >>"$root/etc/reeve/reeve.yaml"
is "dpkg installs it over itself" in_root dpkg -i /reeve.deb
is "settings that were changed stay" grep -q "a line of the owner" "$root/etc/reeve/reeve.yaml"
is "dpkg removes it" in_root dpkg -r reeve
is "the program is gone" not in_root test -e /usr/bin/reeve
is "settings and data are not" in_root test -e /etc/reeve/reeve.yaml -a -d /var/lib/reeve
is "dpkg purges it" in_root dpkg -P reeve
is "the users are gone" not in_root sh -c 'id reeve || id reeve-worker'
rest=$(left)
sed 's/^/left: /; /^left: $/d' <<<"$rest"
is "nothing is left" test -z "$rest"
