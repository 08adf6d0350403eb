//! A trace read to its end, past whatever is wrong with it.

use super::position::Extent;
use super::{ReadError, Source, TraceReader};
use crate::event::{TraceEvent, TraceHeader};

/// One part of a trace, as [`TraceReader::walk`] comes to it.
#[derive(Debug)]
pub enum TracePart<'t> {
    /// The header.
    Header {
        /// The physical line, from 1, on which it stands.
        line: u64,
        /// What it declares.
        header: &'t TraceHeader,
    },
    /// An event.
    Event {
        /// The physical line, from 1, on which it stands.
        line: u64,
        /// What happened.
        event: TraceEvent<'t>,
    },
    /// Something that can't be read.
    Fault(ReadError),
}

impl TracePart<'_> {
    /// The same part of a trace that begins with `before`.
    pub(crate) fn after(self, before: Extent) -> Self {
        match self {
            Self::Header { line, header } => Self::Header { line: line + before.lines, header },
            Self::Event { line, event } => Self::Event { line: line + before.lines, event },
            Self::Fault(error) => Self::Fault(error.after(before)),
        }
    }
}

impl<S: Source> TraceReader<S> {
    /// Reads what is left of the trace to its end, past every fault that can be passed, and hands each part of it to `visit`
    /// in its turn. Gives the first error of `visit`, and stops there. Of a trace that arrives in pieces, goes as far as it has
    /// come; walk again after the next piece.
    ///
    /// # Errors
    ///
    /// Those of `visit`. The trace's own faults are parts.
    pub fn walk<E>(&mut self, mut visit: impl FnMut(TracePart<'_>) -> Result<(), E>) -> Result<(), E> {
        loop {
            if !self.header_walked {
                match self.header().map(Option::<&TraceHeader>::cloned) {
                    Ok(None) => {}
                    Ok(Some(header)) => {
                        self.header_walked = true;
                        visit(TracePart::Header { line: self.line(), header: &header })?;
                    }
                    // The header may stand on the next line, so that is looked at first.
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
