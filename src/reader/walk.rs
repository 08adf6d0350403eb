//! Reading a trace to its end despite faults.

use super::position::Extent;
use super::{ReadError, Source, TraceReader};
use crate::event::{TraceEvent, TraceHeader};

/// A part of a trace, as [`TraceReader::walk`] visits it.
#[derive(Debug)]
pub enum TracePart<'t> {
    /// The header.
    Header {
        /// Its physical line, from 1.
        line: u64,
        /// The header.
        header: &'t TraceHeader,
    },
    /// An event.
    Event {
        /// Its physical line, from 1.
        line: u64,
        /// The event.
        event: TraceEvent<'t>,
    },
    /// A part that cannot be read.
    Fault(ReadError),
}

impl TracePart<'_> {
    /// Moves the part behind the part `before` of the same trace.
    pub(crate) fn after(self, before: Extent) -> Self {
        match self {
            Self::Header { line, header } => Self::Header { line: line + before.lines, header },
            Self::Event { line, event } => Self::Event { line: line + before.lines, event },
            Self::Fault(error) => Self::Fault(error.after(before)),
        }
    }
}

impl<S: Source> TraceReader<S> {
    /// Reads the rest of the trace, continuing after faults that are not final, and passes each part to `visit`. It
    /// stops at the first error of `visit`. A trace that arrives in pieces is read as far as it has arrived; walk again
    /// after the next piece.
    ///
    /// # Errors
    ///
    /// Returns the first error of `visit`. The faults of the trace are parts, not errors.
    pub fn walk<E>(&mut self, mut visit: impl FnMut(TracePart<'_>) -> Result<(), E>) -> Result<(), E> {
        loop {
            if !self.header_walked {
                match self.header().map(Option::<&TraceHeader>::cloned) {
                    Ok(None) => {}
                    Ok(Some(header)) => {
                        self.header_walked = true;
                        visit(TracePart::Header { line: self.line(), header: &header })?;
                    }
                    // The next line may be the header.
                    Err(error) => {
                        visit(TracePart::Fault(error))?;
                        continue;
                    }
                }
            }
            match self.next_event_with_line() {
                Ok(None) => return Ok(()),
                Ok(Some((line, event))) => visit(TracePart::Event { line, event })?,
                Err(error) => visit(TracePart::Fault(error))?,
            }
        }
    }
}
