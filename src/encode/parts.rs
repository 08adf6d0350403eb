//! What lines are put together from: fragments of the schema, strings, numbers, and rows of them.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::time::Duration;

use super::buffer::{Buffer, Part};
use super::escape;
use super::number::{Eight, ShortDecimal, nanoseconds};

/// A fragment of the schema, as it stands.
// SAFETY: stores `N` bytes, which is its bound.
unsafe impl<const N: usize> Part for &[u8; N] {
    #[inline(always)]
    fn bound(self) -> usize {
        N
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        // SAFETY: the caller's promise; the schema is no part of the buffer.
        unsafe { to.copy_from_nonoverlapping(self.as_ptr(), N) };
        // SAFETY: one past what the caller promises at most.
        unsafe { to.add(N) }
    }
}

/// Bytes that were rendered before, as they stand.
#[derive(Clone, Copy)]
pub(super) struct Rendered<'r>(pub(super) &'r [u8]);

// SAFETY: stores as many bytes as there are, which is its bound.
unsafe impl Part for Rendered<'_> {
    #[inline(always)]
    fn texts(self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn bound(self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        // SAFETY: the caller's promise; what is rendered is no part of the buffer.
        unsafe { to.copy_from_nonoverlapping(self.0.as_ptr(), self.0.len()) };
        // SAFETY: one past what the caller promises at most.
        unsafe { to.add(self.0.len()) }
    }
}

/// A long string is escaped in pieces of this length.
const PIECE: usize = 8 * 1024;

impl Buffer {
    /// Appends `text` escaped, piece by piece.
    #[inline(never)]
    pub(super) fn escaped(&mut self, text: &str) {
        for piece in text.as_bytes().chunks(PIECE) {
            self.put(Piece(piece));
        }
    }
}

/// A piece of a string, escaped.
#[derive(Clone, Copy)]
struct Piece<'p>(&'p [u8]);

// SAFETY: `escape_into` touches at most `escape::bound` bytes, and says how many of them count.
unsafe impl Part for Piece<'_> {
    #[inline(always)]
    fn bound(self) -> usize {
        escape::bound(self.0.len())
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        // SAFETY: the caller's promise; the text is no part of the buffer.
        let written = unsafe { escape::escape_into(self.0, to) };
        // SAFETY: no more than the bound.
        unsafe { to.add(written) }
    }
}

/// A text as it stands between the quotes of a JSON string: escaped. The quotes belong to the fragments around it.
// SAFETY: stores what `Piece` does.
unsafe impl Part for &str {
    #[inline(always)]
    fn texts(self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn bound(self) -> usize {
        escape::bound(self.len())
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { Piece(self.as_bytes()).write(to) }
    }

    #[inline(always)]
    fn append_frugally(self, line: &mut Buffer) {
        line.escaped(self);
    }
}

/// The most digits of a whole number of 64 bits, its sign included.
const INTEGER: usize = 20;

// SAFETY: stores at most `INTEGER` bytes.
unsafe impl Part for u64 {
    #[inline(always)]
    fn bound(self) -> usize {
        INTEGER
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        if self < 10 {
            // SAFETY: one of the bytes that the caller promises. (Most task ids are this short.)
            unsafe { to.write(b'0' + self as u8) };
            // SAFETY: that byte is passed.
            return unsafe { to.add(1) };
        }
        match Eight::of(self) {
            // SAFETY: the caller's promise of more than eight bytes.
            Some(digits) => unsafe { digits.write(to) },
            // SAFETY: the caller's promise.
            None => unsafe { write_integer(self, to) },
        }
    }
}

// SAFETY: stores at most `INTEGER` bytes.
unsafe impl Part for i64 {
    #[inline(always)]
    fn bound(self) -> usize {
        INTEGER
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        match Eight::of(self.unsigned_abs()) {
            Some(digits) => {
                // SAFETY: one of the bytes that the caller promises; when there is no sign, the first digit goes over it.
                unsafe { to.write(b'-') };
                // SAFETY: that byte is passed, or not.
                let to = unsafe { to.add(usize::from(self < 0)) };
                // SAFETY: the caller's promise of more than nine bytes.
                unsafe { digits.write(to) }
            }
            // SAFETY: the caller's promise.
            None => unsafe { write_integer(self, to) },
        }
    }
}

// SAFETY: stores eight bytes, and says that at least one of them counts.
unsafe impl Part for Eight {
    #[inline(always)]
    fn bound(self) -> usize {
        8
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        let (digits, len) = self.digits();
        // SAFETY: the caller's promise of eight bytes.
        unsafe { to.cast::<[u8; 8]>().write(digits) };
        // SAFETY: `len` is eight at most.
        unsafe { to.add(len) }
    }
}

/// The number, or `null`.
// SAFETY: stores what a number does, or four bytes.
unsafe impl Part for Option<u64> {
    #[inline(always)]
    fn bound(self) -> usize {
        INTEGER
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        match self {
            // SAFETY: the caller's promise.
            Some(number) => unsafe { number.write(to) },
            // SAFETY: four bytes are fewer than the bound.
            None => unsafe { b"null".write(to) },
        }
    }
}

/// A short fragment that is chosen while the line is written: what follows a value.
#[derive(Clone, Copy)]
pub(super) struct Tail {
    bytes: [u8; 4],
    len: usize,
}

impl Tail {
    pub(super) const NONE: Self = Self::new(b"");
    pub(super) const COMMA: Self = Self::new(b",");

    pub(super) const fn new<const N: usize>(text: &[u8; N]) -> Self {
        let mut bytes = [0; 4];
        let mut len = 0;
        while len < N {
            bytes[len] = text[len];
            len += 1;
        }
        Self { bytes, len }
    }
}

// SAFETY: stores four bytes, all of them initialised, and never says that more of them count.
unsafe impl Part for Tail {
    #[inline(always)]
    fn bound(self) -> usize {
        4
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        // SAFETY: the caller's promise of four bytes.
        unsafe { to.cast::<[u8; 4]>().write(self.bytes) };
        // SAFETY: `new` admits no more than four.
        unsafe { to.add(self.len) }
    }
}

/// Whole nanoseconds.
// SAFETY: stores what a number does.
unsafe impl Part for Duration {
    #[inline(always)]
    fn bound(self) -> usize {
        INTEGER
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { nanoseconds(self).write(to) }
    }
}

/// One of two parts.
#[derive(Clone, Copy)]
pub(super) struct Either<Yes, No> {
    pub(super) yes: bool,
    pub(super) parts: (Yes, No),
}

// SAFETY: stores what one of the two does.
unsafe impl<Yes: Part, No: Part> Part for Either<Yes, No> {
    #[inline(always)]
    fn texts(self) -> usize {
        self.parts.texts()
    }

    #[inline(always)]
    fn bound(self) -> usize {
        self.parts.bound()
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        let (yes, no) = self.parts;
        // SAFETY: the caller's promise.
        unsafe { if self.yes { yes.write(to) } else { no.write(to) } }
    }

    #[inline(always)]
    fn append_frugally(self, line: &mut Buffer) {
        let (yes, no) = self.parts;
        if self.yes { yes.append_frugally(line) } else { no.append_frugally(line) }
    }
}

/// A number that is finite, in the shortest digits that read back to the same bits.
#[derive(Clone, Copy)]
pub(super) struct Finite(f64);

impl Finite {
    #[inline(always)]
    pub(super) fn new(number: f64) -> Option<Self> {
        number.is_finite().then_some(Self(number))
    }
}

/// The most bytes that are touched for a float: a short decimal's sign, what a whole number may touch, and eight from the
/// point on. `format64` asks for 24.
const FLOAT: usize = 1 + INTEGER + 8;

// SAFETY: stores at most `FLOAT` bytes: no number that is not finite is in here.
unsafe impl Part for Finite {
    #[inline(always)]
    fn bound(self) -> usize {
        FLOAT
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        let Some(short) = ShortDecimal::of(self.0) else {
            // SAFETY: the caller's promise of 24 bytes.
            let written = unsafe { ryu::raw::format64(self.0, to) };
            // SAFETY: no more than those.
            return unsafe { to.add(written) };
        };
        // SAFETY: one of the bytes that the caller promises; when there is no sign, the first digit goes over it.
        unsafe { to.write(b'-') };
        // SAFETY: that byte is passed, or not.
        let to = unsafe { to.add(usize::from(self.0 < 0.0)) };
        // SAFETY: the caller's promise.
        let to = unsafe { short.whole().write(to) };
        let (fraction, len) = short.fraction();
        // SAFETY: the caller's promise of eight bytes more.
        unsafe { to.cast::<[u8; 8]>().write(fraction) };
        // SAFETY: `len` is five at most.
        unsafe { to.add(len) }
    }
}

/// Where `itoa` writes its digits. They end with its buffer, so that as many bytes as the longest number has can be read
/// from the first digit on, whatever number it is.
#[repr(C)]
struct Digits {
    buffer: itoa::Buffer,
    slack: MaybeUninit<[u8; INTEGER]>,
}

/// Stores the digits of `number` at `to`, and gives the place behind them. All that a number may take is stored: that is two
/// moves, where only the digits would be a row of decisions.
///
/// # Safety
///
/// `to` must be valid for writes of `INTEGER` bytes.
#[inline(always)]
unsafe fn write_integer(number: impl itoa::Integer, to: *mut u8) -> *mut u8 {
    let mut digits = Digits { buffer: itoa::Buffer::new(), slack: MaybeUninit::uninit() };
    let text = digits.buffer.format(number);
    let (start, len) = (text.as_ptr().addr(), text.len());
    let whole = (&raw const digits).cast::<MaybeUninit<[u8; INTEGER]>>();
    // SAFETY: the digits are inside of `buffer`, and `slack` has `INTEGER` bytes more behind it.
    let first = unsafe { whole.byte_add(start - whole.addr()) };
    // SAFETY: the caller's promise; what is no digit may be uninitialised, and is not counted below.
    unsafe { to.cast::<MaybeUninit<[u8; INTEGER]>>().copy_from_nonoverlapping(first, 1) };
    // SAFETY: a number of 64 bits has no more than `INTEGER` digits with its sign.
    unsafe { to.add(len) }
}

/// Rows of parts are parts.
macro_rules! rows {
    ($( $first:ident $( $part:ident )* ; )+) => { $(
        // SAFETY: each part stores within its own bound behind the one before it, and the bounds are added up.
        unsafe impl<$first: Part, $( $part: Part ),*> Part for ($first, $( $part, )*) {
            #[inline(always)]
            #[allow(non_snake_case)]
            fn texts(self) -> usize {
                let ($first, $( $part, )*) = self;
                $first.texts() $( | $part.texts() )*
            }

            #[inline(always)]
            #[allow(non_snake_case)]
            fn bound(self) -> usize {
                let ($first, $( $part, )*) = self;
                $first.bound() $( + $part.bound() )*
            }

            #[inline(always)]
            #[allow(non_snake_case)]
            unsafe fn write(self, to: *mut u8) -> *mut u8 {
                let ($first, $( $part, )*) = self;
                // SAFETY: the first part's bound is no more than what the caller promises.
                let to = unsafe { $first.write(to) };
                $(
                    // SAFETY: the parts before took no more than their bounds, so this one's is still there.
                    let to = unsafe { $part.write(to) };
                )*
                to
            }

            #[inline(always)]
            #[allow(non_snake_case)]
            fn append_frugally(self, line: &mut Buffer) {
                let ($first, $( $part, )*) = self;
                $first.append_frugally(line);
                $( $part.append_frugally(line); )*
            }
        }
    )+ };
}

rows! {
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
    A B C D E F G H I J K L;
    A B C D E F G H I J K L M;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_every_length_are_written() {
        let mut numbers = vec![0, u64::MAX];
        for digits in 0..20 {
            let power = 10_u64.pow(digits);
            numbers.extend([power - 1, power, power + 1]);
        }
        for number in numbers {
            let mut out = [b'.'; INTEGER];
            // SAFETY: there are `INTEGER` bytes.
            let end = unsafe { number.write(out.as_mut_ptr()) };
            assert_eq!(&out[..end.addr() - out.as_ptr().addr()], number.to_string().as_bytes());
            let number = -(number as i64 / 2);
            // SAFETY: there are `INTEGER` bytes.
            let end = unsafe { number.write(out.as_mut_ptr()) };
            assert_eq!(&out[..end.addr() - out.as_ptr().addr()], number.to_string().as_bytes());
        }
    }
}
