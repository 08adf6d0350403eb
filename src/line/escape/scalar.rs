//! Escapes of single bytes, and of the marked bytes of a block.
#![allow(unsafe_code)]

/// Maps each byte to its output: the first character is in the lowest byte, the length in the highest.
static ESCAPES: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = u64::from_le_bytes([byte as u8, 0, 0, 0, 0, 0, 0, 1]);
        byte += 1;
    }
    let hex = b"0123456789abcdef";
    let mut control = 0;
    while control < 0x20 {
        let digits = [hex[control >> 4], hex[control & 15]];
        table[control] = u64::from_le_bytes([b'\\', b'u', b'0', b'0', digits[0], digits[1], 0, 6]);
        control += 1;
    }
    let short = [(b'"', b'"'), (b'\\', b'\\'), (b'\n', b'n'), (b'\r', b'r'), (b'\t', b't')];
    let mut index = 0;
    while index < short.len() {
        let (byte, letter) = short[index];
        table[byte as usize] = u64::from_le_bytes([b'\\', letter, 0, 0, 0, 0, 0, 2]);
        index += 1;
    }
    table
};

/// Returns whether any of the bytes needs an escape.
#[inline(always)]
pub(super) fn any_needs_escape([a, b, c]: [u8; 3]) -> bool {
    let escapes = ESCAPES[usize::from(a)] | ESCAPES[usize::from(b)] | ESCAPES[usize::from(c)];
    escapes >> 56 != 1
}

/// Writes one byte, escaped if necessary, and returns the number of bytes written.
///
/// # Safety
///
/// `to` must be valid for writes of eight bytes.
#[inline(always)]
pub(super) unsafe fn escape_byte(byte: u8, to: *mut u8) -> usize {
    let escape = ESCAPES[usize::from(byte)];
    // SAFETY: the caller provides the bytes.
    unsafe { to.cast::<[u8; 8]>().write(escape.to_le_bytes()) };
    (escape >> 56) as usize
}

/// Escapes the marked bytes of a block of `len` bytes that was copied to `to`, and returns the block's escaped length.
///
/// Bit `i` of `special` marks byte `i`. After each escape, the bytes that follow it are copied again from `from`, so no
/// step depends on a store of an earlier one.
///
/// # Safety
///
/// - `len` must be at least 8.
/// - `from` must be valid for reads of `2 * len` bytes, and its first `len` bytes must have been copied to `to`.
/// - `to` must be valid for writes of `6 * (last + 1) + len` bytes, where `last` is the index of the last marked byte.
#[inline(always)]
pub(super) unsafe fn escape_marked(from: *const u8, to: *mut u8, len: usize, mut special: u64) -> usize {
    // The number of bytes that the escapes have added so far.
    let mut longer = 0;
    while special != 0 {
        let at = special.trailing_zeros() as usize;
        special &= special - 1;
        // SAFETY: `at < len`.
        let byte = unsafe { from.add(at).read() };
        // SAFETY: `longer <= 5 * at`.
        longer += unsafe { escape_byte(byte, to.add(at + longer)) } - 1;
        let read = at + 1;
        // SAFETY: `read <= len` leaves `len` bytes to read, and `longer <= 5 * read` leaves room to write them.
        unsafe { to.add(read + longer).copy_from_nonoverlapping(from.add(read), len) };
    }
    len + longer
}
