#!/usr/bin/env bash
# install.sh [PROGRAM]: puts the program and what belongs to it in place. Where to: DESTDIR (in front of everything), PREFIX
# (/usr/local), SYSCONFDIR (/etc), and UNITDIR, ZSHDIR, DOCDIR below them. Settings that are there already are kept.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${1:-build/release/reeve}
prefix=${PREFIX:-/usr/local}
sysconfdir=${SYSCONFDIR:-/etc}
unitdir=${UNITDIR:-$prefix/lib/systemd/system}
zshdir=${ZSHDIR:-$prefix/share/zsh/site-functions}
docdir=${DOCDIR:-$prefix/share/doc/reeve}
root=${DESTDIR:-}

[[ -x $program ]] || {
    echo "install: there is no $program: make build first" >&2
    exit 1
}

put() { # MODE FILE PLACE
    install -D -m "$1" "$2" "$root$3"
}
put_text() { # PLACE: standard input
    mkdir -p "$root$(dirname "$1")"
    cat >"$root$1"
    chmod 644 "$root$1"
}
put_settings() { # FILE PLACE
    [[ -e $root$2 ]] || put 644 "$1" "$2"
}

put 755 "$program" "$prefix/bin/reeve"
for page in docs/man/*; do put 644 "$page" "$prefix/share/man/man${page##*.}/${page##*/}"; done
"$program" completion bash | put_text "$prefix/share/bash-completion/completions/reeve"
"$program" completion zsh | put_text "$zshdir/_reeve"
"$program" completion fish | put_text "$prefix/share/fish/vendor_completions.d/reeve.fish"
for unit in reeve-server reeve-worker; do
    sed -e "s:@bindir@:$prefix/bin:" -e "s:@sysconfdir@:$sysconfdir:" "packaging/systemd/$unit.service.in" |
        put_text "$unitdir/$unit.service"
done
put_settings packaging/etc/reeve.yaml "$sysconfdir/reeve/reeve.yaml"
put_settings packaging/etc/reeve-worker "$sysconfdir/default/reeve-worker"
find examples -type f ! -path '*/__pycache__/*' | while read -r example; do put 644 "$example" "$docdir/$example"; done
find sdk/python/src -name '*.py' -o -name py.typed | while read -r module; do
    put 644 "$module" "$prefix/share/reeve/python/${module#sdk/python/src/}"
done
python3 sdk/python/backend.py "$root$prefix/share/reeve/python" >/dev/null # the same as a wheel, for pip
chmod 644 "$root$prefix"/share/reeve/python/reeve-*.whl
[[ -n ${NO_LICENCE:-} ]] || put 644 LICENSE "$docdir/LICENSE"
