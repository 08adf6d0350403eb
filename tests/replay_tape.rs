//! Generated traces, replayed with generated questions.

#[path = "common/generate.rs"]
mod generate;
#[path = "common/replay_tape.rs"]
mod replay_tape;

use cove_trace::owned::OwnedEvent;

#[test]
fn answers_divergences_and_leftovers_add_up() {
    generate::for_each_seed(1_000, |seed| {
        // Two seeds, so that neither part leaves the other without data.
        let events: Vec<OwnedEvent> = generate::generated(2 * seed);
        let questions: Vec<u8> = generate::generated(2 * seed + 1);
        replay_tape::replay_tape(&events, &questions);
    });
}
