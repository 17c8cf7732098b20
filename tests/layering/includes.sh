#!/usr/bin/env bash
# includes.sh LAYERS COMPILER [LAYER]: asks the compiler, for each pair of layers, whether one may include the other's
# headers; for this one layer, if it is named.
# LAYERS has a line per layer, and per room with a rule of its own (core/apply): its name, then the folders below src/
# that are its include roots. Prints TAP.
#
# The table of the build is compared with the one below, which repeats the rule by hand: whoever widens a layer has to
# do it twice, and knowingly.
set -euo pipefail
layers=$1
compiler=$2
only=${3:-}

declare -A rule=(
    [base]="base"
    [job]="base job"
    [limits]="base limits"
    [core]="base core job limits"
    [core/model]="base core/model job"
    [core/apply]="base core/apply core/model job"
    [core/decide]="base core/apply core/decide core/model job limits"
    [core/snapshot]="base core/apply core/model core/snapshot job"
    [core/engine]="base core/apply core/decide core/engine core/model core/snapshot core/view job limits"
    [core/view]="base core/apply core/decide core/model core/view job limits"
    [port]="base port"
    [calendar]="base calendar"
    [proto]="base job limits proto"
    [oidc]="base limits oidc port proto/text"
    [eval]="base calendar eval job limits proto"
    [spec]="base calendar core/model eval job limits proto spec"
    [mcp]="base calendar job limits mcp proto spec"
    [journal]="base core/engine core/model job journal limits port"
    [journal/.]="base core/engine core/model job journal/. limits"
    [journal/file]="base core/engine core/model job journal/. journal/file limits port"
    [journal/ram]="base core/engine core/model job journal/. journal/ram limits"
    [audit]="audit base core/engine core/model job journal/. limits port proto"
    [store]="base limits port store"
    [history]="base history port store"
    [server]="audit base calendar core/engine core/model core/view eval job journal/. limits mcp oidc port proto server spec store"
    [dialect]="audit base calendar core/engine core/model core/view dialect eval job journal/. limits mcp oidc port proto server spec store"
    [dialect/native]="audit base calendar core/engine core/model core/view dialect/native eval job journal/. limits mcp oidc port proto server spec store"
    [dialect/http]="audit base calendar core/engine core/model core/view dialect/http eval job journal/. limits mcp oidc port proto server spec store"
    [dialect/mcp]="audit base calendar core/engine core/model core/view dialect/http dialect/mcp eval job journal/. limits mcp oidc port proto server spec store"
    [dialect/orion]="audit base calendar core/engine core/model core/view dialect/http dialect/orion eval job journal/. limits mcp oidc port proto server spec store"
    [dialect/titan]="audit base calendar core/engine core/model core/view dialect/http dialect/titan eval job journal/. limits mcp oidc port proto server spec store"
    [dialect/resp]="audit base calendar core/engine core/model core/view dialect/resp eval job journal/. limits mcp oidc port proto server spec store"
    [assembly]="assembly audit base calendar core/engine core/model core/view dialect eval job journal/. limits mcp oidc port proto server spec store"
    [agent]="agent base core/model job journal/. limits port proto spec store"
    [os]="base os port"
    [child]="base child job limits port proto"
    [scale]="base job port proto scale"
    [titan_worker]="agent base job limits port proto titan_worker"
    [bench]="agent base bench cli core/engine core/model core/view job journal limits os port proto server spec store"
    [term]="base term"
    [cli]="audit base cli core/model job journal/. limits mcp oidc port proto spec term"
    [cli/.]="base cli/. cli/connect cli/loop core/model job limits port proto spec term"
    [cli/audit]="audit base cli/. cli/audit cli/connect cli/loop cli/print cli/store core/model job journal/. limits port proto spec term"
    [cli/connect]="base cli/connect job limits port proto"
    [cli/loop]="base cli/. cli/connect cli/loop core/model job limits port proto spec term"
    [cli/yaml]="base cli/yaml limits proto"
    [cli/print]="base cli/connect cli/loop cli/print cli/yaml core/model job limits port proto spec term"
    [cli/service]="base cli/. cli/connect cli/loop cli/print cli/service core/model job limits port proto spec term"
    [cli/schedule]="base cli/. cli/connect cli/loop cli/print cli/schedule core/model job limits port proto spec term"
    [cli/store]="base cli/. cli/connect cli/loop cli/print cli/store core/model job limits port proto spec term"
    [cli/top]="base cli/. cli/connect cli/loop cli/print cli/top core/model job limits port proto spec term"
    [cli/flow]="base cli/. cli/connect cli/flow cli/loop cli/print cli/yaml core/model job limits mcp port proto spec term"
    [cli/admin]="base cli/. cli/admin cli/connect cli/loop cli/print cli/yaml core/model job limits mcp oidc port proto spec term"
    [cli/shell]="base cli/. cli/connect cli/loop cli/shell core/model job limits port proto spec term"
)

# The rooms of layers: their folders and the folders in these; of LAYER/. its own folder.
rooms_of() {
    local layer folder
    for layer in "$@"; do
        [[ $layer != */* ]] || { echo "${layer%/.}" && continue; }
        for folder in "src/$layer" "src/$layer"/*/; do
            [[ -d $folder ]] || continue
            folder=${folder#src/}
            echo "${folder%/}"
        done
    done
}

# The first header of a layer that the system has none of the same name of, or nothing.
header_of() {
    local room header
    for room in $(rooms_of "$1"); do
        for header in "src/$room"/*.h; do
            [[ -e $header && ! -e /usr/include/${header##*/} ]] || continue
            basename "$header"
            return
        done
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

layer_count=0
while read -r layer roots; do
    layer_count=$((layer_count + 1))
    [[ -z $only || $layer == "$only" ]] || continue
    # shellcheck disable=SC2086
    expected=$(rooms_of ${rule[$layer]:-none} | sort | xargs)
    found=$(tr ' ' '\n' <<<"$roots" | sort | xargs)
    check "$([[ $found == "$expected" ]] && echo true || echo false)" "$layer is built with: ${rule[$layer]:-}"
    for other in "${!rule[@]}"; do
        [[ " ${rule[$layer]} " == *" $other "* ]] && continue
        [[ " ${rule[$layer]} " == *" ${other%%/*} "* ]] && continue # all rooms of that layer
        name=$(header_of "$other")
        # Of a layer of which only some rooms are seen, the others are asked about by their own names.
        [[ " ${rule[$layer]} " != *" $other/"* ]] || continue
        [[ -n $name ]] || continue
        # shellcheck disable=SC2086
        check "$(probe $roots -- "$name" && echo false || echo true)" "$layer cannot include $other's $name"
    done
    # By name, because these are the ones that somebody in a hurry would reach for.
    if [[ $layer == core/model || $layer == core/apply ]]; then
        for name in decide.h live.h limit.h engine.h view.h; do
            # shellcheck disable=SC2086
            check "$(probe $roots -- "$name" && echo false || echo true)" "$layer cannot see $name"
            check "$([[ -n $(find src -name "$name") ]] && echo true || echo false)" "there is a $name to be seen"
        done
    fi
    own=$(header_of "$layer")
    sources=("src/${layer%/.}"/*.c)
    # A room of verbs has none: the table of verbs names their functions.
    check "$([[ -n $own || -e ${sources[0]} ]] && echo true || echo false)" "$layer has headers, or sources"
    [[ -n $own ]] || continue
    # shellcheck disable=SC2086
    check "$(probe $roots -- "$own" && echo true || echo false)" "$layer can include its own headers"
done <"$layers"
check "$([[ $layer_count == "${#rule[@]}" ]] && echo true || echo false)" "every layer of the rule is built"

# One include path may see several rooms, so a name stands for one header.
twice=$(find src sim tests/lib -name '*.h' -printf '%f\n' | sort | uniq -d)
check "$([[ -z $twice ]] && echo true || echo false)" "no two headers have the same name${twice:+: $twice}"

# Nothing in the server names a dialect, and what HTTP keeps for itself is in web_impl.h.
dialect_headers=$(find src/dialect -name '*.h' -printf '%f\n' | sort | paste -sd'|')
check "$([[ -n $dialect_headers ]] && echo true || echo false)" "there are dialects"
others=$(grep -rlE --include='*.[ch]' "^#include \"($dialect_headers)\"" src/server || true)
check "$([[ -z $others ]] && echo true || echo false)" "no file of the server includes a dialect${others:+: $others}"
# Comments may. The keys of late_labels.h are a format: Titan's SDK wrote them into stores.
code() { perl -0777 -pe 's{/\*.*?\*/}{" " . ("\n" x ($& =~ tr/\n//))}gse' "$1"; }
others=$(find src/server -name '*.[ch]' ! -name late_labels.h | sort | while read -r file; do
    ! code "$file" | grep -qiE '(\b|_)(titan|orion|resps?)(\b|_)' || echo "$file"
done)
check "$([[ -z $others ]] && echo true || echo false)" "no code of the server names Titan, Orion or RESP${others:+: $others}"
check "$(code src/server/view/late_labels.h | grep -qi titan && echo true || echo false)" "a name in code would be seen"
others=$(grep -rl --include='*.[ch]' '"web_impl\.h"' src | grep -v '^src/dialect/http/' || true)
check "$([[ -z $others ]] && echo true || echo false)" "only HTTP includes web_impl.h${others:+: $others}"

# Which shard something belongs to is the resolver's business (server_shard); the server that is being made sets it.
readers=$(grep -rnE --include='*.[ch]' -e '\bs->shard\b' src/server src/dialect src/assembly | grep -v 'reads s->shard')
resolver=$(grep -c 'server\.c:.*return s->shard;' <<<"$readers" || true)
others=$(grep -vE '^src/server/loop/server\.c:.*(return s->shard;|s->shard( = |->))' <<<"$readers" || true)
check "$([[ $resolver == 1 && -z $others ]] && echo true || echo false)" "nobody but the resolver reads the shard of a server${others:+: $others}"

# The engines of the journal are for those who open one: the others get a journal, and cannot tell which it is.
engines=$(cd src/journal && printf '%s\n' */*.h | sed 's|.*/||; s|\.|\\.|' | paste -sd '|')
named=$(grep -rlE --include='*.[ch]' "#include \"($engines)\"" src)
others=$(grep -vE '^src/(journal/file|journal/ram|program|bench)/' <<<"$named" || true)
check "$([[ -z $others ]] && echo true || echo false)" "only program and bench name an engine of the journal${others:+: $others}"
users=$(grep -cE '^src/(program|bench)/' <<<"$named" || true)
check "$([[ $users -gt 0 ]] && echo true || echo false)" "and program does: $users files do"

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

others=$(grep -rl --include='*.[ch]' '<yaml\.h>' src | grep -vE '^src/(cli/yaml/|program/worker_config\.c|program/settings\.c)' || true)
check "$([[ -z $others ]] && echo true || echo false)" "only yaml of the command line and those who read settings include libyaml"

echo "1..$test_count"
exit $failed
