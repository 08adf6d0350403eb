#!/usr/bin/env bash
# Counts instructions per event with callgrind: a number that does not depend on how busy the machine is.
#   [SEED=N] benches/instructions.sh encode|decode [GROUP] [CONTENDER...]
# GROUP is a corpus of that benchmark (mixed_warm by default), CONTENDER one of its writers or readers.
# encode has two more groups: host_call (rendered, named, plain) and not_recording (dyn, gated_clock,
# option_of_dyn, empty_dyn_call).
# SEED is that of the corpora.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "SKIPPED: valgrind is not installed"; exit 0; }

bench=${1:?encode or decode}
group=${2:-mixed_warm}
contenders=("${@:3}")
if [ ${#contenders[@]} -eq 0 ]; then
    case $bench/$group in
        encode/host_call) contenders=(rendered named plain) ;;
        encode/not_recording) contenders=(dyn gated_clock option_of_dyn empty_dyn_call) ;;
        encode/*) contenders=(live live_named recorded plain serde_json) ;;
        *) contenders=(slice read decoder serde_json simd_json_tape) ;;
    esac
fi

binary=$(cargo bench --bench "$bench" --no-run 2>&1 | sed -n "s/.*(\(.*\/$bench-[0-9a-f]*\)).*/\1/p")
for contender in "${contenders[@]}"; do
    profile=$(mktemp)
    events=$(valgrind --tool=callgrind --toggle-collect='*counted_pass*' --callgrind-out-file="$profile" \
        "$binary" --seed "${SEED:-1}" --instructions "$group" "$contender" 2>/dev/null)
    total=$(sed -n 's/^totals: //p' "$profile")
    printf '%-22s %8d instructions an event (%s)\n' "$contender" $((total / events)) "$group"
    rm -f "$profile"
done
