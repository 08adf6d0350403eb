//! The process's limit on the size of a file, `RLIMIT_FSIZE`.
//!
//! A write beyond it raises `SIGXFSZ`, which ends the program by default, so a sink has to stop before.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Seek};

/// Returns how many bytes can be written to `file` before the limit, or `u64::MAX` if no limit applies.
///
/// Counts from the end of the file or from the current position, whichever is larger: `file` may be open for appending.
pub(super) fn room_in(mut file: &File) -> io::Result<u64> {
    let limit = file_size_limit()?;
    if limit == u64::MAX {
        return Ok(limit);
    }
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(u64::MAX);
    }
    Ok(limit.saturating_sub(metadata.len().max(file.stream_position()?)))
}

/// Returns the limit in bytes, or `u64::MAX` if there is none.
#[cfg(all(unix, not(miri)))]
pub(super) fn file_size_limit() -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a whole `rlimit` that this function owns.
    if unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // The type differs between platforms.
    #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast)]
    Ok(if limit.rlim_cur == libc::RLIM_INFINITY { u64::MAX } else { limit.rlim_cur as u64 })
}

/// Returns `u64::MAX`: there is no such limit here, or it cannot be read.
#[cfg(not(all(unix, not(miri))))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail on Unix")]
pub(super) fn file_size_limit() -> io::Result<u64> {
    Ok(u64::MAX)
}
