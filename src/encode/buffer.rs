//! The bytes of the line being written. The one place of the encoder that stores without a check per byte: for each field
//! the most it can take is reserved once, and what was really written is added to the length afterwards.
#![allow(unsafe_code)]

use super::escape;

/// A growing line. All of it is UTF-8 as long as only what this type offers is appended.
pub(crate) struct Buffer {
    bytes: Vec<u8>,
}

/// Long strings are escaped piece by piece, so that the worst case (six bytes out for one in) is reserved for a piece and
/// not for the whole of a huge text.
const PIECE: usize = 8 * 1024;

/// The most digits of a whole number of 64 bits, its sign included.
const INTEGER: usize = 20;

/// What `ryu` may write for a finite number of 64 bits.
const FLOAT: usize = 24;

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

    /// Appends bytes that were escaped before.
    #[inline]
    pub(super) fn rendered(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends a fragment of the schema.
    #[inline]
    pub(super) fn raw<const N: usize>(&mut self, fragment: &[u8; N]) {
        self.write(N, |to| {
            // SAFETY: `N` bytes are reserved.
            unsafe { to.copy_from_nonoverlapping(fragment.as_ptr(), N) };
            N
        });
    }

    /// Appends a fragment of the schema, and `text` as a JSON string.
    #[inline]
    pub(super) fn string<const N: usize>(&mut self, fragment: &[u8; N], text: &str) {
        if text.len() > PIECE {
            self.raw(fragment);
            self.raw(b"\"");
            self.escaped(text);
            self.raw(b"\"");
            return;
        }
        self.short_string(fragment, text);
    }

    #[inline]
    fn short_string<const N: usize>(&mut self, fragment: &[u8; N], text: &str) {
        self.write(N + 1 + escape::bound(text.len()) + 1, |to| {
            // SAFETY: the first `N` bytes of what is reserved.
            unsafe { to.copy_from_nonoverlapping(fragment.as_ptr(), N) };
            // SAFETY: the byte after them.
            unsafe { to.add(N).write(b'"') };
            // SAFETY: what the text takes at most is reserved after that.
            let written = N + 1 + unsafe { escape::escape_into(text.as_bytes(), to.add(N + 1)) };
            // SAFETY: and one byte more after what it took.
            unsafe { to.add(written).write(b'"') };
            written + 1
        });
    }

    /// Appends `text` escaped, without quotes around it.
    pub(super) fn escaped(&mut self, text: &str) {
        for piece in text.as_bytes().chunks(PIECE) {
            // SAFETY: what the piece takes at most is reserved.
            self.write(escape::bound(piece.len()), |to| unsafe { escape::escape_into(piece, to) });
        }
    }

    /// Appends a fragment of the schema, and a whole number.
    #[inline]
    pub(super) fn unsigned<const N: usize>(&mut self, fragment: &[u8; N], number: u64) {
        self.digits(fragment, itoa::Buffer::new().format(number).as_bytes());
    }

    /// Appends a fragment of the schema, and a whole number.
    #[inline]
    pub(super) fn signed<const N: usize>(&mut self, fragment: &[u8; N], number: i64) {
        self.digits(fragment, itoa::Buffer::new().format(number).as_bytes());
    }

    #[inline]
    fn digits<const N: usize>(&mut self, fragment: &[u8; N], digits: &[u8]) {
        self.write(N + INTEGER, |to| {
            // SAFETY: the first `N` bytes of what is reserved.
            unsafe { to.copy_from_nonoverlapping(fragment.as_ptr(), N) };
            let digits = &digits[..digits.len().min(INTEGER)];
            // SAFETY: `INTEGER` bytes more are reserved.
            unsafe { copy_digits(digits, to.add(N)) };
            N + digits.len()
        });
    }

    /// Appends a fragment of the schema, and the shortest digits that read back to the same bits. `number` is finite.
    #[inline]
    pub(super) fn finite<const N: usize>(&mut self, fragment: &[u8; N], number: f64) {
        self.write(N + FLOAT, |to| {
            // SAFETY: the first `N` bytes of what is reserved.
            unsafe { to.copy_from_nonoverlapping(fragment.as_ptr(), N) };
            // SAFETY: 24 bytes more are reserved, which is what `format64` asks for.
            N + unsafe { ryu::raw::format64(number, to.add(N)) }
        });
    }

    /// Reserves `bound` bytes and lets `write` write to them; it says how many it wrote.
    #[inline]
    fn write(&mut self, bound: usize, write: impl FnOnce(*mut u8) -> usize) {
        if self.bytes.capacity() - self.bytes.len() < bound {
            self.grow(bound);
        }
        let end = self.bytes.spare_capacity_mut().as_mut_ptr().cast::<u8>();
        let written = write(end);
        // SAFETY: the callers in this file write that many bytes, no more than the `bound` they reserved.
        unsafe { self.bytes.set_len(self.bytes.len() + written) };
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, bound: usize) {
        self.bytes.reserve(bound);
    }
}

/// Copies at most [`INTEGER`] bytes. A call of `memcpy` would take longer than the copy.
///
/// # Safety
///
/// `to` must be valid for writes of `digits.len()` bytes, which are not those of `digits`.
#[inline]
unsafe fn copy_digits(digits: &[u8], to: *mut u8) {
    if let (Some(first), Some(last)) = (digits.first_chunk::<8>(), digits.last_chunk::<8>()) {
        if let Some(middle) = digits.get(8..16) {
            // SAFETY: 16 of the bytes that the caller promises.
            unsafe { to.add(8).copy_from_nonoverlapping(middle.as_ptr(), 8) };
        }
        // SAFETY: the first eight of them.
        unsafe { to.cast::<[u8; 8]>().write(*first) };
        // SAFETY: the last eight of them.
        unsafe { to.add(digits.len() - 8).cast::<[u8; 8]>().write(*last) };
    } else {
        for (index, digit) in digits.iter().enumerate() {
            // SAFETY: one of the bytes that the caller promises.
            unsafe { to.add(index).write(*digit) };
        }
    }
}
