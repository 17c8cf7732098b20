#!/usr/bin/env bash
# embed.sh OUT [DIR]: writes OUT/console_assets.c, a table of the files below DIR (src/proto/http/asset.h), and OUT/console_assets.S
# with their bytes, compressed. The same files make the same bytes. Without DIR the table is empty.
set -euo pipefail
out=$1 dir=${2:-}
packed=$out/console_assets.d
rm -rf "$packed"
mkdir -p "$packed"

type_of() {
    case $1 in
    *.html) echo "text/html; charset=utf-8" ;;
    *.js) echo "text/javascript; charset=utf-8" ;;
    *.css) echo "text/css; charset=utf-8" ;;
    *.svg) echo "image/svg+xml" ;;
    *.png) echo "image/png" ;;
    *.ico) echo "image/x-icon" ;;
    *.woff2) echo "font/woff2" ;;
    *.json | *.map | *.webmanifest) echo "application/json" ;;
    *.txt) echo "text/plain; charset=utf-8" ;;
    *) echo "embed: what is $1?" >&2 && exit 1 ;;
    esac
}

files=()
[[ -z $dir ]] || mapfile -t files < <(cd "$dir" && find . -type f | LC_ALL=C sort)
count=${#files[@]} index=0
table='' declarations=''
{
    echo '    .section .note.GNU-stack,"",%progbits'
    echo '    .section .rodata'
    for file in "${files[@]}"; do
        gzip -9nc "$dir/$file" >"$packed/$index.gz"
        printf '    .balign 8\n    .global console_asset_%d\nconsole_asset_%d:\n    .incbin "%s/%d.gz"\n' \
            "$index" "$index" "$packed" "$index"
        etag=$(sha256sum "$dir/$file" | cut -c 1-32)
        bytes=$(stat -c %s "$packed/$index.gz")
        type=$(type_of "$file")
        declarations+="extern const uint8_t console_asset_$index[$bytes];"$'\n'
        table+="    {\"${file#.}\", \"$type\", \"\\\"$etag\\\"\", {console_asset_$index, $bytes}},"$'\n'
        index=$((index + 1))
    done
} >"$out/console_assets.S"
{
    echo '/* Written by tools/embed.sh. */'
    echo '#include "console_assets.h"'
    echo
    if ((count)); then
        printf '%s\nstatic const struct asset all[] = {\n%s};\n' "$declarations" "$table"
        printf 'const struct assets console_assets = {all, %d};\n' "$count"
    else
        echo 'const struct assets console_assets = {NULL, 0};'
    fi
} >"$out/console_assets.c"
