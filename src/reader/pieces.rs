//! Traces that arrive in pieces, for whoever has an event loop of their own.

use super::{Pieces, TraceReader};

impl TraceReader<Pieces> {
    /// A reader of a trace whose bytes are [fed](Self::feed) to it as they arrive, cut anywhere.
    ///
    /// All that the reader is asked for is `None` when it is not there yet; ask again after the next piece.
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

    /// Takes the next piece. It is copied; memory stays as for a stream, as long as what is there is read before the next
    /// piece is fed. After [`finish`](Self::finish) nothing is taken.
    pub fn feed(&mut self, piece: &[u8]) {
        self.lines.feed(piece);
    }

    /// Says that all of the trace was fed.
    pub fn finish(&mut self) {
        self.lines.finish();
    }
}
