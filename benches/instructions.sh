#!/usr/bin/env bash
# Instructions per event, counted by callgrind: a number that a busy machine does not move.
#   benches/instructions.sh [GROUP] [WRITER...]
# GROUP is a corpus of benches/encode.rs (encode_hot unless given), WRITER one of its writers. The group host_call has the
# writers named and rendered.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "SKIPPED: valgrind is not installed"; exit 0; }

group=${1:-encode_hot}
shift || true
writers=("$@")
[ ${#writers[@]} -gt 0 ] || writers=(cove_trace cove_trace_live cove_trace_callsite serde_json)

binary=$(cargo bench --bench encode --no-run 2>&1 | sed -n 's/.*(\(.*\/encode-[0-9a-f]*\)).*/\1/p')
for writer in "${writers[@]}"; do
    profile=$(mktemp)
    events=$(valgrind --tool=callgrind --toggle-collect='*counted_pass*' --callgrind-out-file="$profile" \
        "$binary" --instructions "$group" "$writer" 2>/dev/null)
    total=$(sed -n 's/^totals: //p' "$profile")
    printf '%-22s %8d instructions an event (%s)\n' "$writer" $((total / events)) "$group"
    rm -f "$profile"
done
