//! The fragments that lines are made of: literal text, numbers, strings, and tuples of fragments.
#![allow(unsafe_code)]

use std::time::Duration;

use super::buffer::{Buffer, Fragment};
use super::escape;
use super::number::{ShortDecimal, UpTo8Digits, UpTo16Digits, nanoseconds};

/// Literal text.
// SAFETY: stores `N` bytes, which is its bound.
unsafe impl<const N: usize> Fragment for &[u8; N] {
    #[inline(always)]
    fn bound(self) -> u64 {
        N as u64
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        // SAFETY: the caller provides `N` bytes; the text is no part of the buffer.
        unsafe { to.copy_from_nonoverlapping(self.as_ptr(), N) };
        // SAFETY: at most one past those bytes.
        unsafe { to.add(N) }
    }
}

/// The bytes of a long text that are appended at a time, so that a text beyond the limit is not reserved whole.
const PIECE: usize = 8 * 1024;

/// JSON that was rendered before, appended as it is.
#[derive(Clone, Copy)]
pub(crate) struct Raw<'r>(pub(crate) &'r [u8]);

// SAFETY: stores as many bytes as there are, which is its bound.
unsafe impl Fragment for Raw<'_> {
    #[inline(always)]
    fn bound(self) -> u64 {
        self.0.len() as u64
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        // SAFETY: the caller provides that many bytes; the text is no part of the buffer.
        unsafe { to.copy_from_nonoverlapping(self.0.as_ptr(), self.0.len()) };
        // SAFETY: at most one past those bytes.
        unsafe { to.add(self.0.len()) }
    }

    #[inline(always)]
    fn put_carefully(self, buffer: &mut Buffer) -> bool {
        self.0.chunks(PIECE).all(|piece| buffer.put_within_limit(Raw(piece)))
    }
}

/// The content of a JSON string, escaped. The quotes belong to the literal text around it.
// SAFETY: stores what `Escaped` does.
unsafe impl Fragment for &str {
    #[inline(always)]
    fn bound(self) -> u64 {
        Escaped(self.as_bytes()).bound()
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        // SAFETY: the caller provides the bytes.
        unsafe { Escaped(self.as_bytes()).write(to) }
    }

    #[inline(always)]
    fn put_carefully(self, buffer: &mut Buffer) -> bool {
        put_piecewise(self, buffer)
    }
}

#[cold]
#[inline(never)]
fn put_piecewise(text: &str, buffer: &mut Buffer) -> bool {
    text.as_bytes().chunks(PIECE).all(|piece| buffer.put_within_limit(Escaped(piece)))
}

/// A piece of a string, escaped.
#[derive(Clone, Copy)]
struct Escaped<'t>(&'t [u8]);

// SAFETY: `escape_into` touches at most `escape::bound` bytes and returns how many of them count.
unsafe impl Fragment for Escaped<'_> {
    #[inline(always)]
    fn bound(self) -> u64 {
        escape::bound(self.0.len() as u64)
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        // SAFETY: the caller provides the bytes; the text is no part of the buffer.
        let written = unsafe { escape::escape_into(self.0, to) };
        // SAFETY: no more than the bound.
        unsafe { to.add(written) }
    }
}

/// The most digits of a 64-bit integer, its sign included.
const INTEGER: usize = 20;

// SAFETY: stores at most `INTEGER` bytes.
unsafe impl Fragment for u64 {
    #[inline(always)]
    fn bound(self) -> u64 {
        INTEGER as u64
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        match UpTo8Digits::of(self) {
            // SAFETY: the caller provides more than eight bytes.
            Some(digits) => unsafe { write_digits(digits, to) },
            // SAFETY: the caller provides `INTEGER` bytes.
            None => unsafe { write_long(self, to) },
        }
    }
}

// SAFETY: stores at most `INTEGER` bytes.
unsafe impl Fragment for i64 {
    #[inline(always)]
    fn bound(self) -> u64 {
        INTEGER as u64
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        // SAFETY: the first of the bytes that the caller provides. Without a sign, the first digit overwrites it.
        unsafe { to.write(b'-') };
        // SAFETY: at most behind that byte.
        let to = unsafe { to.add(usize::from(self < 0)) };
        let number = self.unsigned_abs();
        match UpTo8Digits::of(number) {
            // SAFETY: the caller provides more than nine bytes.
            Some(digits) => unsafe { write_digits(digits, to) },
            // SAFETY: the caller provides 19 bytes more, which all numbers up to 2^63 need at most.
            None => unsafe { write_long(number, to) },
        }
    }
}

/// Stores eight bytes, of which the digits count, and returns the position behind those.
///
/// # Safety
///
/// `to` must be valid for writes of eight bytes.
#[inline(always)]
unsafe fn write_digits(digits: UpTo8Digits, to: *mut u8) -> *mut u8 {
    let (digits, len) = digits.digits();
    // SAFETY: the caller provides eight bytes.
    unsafe { to.cast::<[u8; 8]>().write(digits) };
    // SAFETY: `len` is at most eight.
    unsafe { to.add(len) }
}

/// Stores the digits of a number that has nine or more, and returns the position behind them.
///
/// # Safety
///
/// `to` must be valid for writes of [`INTEGER`] bytes, or of 19 if the number is not greater than 2^63.
#[inline(never)]
unsafe fn write_long(number: u64, to: *mut u8) -> *mut u8 {
    match UpTo16Digits::of(number) {
        Some(number) => {
            // SAFETY: the caller provides 16 bytes.
            let to = unsafe { write_digits(number.high, to) };
            // SAFETY: eight of them are left at least.
            unsafe { to.cast::<[u8; 8]>().write(number.low_digits()) };
            // SAFETY: at most one past them.
            unsafe { to.add(8) }
        }
        // SAFETY: these are 17 digits at least, and the caller provides as many bytes.
        None => unsafe { copy_text(itoa::Buffer::new().format(number), to) },
    }
}

/// Copies a text, one of 4 to 32 bytes without a call of `memcpy`, and returns the position behind it.
///
/// # Safety
///
/// `to` must be valid for writes of `text.len()` bytes, and not overlap `text`.
#[inline(always)]
unsafe fn copy_text(text: &str, to: *mut u8) -> *mut u8 {
    /// Copies the first and the last `N` bytes.
    ///
    /// # Safety
    ///
    /// As for `copy_text`, and the text must have at least `N` bytes.
    #[inline(always)]
    unsafe fn copy_ends<const N: usize>(text: &[u8], to: *mut u8) {
        let (from, last) = (text.as_ptr().cast::<[u8; N]>(), text.len() - N);
        // SAFETY: the text has `N` bytes at least, and the caller provides as many as it has.
        unsafe { to.cast::<[u8; N]>().write_unaligned(from.read_unaligned()) };
        // SAFETY: these end where the text does.
        unsafe { to.byte_add(last).cast::<[u8; N]>().write_unaligned(from.byte_add(last).read_unaligned()) };
    }
    let text = text.as_bytes();
    // SAFETY: the caller provides the bytes.
    unsafe {
        match text.len() {
            16..=32 => copy_ends::<16>(text, to),
            8..16 => copy_ends::<8>(text, to),
            4..8 => copy_ends::<4>(text, to),
            _ => to.copy_from_nonoverlapping(text.as_ptr(), text.len()),
        }
    }
    // SAFETY: at most one past the text.
    unsafe { to.add(text.len()) }
}

/// The number, or `null`.
// SAFETY: stores what the number does, or four bytes.
unsafe impl<T: Fragment> Fragment for Option<T> {
    #[inline(always)]
    fn bound(self) -> u64 {
        self.map_or(4, T::bound)
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        match self {
            // SAFETY: the caller provides the number's bytes.
            Some(number) => unsafe { number.write(to) },
            // SAFETY: the caller provides four bytes.
            None => unsafe { b"null".write(to) },
        }
    }

    #[inline(always)]
    fn put_carefully(self, buffer: &mut Buffer) -> bool {
        match self {
            Some(number) => number.put_carefully(buffer),
            None => b"null".put_carefully(buffer),
        }
    }
}

/// Whole nanoseconds. More than `u64::MAX` of them saturate.
// SAFETY: stores what a number does.
unsafe impl Fragment for Duration {
    #[inline(always)]
    fn bound(self) -> u64 {
        INTEGER as u64
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        // SAFETY: the caller provides `INTEGER` bytes.
        unsafe { nanoseconds(self).write(to) }
    }
}

/// A finite float.
#[derive(Clone, Copy)]
pub(crate) struct Finite(f64);

impl Finite {
    #[inline(always)]
    pub(crate) fn new(number: f64) -> Option<Self> {
        number.is_finite().then_some(Self(number))
    }
}

/// The most bytes that are touched for a float: a short decimal's sign, the integer before the point, and eight from
/// the point on. `format64` needs 24.
const FLOAT: usize = 1 + INTEGER + 8;

// SAFETY: stores at most `FLOAT` bytes, since the number is finite.
unsafe impl Fragment for Finite {
    #[inline(always)]
    fn bound(self) -> u64 {
        FLOAT as u64
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        let Some(short) = ShortDecimal::of(self.0) else {
            // SAFETY: the caller provides more than 24 bytes.
            return unsafe { write_float(self.0, to) };
        };
        // SAFETY: the first of the bytes that the caller provides. Without a sign, the first digit overwrites it.
        unsafe { to.write(b'-') };
        // SAFETY: at most behind that byte.
        let to = unsafe { to.add(usize::from(self.0 < 0.0)) };
        // SAFETY: the caller provides `INTEGER` bytes more.
        let to = unsafe { short.whole().write(to) };
        let (fraction, len) = short.fraction();
        // SAFETY: the caller provides eight bytes more.
        unsafe { to.cast::<[u8; 8]>().write(fraction) };
        // SAFETY: `len` is at most five.
        unsafe { to.add(len) }
    }
}

/// Stores a float as `ryu` spells it, and returns the position behind it.
///
/// # Safety
///
/// `to` must be valid for writes of 24 bytes, and `number` finite.
#[inline(never)]
unsafe fn write_float(number: f64, to: *mut u8) -> *mut u8 {
    // `zmij` takes little more than half the time, and spells all but exponents the same.
    if (1e-5..1e16).contains(&number.abs()) {
        let mut buffer = zmij::Buffer::new();
        // SAFETY: the text has 3 to 24 bytes.
        unsafe { copy_text(buffer.format_finite(number), to) }
    } else {
        // SAFETY: the caller provides 24 bytes, and the number is finite.
        let written = unsafe { ryu::raw::format64(number, to) };
        // SAFETY: no more than those.
        unsafe { to.add(written) }
    }
}

/// One of two fragments.
#[derive(Clone, Copy)]
pub(crate) struct Either<Yes, No> {
    pub(crate) yes: bool,
    pub(crate) fragments: (Yes, No),
}

// SAFETY: stores what one of the two does.
unsafe impl<Yes: Fragment, No: Fragment> Fragment for Either<Yes, No> {
    #[inline(always)]
    fn bound(self) -> u64 {
        self.fragments.bound()
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut u8) -> *mut u8 {
        let (yes, no) = self.fragments;
        // SAFETY: the caller provides the bytes for either.
        unsafe { if self.yes { yes.write(to) } else { no.write(to) } }
    }

    #[inline(always)]
    fn put_carefully(self, buffer: &mut Buffer) -> bool {
        let (yes, no) = self.fragments;
        if self.yes { yes.put_carefully(buffer) } else { no.put_carefully(buffer) }
    }
}

/// Tuples of fragments are fragments.
macro_rules! tuples {
    ($( $first:ident $( $other:ident )* ; )+) => { $(
        // SAFETY: each fragment stores within its own bound behind the one before it, and the bounds are added up.
        unsafe impl<$first: Fragment, $( $other: Fragment ),*> Fragment for ($first, $( $other, )*) {
            #[inline(always)]
            #[allow(non_snake_case)]
            fn bound(self) -> u64 {
                let ($first, $( $other, )*) = self;
                $first.bound() $( + $other.bound() )*
            }

            #[inline(always)]
            #[allow(non_snake_case)]
            unsafe fn write(self, to: *mut u8) -> *mut u8 {
                let ($first, $( $other, )*) = self;
                // SAFETY: the first bound is at most what the caller provides.
                let to = unsafe { $first.write(to) };
                $(
                    // SAFETY: the fragments before took no more than their bounds, so this one's is still there.
                    let to = unsafe { $other.write(to) };
                )*
                to
            }

            #[inline(always)]
            #[allow(non_snake_case)]
            fn put_carefully(self, buffer: &mut Buffer) -> bool {
                let ($first, $( $other, )*) = self;
                $first.put_carefully(buffer) $( && $other.put_carefully(buffer) )*
            }
        }
    )+ };
}

tuples! {
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
