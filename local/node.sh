#!/bin/sh
# Runs Node.js with the settings that limit the memory of the local service (docs/decisions/local-gateway.md).
# Usage: node.sh [options of Node.js] <file> [arguments]
export MALLOC_ARENA_MAX=2 NODE_COMPILE_CACHE="$(dirname "$0")/../node_modules/.cache/node"
exec node --max-semi-space-size=2 "$@"
