#!/bin/sh
# Runs the Node.js of `npm ci`.
# Usage: sh tools/node.sh [options of Node.js] <file> [arguments]
fail() { echo "$1" >&2; exit 1; }
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
modules=$root/node_modules
case $root in *:*) fail "PATH cannot hold the colon in $root: move this checkout." ;; esac
[ -e "$modules/.package-lock.json" ] || fail "Run npm ci first, or npm ci --workspaces=false in a workspace."
# With one link, one development and one optional package, all of their kind are there.
ls "$modules/.bin/jest" "$modules"/@esbuild/*/bin/esbuild >/dev/null 2>&1 ||
  fail "Packages are missing: run npm ci --include=dev --include=optional --bin-links."
# Not the link in node_modules/.bin, which npm before 11.6.2 removes. Without a package for this machine, the Node in PATH.
node=node
for package in "$modules"/node-*/bin/node; do [ ! -e "$package" ] || node=$package; done
runs() { version=$(NODE_OPTIONS='' "$1" -v 2>/dev/null) && major=${version#v} && [ "${major%%.*}" -ge 24 ] 2>/dev/null; }
if ! runs "$node"; then
  [ "$node" != node ] || fail "Node 24 or later is missing: run npm ci, or install it."
  # NixOS cannot run the package's Node, but esbuild. In the packages of another machine, neither runs.
  runs node && "$modules"/@esbuild/*/bin/esbuild --version >/dev/null 2>&1 ||
    fail "This machine cannot run $node: run npm ci here, on Linux with glibc or macOS, and without noexec."
  node=node
fi
export MALLOC_ARENA_MAX=2 NODE_COMPILE_CACHE="$modules/.cache/node" NODE_USE_ENV_PROXY=0
exec "$node" --max-semi-space-size=2 "$@"
