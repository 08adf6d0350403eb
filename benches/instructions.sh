#!/usr/bin/env bash
# Instructions per event, counted by callgrind: a number that a busy machine does not move.
#   benches/instructions.sh encode|decode [GROUP] [CONTENDER...]
# GROUP is a corpus of that benchmark (encode_hot or decode_hot unless given), CONTENDER one of its writers or readers.
# encode has a group more, host_call, with the writers named and rendered.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "SKIPPED: valgrind is not installed"; exit 0; }

bench=${1:?encode or decode}
group=${2:-${bench}_hot}
contenders=("${@:3}")
if [ ${#contenders[@]} -eq 0 ]; then
    case $bench in
        encode) contenders=(cove_trace cove_trace_live cove_trace_callsite serde_json) ;;
        *) contenders=(cove_trace serde_json simd_json_tape) ;;
    esac
fi

binary=$(cargo bench --bench "$bench" --no-run 2>&1 | sed -n "s/.*(\(.*\/$bench-[0-9a-f]*\)).*/\1/p")
for contender in "${contenders[@]}"; do
    profile=$(mktemp)
    events=$(valgrind --tool=callgrind --toggle-collect='*counted_pass*' --callgrind-out-file="$profile" \
        "$binary" --instructions "$group" "$contender" 2>/dev/null)
    total=$(sed -n 's/^totals: //p' "$profile")
    printf '%-22s %8d instructions an event (%s)\n' "$contender" $((total / events)) "$group"
    rm -f "$profile"
done
