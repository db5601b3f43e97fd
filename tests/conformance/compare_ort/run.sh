#!/usr/bin/env bash
# Compares raw outputs with ONNX Runtime's on the same tensors (limit 1e-3 relative). For developers: needs node and, once,
# the npm registry. Usage: tests/conformance/compare_ort/run.sh MODEL.onnx[@INPUT:SHAPE[=VALUE];…]… (build/bin/compare_ort
# must be built). Dimensions that are open in the model are 1 unless a shape is given: rec.onnx@'x:1,3,48,320'.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "$0")")/../../.." && pwd)
work=$root/build/compare_ort
mkdir -p "$work"
cd "$work"
[ -d node_modules/onnxruntime-node ] || npm install --no-save --no-audit --no-fund --ignore-scripts onnxruntime-node@1.30.0
rm -rf cases
node "$root/tests/conformance/compare_ort/run_ort.mjs" "$work/cases" "$@"
exec "$root/build/bin/compare_ort" "$work/cases"
