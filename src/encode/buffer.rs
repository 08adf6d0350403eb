//! The bytes of the line being written. Nothing is checked per byte: for a row of [parts](Part) the most they can take
//! together is reserved once, then they are stored one behind the other.
#![allow(unsafe_code)]

/// A growing line. All of it is UTF-8 as long as all parts are.
pub(crate) struct Buffer {
    bytes: Vec<u8>,
}

/// A text of this many bytes is a long one; a power of two. A row with a long text in it is appended part by part, and the
/// text piece by piece: its worst case, six bytes out for one in, is never reserved whole.
pub(super) const LONG: usize = 4 * 1024;

/// A part of a line: a fragment of the schema, a string, a number, or several of them in a row.
///
/// # Safety
///
/// When no text in the part is [`LONG`], `write` stores at most `bound` bytes at `to`, the result is how far behind `to` it
/// got, and no byte before the result is left uninitialised.
pub(super) unsafe trait Part: Copy {
    /// The lengths of all texts in the part, put together by "or": below [`LONG`] when each of them is.
    #[inline(always)]
    fn texts(self) -> usize {
        0
    }

    /// The most bytes that [`write`](Self::write) touches, when no text is [`LONG`].
    fn bound(self) -> usize;

    /// Stores the part at `to`, and gives the place behind it.
    ///
    /// # Safety
    ///
    /// No text may be [`LONG`], and `to` must be valid for writes of `bound` bytes.
    unsafe fn write(self, to: *mut u8) -> *mut u8;

    /// Appends the part on its own, without asking for room that it will hardly need.
    ///
    /// Inlined in a row of parts, so that the row need not be laid out in memory for it.
    #[inline(always)]
    fn append_frugally(self, line: &mut Buffer) {
        line.append_alone(self);
    }
}

impl Buffer {
    pub(super) fn append_to(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Takes back everything after the first `len` bytes.
    pub(super) fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }

    /// Appends a part, or a row of them.
    #[inline]
    pub(super) fn put(&mut self, part: impl Part) {
        if part.texts() >= LONG {
            part.append_frugally(self);
        } else {
            self.append(part);
        }
    }

    #[cold]
    #[inline(never)]
    fn append_alone(&mut self, part: impl Part) {
        self.append(part);
    }

    #[inline(always)]
    fn append(&mut self, part: impl Part) {
        let bound = part.bound();
        if self.bytes.capacity() - self.bytes.len() < bound {
            self.grow(bound);
        }
        let spare = self.bytes.spare_capacity_mut().as_mut_ptr().cast::<u8>();
        // SAFETY: `bound` bytes are reserved there.
        let end = unsafe { part.write(spare) };
        // SAFETY: both are inside of the spare capacity: `write` gets at most `bound` bytes far.
        let written = unsafe { end.offset_from_unsigned(spare) };
        // SAFETY: `write` has initialised all before `end`, as its trait promises.
        unsafe { self.bytes.set_len(self.bytes.len() + written) };
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, bound: usize) {
        self.bytes.reserve(bound);
    }
}
