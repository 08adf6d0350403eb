//! Traces that arrive in pieces, for programs with their own event loop.

use super::{Pieces, TraceReader};

impl TraceReader<Pieces> {
    /// Returns a reader of a trace whose bytes are [fed](Self::feed) to it as they arrive. Pieces may end anywhere.
    ///
    /// The reader returns `None` for an event that has not arrived as a whole. Call it again after the next piece.
    ///
    /// ```
    /// use cove_trace::{TraceEvent, TraceReader};
    ///
    /// # let trace = concat!(
    /// #     r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main","args":[]}"#, "\n",
    /// #     r#"{"event":"task_cancelled","id":7}"#, "\n", r#"{"event":"task_cancelled","id":8}"#,
    /// # ).as_bytes();
    /// let mut reader = TraceReader::from_pieces();
    /// let mut cancelled = Vec::new();
    /// for piece in trace.chunks(16) {
    ///     reader.feed(piece);
    ///     while let Some(event) = reader.next_event()? {
    ///         if let TraceEvent::TaskCancelled { id } = event {
    ///             cancelled.push(id);
    ///         }
    ///     }
    /// }
    /// // A last line without a newline counts, once it is known to be the last.
    /// assert_eq!(cancelled, [7]);
    /// reader.finish();
    /// assert_eq!(reader.next_event()?, Some(TraceEvent::TaskCancelled { id: 8 }));
    /// # Ok::<(), cove_trace::ReadError>(())
    /// ```
    #[must_use]
    pub fn from_pieces() -> Self {
        Self::of(Pieces::default())
    }

    /// Copies the next piece into the reader. Memory is that of a stream if all events are read before the next piece
    /// is fed. Does nothing after [`finish`](Self::finish).
    pub fn feed(&mut self, piece: &[u8]) {
        self.lines.feed(piece);
    }

    /// Marks the end of the trace.
    pub fn finish(&mut self) {
        self.lines.finish();
    }
}
