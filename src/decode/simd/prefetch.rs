//! Asking for memory before it is needed.
#![allow(unsafe_code)]

/// As far ahead as memory is asked for, in bytes. Nearer, it would come too late for the line after this.
const AHEAD: usize = 2048;

/// Of a longer line no more is asked for: the machine itself sees by then that it is read in order.
const MOST: usize = 1024;

/// Asks for what lies behind `line`, as much as it is long. Lines mostly follow each other, and the machine's own
/// asking stops at the end of each page. Nothing is read, so it does not matter what is there, or whether anything is.
#[inline(always)]
pub(in crate::decode) fn prefetch_after(line: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for start in (0..line.len().min(MOST)).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        let ahead = line.as_ptr().wrapping_add(start + AHEAD).cast::<i8>();
        // SAFETY: every x86-64 has SSE, and a hint touches nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (line, AHEAD, MOST);
}
