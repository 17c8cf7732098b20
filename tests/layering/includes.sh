#!/usr/bin/env bash
# includes.sh LAYERS COMPILER: asks the compiler, for each pair of layers, whether one may include the other's headers.
# LAYERS has a line per layer: its name, then the layers whose include roots it is built with. Prints TAP.
#
# The table of the build is compared with the one below, which repeats the rule by hand: whoever widens a layer has to
# do it twice, and knowingly.
set -euo pipefail
layers=$1
compiler=$2

declare -A rule=(
    [base]="base"
    [core]="base core"
    [port]="base port"
    [calendar]="base calendar"
    [proto]="base proto"
    [eval]="base eval proto"
    [spec]="base calendar core eval proto spec"
    [journal]="base core journal port"
    [store]="base port store"
    [history]="base history port store"
    [server]="base calendar core eval journal port proto server spec store"
    [agent]="agent base core journal port proto spec store"
    [os]="base os port"
    [child]="base child port proto"
    [scale]="base port proto scale"
    [titan]="agent base port proto titan"
    [bench]="agent base bench cli core journal os port proto server spec store"
    [term]="base term"
    [cli]="agent base cli core eval journal port proto server spec store term"
)

# The first header of a layer that the system has none of the same name of, or nothing.
header_of() {
    local header
    for header in "src/$1"/*.h; do
        [[ -e $header && ! -e /usr/include/${header##*/} ]] || continue
        basename "$header"
        return
    done
}

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

probe() { # ROOTS... -- HEADER: does a file that includes the header compile up to the include?
    local flags=() header
    while [[ $1 != -- ]]; do
        flags+=("-Isrc/$1")
        shift
    done
    header=$2
    printf '#include "%s"\n' "$header" | "$compiler" -std=gnu17 -D_GNU_SOURCE "${flags[@]}" -E -x c - >/dev/null 2>&1
}

while read -r layer roots; do
    sorted=$(tr ' ' '\n' <<<"$roots" | sort | xargs)
    check "$([[ $sorted == "${rule[$layer]:-none}" ]] && echo true || echo false)" "$layer is built with: $sorted"
    for other in "${!rule[@]}"; do
        name=$(header_of "$other")
        [[ -n $name ]] || continue
        [[ " ${rule[$layer]} " == *" $other "* ]] && continue
        # A header of the same name in an allowed layer would hide the answer.
        hidden=false
        for root in $roots; do [[ -e src/$root/$name ]] && hidden=true; done
        $hidden && continue
        # shellcheck disable=SC2086
        check "$(probe $roots -- "$name" && echo false || echo true)" "$layer cannot include $other's $name"
    done
    own=$(header_of "$layer")
    if [[ -n $own ]]; then
        # shellcheck disable=SC2086
        check "$(probe $roots -- "$own" && echo true || echo false)" "$layer can include its own headers"
    fi
done <"$layers"

# Libraries of the system belong to one layer each; headers of the system are visible to all, so this is by reading.
others=$(grep -rl --include='*.[ch]' '<sqlite3\.h>' src | grep -v '^src/history/' || true)
check "$([[ -z $others ]] && echo true || echo false)" "only history includes sqlite3.h"
others=$(grep -rl --include='*.[ch]' '<zstd\.h>' src | grep -vE '^src/(journal|store|history)/' || true)
check "$([[ -z $others ]] && echo true || echo false)" "only journal, store and history include zstd.h"
others=$(grep -rl --include='*.[ch]' '<openssl/' src | grep -v '^src/os/' || true)
check "$([[ -z $others ]] && echo true || echo false)" "only os includes OpenSSL"

others=$(grep -rl --include='*.[ch]' '<uv\.h>' src | grep -v '^src/os/' || true)
check "$([[ -z $others ]] && echo true || echo false)" "only os includes libuv"

others=$(grep -rl --include='*.[ch]' '<archive\.h>' src | grep -v '^src/child/' || true)
check "$([[ -z $others ]] && echo true || echo false)" "only child includes libarchive"

others=$(grep -rl --include='*.[ch]' '<yaml\.h>' src | grep -vE '^src/(cli/|worker_config\.c|settings\.c)' || true)
check "$([[ -z $others ]] && echo true || echo false)" "only the command line and those who read settings include libyaml"

echo "1..$test_count"
exit $failed
