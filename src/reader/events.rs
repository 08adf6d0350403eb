//! The events of a trace as an iterator.

use super::{ReadError, Source, TraceReader};
use crate::owned::OwnedEvent;

/// Iterates over the events of a trace, each with its contents copied. Created by [`TraceReader::events`].
#[derive(Debug)]
pub struct Events<'r, S> {
    reader: &'r mut TraceReader<S>,
}

impl<S: Source> Iterator for Events<'_, S> {
    type Item = Result<OwnedEvent, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.reader.next_event().map(|event| event.as_ref().map(OwnedEvent::from)).transpose()
    }
}

impl<S: Source> TraceReader<S> {
    /// Iterates over the remaining events. Each event is copied, which allocates;
    /// [`next_event`](Self::next_event) lends it instead.
    ///
    /// After an error, the iterator goes on with the next line, unless the error [is final](ReadError::is_final).
    ///
    /// ```
    /// use cove_trace::TraceReader;
    ///
    /// # let trace = concat!(
    /// #     r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main","args":[]}"#, "\n",
    /// #     r#"{"event":"task_cancelled","id":7}"#, "\n",
    /// # ).as_bytes();
    /// let mut reader = TraceReader::from_slice(trace);
    /// let events = reader.events().collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(events.len(), 1);
    /// # Ok::<(), cove_trace::ReadError>(())
    /// ```
    pub fn events(&mut self) -> Events<'_, S> {
        Events { reader: self }
    }
}
