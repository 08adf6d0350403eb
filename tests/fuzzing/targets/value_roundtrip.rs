//! Any value tree, up to and past the depth limit: written alike however it is handed over, read back, and kept.

use cove_trace::decode::Decoder;
use cove_trace::owned::OwnedValue;
use cove_trace::{Arena, RecordedValue, Value, ValueCapture, value_to_json};

use super::canonical;
use super::generate::made_of;
use super::live::{Live, with_live_parts};
use super::replayable::{as_owned, first_missing};

pub(crate) fn check(data: &[u8]) {
    let value = made_of::<OwnedValue>(data);
    is_written_alike_however_it_is_handed_over(&value);
    reads_back(&value);
    is_replayed_whole_or_not_at_all(&value);
    replayable_comes_back_as_it_was(&made_of::<Value>(data));
}

/// Recorded, owned, and live, whole and in parts.
pub(crate) fn is_written_alike_however_it_is_handed_over(value: &OwnedValue) {
    for &capture in ValueCapture::ALL {
        let written = value_to_json(value, capture);
        let arena = Arena::new();
        let recorded = value.view(&arena);
        assert_eq!(value_to_json(&recorded, capture), written, "recorded");
        assert_eq!(value_to_json(&Live(value), capture), written, "live");
        assert_eq!(value_to_json(&RecordedValue::Live(&Live(value)), capture), written, "live in recorded");
        with_live_parts(value, |value| {
            assert_eq!(value_to_json(&value, capture), written, "live parts in recorded");
        });
    }
}

fn reads_back(value: &OwnedValue) {
    let written = value_to_json(value, ValueCapture::Full);
    let mut decoder = Decoder::new();
    let read = decoder.decode_value(written.as_bytes()).expect("what is written can be read");
    assert_eq!(OwnedValue::from(&read), canonical::value(value));
    assert_eq!(value_to_json(&read, ValueCapture::Full), written);
}

/// As it is in the program, as a trace holds it, and live.
pub(crate) fn is_replayed_whole_or_not_at_all(value: &OwnedValue) {
    let written = canonical::value(value);
    let live = Live(value);
    let arena = Arena::new();
    for recorded in [value.view(&arena), written.view(&arena), RecordedValue::Live(&live)] {
        match (recorded.to_value(), first_missing(&written)) {
            (Ok(replayable), None) => {
                assert_eq!(as_owned(&replayable), written);
            }
            (Err(refusal), Some((path, what))) => {
                assert_eq!(refusal.path(), path);
                assert_eq!(refusal.within("args[1]").to_string(), format!("args[1]{path}: {what}"));
            }
            (found, expected) => panic!("{found:?} where the missing part is {expected:?}"),
        }
    }
}

/// Says whether `value` can be replayed, after holding what that means.
pub(crate) fn replayable_comes_back_as_it_was(value: &Value) -> bool {
    let owned = as_owned(value);
    if first_missing(&canonical::value(&owned)).is_some() {
        return false;
    }
    let replayed = RecordedValue::Live(value).to_value().expect("a whole value");
    assert_eq!(replayed, *value);
    true
}
