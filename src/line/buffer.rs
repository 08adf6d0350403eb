//! The bytes of the line being written.
//!
//! Room is checked once for a whole [`Fragment`], by the most bytes that it can take. Its parts are then stored one
//! behind the other without further checks.
#![allow(unsafe_code)]

/// A fragment that may take more than this is put piece by piece when there is no room for it: the worst case of a
/// string, six bytes for each of its own, is never reserved whole.
pub(super) const PIECEWISE: u64 = 64 * 1024;

/// A growing line of limited length, behind what a `Vec` holds already. Its bytes are UTF-8 as long as all fragments
/// are.
///
/// A fragment that does not fit *stops* the buffer: it takes nothing more until it is [resumed](Self::resume). So
/// callers may append without looking, and ask once at the end.
pub(crate) struct Buffer {
    /// Owns the bytes. Its length is only brought up to date when it grows, and at the end.
    bytes: Vec<u8>,
    /// Where the next fragment goes, inside of the capacity. All bytes before it are initialised.
    pos: *mut u8,
    /// The end of the room that a fragment may be stored to without asking: never behind the end of the capacity or the
    /// limit, and equal to `pos` when the buffer is stopped.
    end: *mut u8,
    /// The most bytes that the vector may hold.
    limit: usize,
    stop: Option<Stop>,
}

/// Why a buffer takes no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The line would have become longer than its limit.
    TooLong,
    /// The allocator has no memory for it.
    OutOfMemory,
    /// The caller stopped it.
    Stopped,
}

// SAFETY: the pointers point into `bytes`, which the buffer owns.
unsafe impl Send for Buffer {}

/// What can be appended to a line: literal text, a number, a string, or a tuple of those.
///
/// # Safety
///
/// `write` stores at most `bound` bytes at `to`, returns how far it got, and leaves no byte before that uninitialised.
pub(crate) unsafe trait Fragment: Copy {
    /// The most bytes that [`write`](Self::write) touches.
    fn bound(self) -> u64;

    /// Stores the fragment at `to` and returns the position behind it.
    ///
    /// # Safety
    ///
    /// `to` must be valid for writes of `bound` bytes.
    unsafe fn write(self, to: *mut u8) -> *mut u8;

    /// Appends the fragment where it may cross the limit or be large. Returns whether it was appended.
    ///
    /// A tuple does so part by part, inlined: otherwise it would be laid out in memory for this call.
    #[inline(always)]
    fn put_carefully(self, buffer: &mut Buffer) -> bool {
        buffer.put_within_limit(self)
    }
}

impl Buffer {
    /// Appends to `bytes` a line of at most `limit` bytes.
    #[inline(always)]
    pub(crate) fn append_to(mut bytes: Vec<u8>, limit: usize) -> Self {
        let limit = bytes.len().saturating_add(limit);
        let start = bytes.as_mut_ptr();
        // SAFETY: both are at most the capacity.
        let (pos, end) = unsafe { (start.add(bytes.len()), start.add(bytes.capacity().min(limit))) };
        Self { bytes, pos, end, limit, stop: None }
    }

    /// The bytes that [`append_to`](Self::append_to) was given, and what was appended to them.
    #[inline(always)]
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.update_len();
        self.bytes
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.pos.addr() - self.bytes.as_ptr().addr()
    }

    /// The most bytes that may stand here.
    pub(crate) fn limit(&self) -> u64 {
        self.limit as u64
    }

    /// Why the buffer takes no more, if it does not.
    #[inline(always)]
    pub(crate) fn stopped(&self) -> Option<Stop> {
        self.stop
    }

    /// Appends a fragment. Returns whether it was appended; when it was not, the buffer is stopped.
    #[inline(always)]
    pub(crate) fn put(&mut self, fragment: impl Fragment) -> bool {
        let room = self.end.addr() - self.pos.addr();
        if (room as u64) < fragment.bound() && !self.make_room(fragment.bound()) {
            return fragment.put_carefully(self);
        }
        // SAFETY: `bound` bytes are there.
        self.pos = unsafe { fragment.write(self.pos) };
        true
    }

    /// Takes no more.
    #[cold]
    pub(crate) fn stop(&mut self, why: Stop) {
        self.stop.get_or_insert(why);
        self.end = self.pos;
    }

    /// Takes back all but the first `len` bytes.
    pub(crate) fn truncate(&mut self, len: usize) {
        assert!(len <= self.len(), "{len} bytes of {}", self.len());
        // SAFETY: inside of what was written.
        self.pos = unsafe { self.bytes.as_mut_ptr().add(len) };
        if self.stop.is_some() {
            self.end = self.pos;
        }
    }

    /// Takes back all but the first `len` bytes, and takes more again.
    #[cold]
    pub(crate) fn resume(&mut self, len: usize) {
        self.truncate(len);
        self.stop = None;
    }

    /// Takes back the comma behind the last item, if anything was appended since the line had `start` bytes.
    #[inline(always)]
    pub(crate) fn drop_trailing_comma(&mut self, start: usize) {
        let comma = usize::from(self.len() > start && self.stop.is_none());
        // SAFETY: at least one byte was written since `start`.
        self.pos = unsafe { self.pos.sub(comma) };
    }

    /// Makes room for `bound` bytes if they are few and certain to stay within the limit. Returns whether it did.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, bound: u64) -> bool {
        self.stop.is_none()
            && bound <= PIECEWISE
            && self.len() as u64 + bound <= self.limit as u64
            && self.reserve(bound)
    }

    /// Appends a fragment after reserving its worst case, which may lie beyond the limit: what it takes must not.
    #[cold]
    #[inline(never)]
    pub(super) fn put_within_limit(&mut self, fragment: impl Fragment) -> bool {
        if self.stop.is_some() || !self.reserve(fragment.bound()) {
            return false;
        }
        // SAFETY: `bound` bytes are reserved.
        let pos = unsafe { fragment.write(self.pos) };
        if pos.addr() - self.bytes.as_ptr().addr() > self.limit {
            self.stop(Stop::TooLong);
            return false;
        }
        self.pos = pos;
        self.end = self.end.max(pos);
        true
    }

    /// Makes room for `bound` bytes, or stops. Returns whether they are there.
    fn reserve(&mut self, bound: u64) -> bool {
        let len = self.update_len();
        if !usize::try_from(bound).is_ok_and(|bound| self.bytes.try_reserve(bound).is_ok()) {
            self.stop(Stop::OutOfMemory);
            return false;
        }
        let start = self.bytes.as_mut_ptr();
        // SAFETY: both are at most the capacity.
        (self.pos, self.end) = unsafe { (start.add(len), start.add(self.bytes.capacity().min(self.limit))) };
        true
    }

    /// Gives the vector the length of what was written, and returns it.
    #[inline(always)]
    fn update_len(&mut self) -> usize {
        let len = self.len();
        // SAFETY: all bytes before `pos` are initialised and inside of the capacity.
        unsafe { self.bytes.set_len(len) };
        len
    }
}
