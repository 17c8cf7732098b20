#!/usr/bin/env bash
# console.sh: builds the web console (console/) into build/console/dist, unless it is as new as its sources. Works on a copy,
# so the source tree stays as it is. Says nothing when all goes well.
set -euo pipefail
cd "$(dirname "$0")/.."

tables=(docs/openapi.yaml docs/guides/flows.schema.json) # what pages are made from, beside their own sources
place=build/console tree=build/console/tree log=build/console/build.log
mkdir -p "$place"
exec 9>"$place/lock" # several builds (dev, release) want the same console
flock 9

# sources: every file that the result depends on, with what is in it. schema.d.ts is made from a table.
sources() {
    find console "${tables[@]}" -path console/node_modules -prune -o -path console/dist -prune -o -path console/src/api/schema.d.ts -prune -o -type f -print0 |
        LC_ALL=C sort -z | xargs -0 sha256sum
}

stamp=$(sources | sha256sum)
[[ -f $place/stamp && -d $place/dist && $(<"$place/stamp") == "$stamp" ]] && exit 0

packages=$(sha256sum console/package.json console/package-lock.json)
mkdir -p "$tree/console"
find "$tree/console" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -rf {} +
tar -C console -c --exclude=./node_modules --exclude=./dist . | tar -C "$tree/console" -x
cp --parents "${tables[@]}" "$tree/"

install() {
    [[ -f $tree/packages && $(<"$tree/packages") == "$packages" ]] && return
    rm -f "$tree/packages"
    (cd "$tree/console" && npm ci --no-audit --no-fund --prefer-offline) && echo "$packages" >"$tree/packages"
}
build() { (cd "$tree/console" && npm run build -- --outDir ../../dist --emptyOutDir); }
if ! { install && build; } >"$log" 2>&1 </dev/null; then
    tail -30 "$log" >&2
    echo "console: it could not be built, see $log (cmake -DREEVE_CONSOLE=OFF builds the program without it)" >&2
    exit 1
fi
echo "$stamp" >"$place/stamp"
