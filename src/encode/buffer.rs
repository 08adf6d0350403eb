//! The bytes of the line being written. The one place of the encoder that stores without a check per byte: a bound is
//! reserved once for each fragment or string, and what was really written is added to the length afterwards.
#![allow(unsafe_code)]

use super::escape;

/// A growing line. All of it is UTF-8 as long as only what this type offers is appended.
pub(crate) struct Buffer {
    bytes: Vec<u8>,
}

/// Long strings are escaped piece by piece, so that the worst case (six bytes out for one in) is reserved for a piece and
/// not for the whole of a huge text.
const PIECE: usize = 8 * 1024;

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

    /// Appends bytes that need no escaping.
    #[inline]
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends `text` as a JSON string.
    #[inline]
    pub(super) fn string(&mut self, text: &str) {
        self.raw(b"\"");
        self.escaped(text);
        self.raw(b"\"");
    }

    /// Appends `text` escaped, without quotes around it.
    pub(super) fn escaped(&mut self, text: &str) {
        for piece in text.as_bytes().chunks(PIECE) {
            self.bytes.reserve(escape::bound(piece.len()));
            let end = self.bytes.spare_capacity_mut().as_mut_ptr().cast::<u8>();
            // SAFETY: `end` is the start of at least `escape::bound(piece.len())` writable bytes, reserved above.
            let written = unsafe { escape::escape_into(piece, end) };
            debug_assert!(written <= escape::bound(piece.len()));
            // SAFETY: `escape_into` initialised `written` bytes there, within what was reserved.
            unsafe { self.bytes.set_len(self.bytes.len() + written) };
        }
    }
}
