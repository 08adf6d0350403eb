//! Any event, in both captures: what is written is one valid line, and reads back as the canonical form.

use cove_trace::decode::Decoder;
use cove_trace::owned::OwnedEvent;
use cove_trace::{Arena, ValueCapture};

use super::generate::made_of;
use super::lines::{assert_is_one_line_of_json, line};
use super::{canonical, secrets};

pub(crate) fn check(data: &[u8]) {
    let (seed, event) = made_of::<(u64, OwnedEvent)>(data);
    reads_back_as_its_canonical_form(&event);
    redacted_tells_nothing_but_types(&event, seed);
}

pub(crate) fn reads_back_as_its_canonical_form(event: &OwnedEvent) {
    for &capture in ValueCapture::ALL {
        let arena = Arena::new();
        let written = line(&event.view(&arena), capture);
        assert_is_one_line_of_json(&written);

        let mut decoder = Decoder::new();
        let read = decoder.decode_event(&written).expect("what is written can be read");
        assert_eq!(OwnedEvent::from(&read), canonical::event(event, capture), "{capture}");

        // What was read can be recorded again, and is canonical already.
        assert_eq!(line(&read, ValueCapture::Full), written);
        assert_eq!(line(&read, capture), written);
    }
}

/// Other values of the same types in the same places, and other words of the program.
pub(crate) fn redacted_tells_nothing_but_types(event: &OwnedEvent, seed: u64) {
    let other = secrets::with_other_secrets(event, seed);
    let (arena, other_arena) = (Arena::new(), Arena::new());
    let written = line(&event.view(&arena), ValueCapture::Redacted);
    let other_written = line(&other.view(&other_arena), ValueCapture::Redacted);
    assert_eq!(String::from_utf8_lossy(&other_written), String::from_utf8_lossy(&written), "beside {other:?}");
}
