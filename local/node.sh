#!/bin/sh
# Runs the Node.js of `npm ci`, with the settings that limit the memory of the local service (emulator/README.md).
# Usage: node.sh [options of Node.js] <file> [arguments]
modules="$(dirname "$0")/../node_modules"
[ -e "$modules/.package-lock.json" ] || { echo "Run npm ci first." >&2; exit 1; }
export MALLOC_ARENA_MAX=2 NODE_COMPILE_CACHE="$modules/.cache/node"
exec node --max-semi-space-size=2 "$@"
