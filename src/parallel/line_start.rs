//! Finds the first line of a part.

use std::io;
use std::ops::Range;

use super::ReadAt;

/// The bytes read at once. Most lines are shorter.
const STEP: usize = 4 * 1024;

/// Returns the offset of the first line that starts in `range`. Its newline may precede `range`.
pub(super) fn first_line_start<F: ReadAt + ?Sized>(file: &F, range: &Range<u64>) -> io::Result<Option<u64>> {
    let mut buffer = [0; STEP];
    let mut at = range.start.saturating_sub(1);
    while at < range.end {
        match file.read_at(&mut buffer, at) {
            Ok(0) => return Ok(None),
            Ok(read) => {
                if let Some(found) = memchr::memchr(b'\n', buffer.get(..read).unwrap_or(&buffer)) {
                    let start = at + found as u64 + 1;
                    return Ok(range.contains(&start).then_some(start));
                }
                at += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
