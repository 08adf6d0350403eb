//! The bytes of the line being written. Nothing is checked per byte: for a row of [parts](Part) the most they can take
//! together is reserved once, then they are stored one behind the other.
#![allow(unsafe_code)]

/// A growing line. All of it is UTF-8 as long as all parts are.
pub(crate) struct Buffer {
    bytes: Vec<u8>,
}

/// The most that is reserved at once on top of what is needed for sure. A row with a longer string in it is appended part
/// by part, and the string piece by piece: its worst case, six bytes out for one in, is never reserved whole.
pub(super) const LONG: usize = 64 * 1024;

/// A part of a line: a fragment of the schema, a string, a number, or several of them in a row.
///
/// # Safety
///
/// `write` stores at most `bound` bytes at `to`, the result is how far behind `to` it got, and no byte before the result is
/// left uninitialised.
pub(super) unsafe trait Part: Copy {
    /// The most bytes that [`write`](Self::write) touches. When it is over [`LONG`] the part is not written at once.
    fn bound(self) -> usize;

    /// Stores the part at `to`, and gives the place behind it.
    ///
    /// # Safety
    ///
    /// `to` must be valid for writes of `bound` bytes, and `bound` be [`LONG`] at most for a part that may be long.
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
        if part.bound() > LONG {
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
