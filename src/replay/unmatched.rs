//! Calls without a corresponding recorded call.

use super::divergence::Divergence;
use super::findings::Incomplete;
use super::matching::{Matching, Unrecorded};
use super::recording::Completeness;
use super::tapes::TapeEnd;
use crate::event::CallSite;

/// The result of such a call.
pub(super) enum Unmatched {
    /// The recorded task was stopped, so how far it gets depends on scheduling.
    Stopped,
    /// The recording ends before this call.
    Incomplete(Incomplete),
    /// The recorded run did not make this call.
    Diverged(Divergence),
}

impl Matching {
    /// Classifies a call of `task` without a corresponding recorded call.
    #[cold]
    pub(super) fn unmatched(
        &self,
        task: u64,
        unrecorded: &Unrecorded<'_>,
        site: CallSite<'_>,
        args: &[u8],
    ) -> Unmatched {
        let reason = self.recording.completeness();
        let incomplete = |calls: usize| {
            Unmatched::Incomplete(Incomplete { reason, task: Some(task), call_in_task: Some(calls as u64 + 1) })
        };
        match *unrecorded {
            Unrecorded::End { recorded_task, tape } => match tape.end {
                TapeEnd::Stopped => Unmatched::Stopped,
                TapeEnd::Unknown => incomplete(tape.calls.len()),
                TapeEnd::Completed => {
                    Unmatched::Diverged(self.more_calls(task, recorded_task, tape.calls.len(), site, args))
                }
            },
            // A truncated recording does not say which tasks would have been spawned.
            Unrecorded::Task if reason != Completeness::Complete => incomplete(0),
            Unrecorded::Task => Unmatched::Diverged(self.unknown_task(task, site, args)),
        }
    }
}
