//! The memory of a mapped file, and the system calls around it.
//!
//! Other programs can change a file at any time, so its bytes are only written, through raw pointers, and never
//! borrowed.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU8, Ordering};

use memmap2::{MmapOptions, MmapRaw};

#[cfg(any(target_os = "linux", target_os = "android"))]
use crate::sink::file_limit::file_size_limit;

/// The smallest page size of any system.
const PAGE: usize = 4096;

/// A mapped part of a file, with its blocks on the disk and its pages in memory. It is filled from its beginning.
pub(super) struct Window {
    map: MmapRaw,
    /// The offset in the file.
    start: u64,
    used: usize,
}

impl Window {
    /// Appends `len` bytes to the file, which ends at `start`, and maps them. Both are multiples of the largest page
    /// size.
    ///
    /// The bytes read as zeros until they are filled. If the disk has no room for them, that is an error here, and
    /// cannot be a signal later.
    pub(super) fn open(file: &File, start: u64, len: usize) -> io::Result<Self> {
        refuse_copy_on_write(file)?;
        reserve(file, start, len)?;
        fill(file, start, len)?;
        let map = MmapOptions::new().offset(start).len(len).map_raw(file)?;
        fault_in(&map)?;
        Ok(Self { map, start, used: 0 })
    }

    /// Returns how many bytes are free.
    pub(super) fn room(&self) -> usize {
        self.map.len() - self.used
    }

    /// Returns the offset in the file of the next byte.
    pub(super) fn position(&self) -> u64 {
        self.start + self.used as u64
    }

    /// Appends as much of `bytes` as there is room for, and returns how much. The last byte is stored after all others.
    pub(super) fn append(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.room());
        let Some((last, others)) = bytes[..taken].split_last() else { return 0 };
        // SAFETY: `used + taken` is at most the length of the map, which is valid for writes while `self` lives. No
        // reference to it is ever made, and the exclusive borrow rules out the other threads of this process.
        unsafe {
            let to = self.map.as_mut_ptr().add(self.used);
            std::ptr::copy_nonoverlapping(others.as_ptr(), to, others.len());
            // A reader that sees a line's newline sees all of the line.
            AtomicU8::from_ptr(to.add(others.len())).store(*last, Ordering::Release);
        }
        self.used += taken;
        taken
    }
}

/// Writes zeros, for speed: a page that a write brought in is mapped five times faster than one that a fault has to
/// bring in. The pieces are large enough for the kernel to use large pages, and small enough to stay in the cache.
fn fill(file: &File, start: u64, len: usize) -> io::Result<()> {
    static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];
    let mut done = 0;
    while done < len {
        let piece = &ZEROS[..ZEROS.len().min(len - done)];
        file.write_all_at(piece, start + done as u64)?;
        done += piece.len();
    }
    Ok(())
}

/// Brings in all pages of a new map. Fails where storing into it would raise a signal.
fn fault_in(map: &MmapRaw) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    match map.advise(memmap2::Advice::PopulateWrite) {
        // Linux before 5.14.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
        result => return result,
    }
    for offset in (0..map.len()).step_by(PAGE) {
        // SAFETY: the offset is inside the map. Nothing was stored there yet, so the byte is 0 already.
        unsafe { map.as_mut_ptr().add(offset).write_volatile(0) };
    }
    Ok(())
}

/// Reserves blocks on the disk for these bytes, by which the file grows.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn reserve(file: &File, start: u64, len: usize) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    let out_of_range = |_| io::Error::from(io::ErrorKind::FileTooLarge);
    // Beyond the limit the call would raise a signal.
    if start + len as u64 > file_size_limit()? {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let start = libc::off_t::try_from(start).map_err(out_of_range)?;
    let len = libc::off_t::try_from(len).map_err(out_of_range)?;
    loop {
        // SAFETY: the descriptor is open while `file` is borrowed; no memory is touched.
        if unsafe { libc::fallocate(file.as_raw_fd(), 0, start, len) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Refuses file systems that write each block to a new place. There a reserved block is no guarantee: a page that was
/// written back needs another block when it is stored to again, and a full disk then raises a signal.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn refuse_copy_on_write(file: &File) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    /// The magic numbers of btrfs, bcachefs, ZFS and NILFS, from `statfs(2)` and their sources.
    const COPY_ON_WRITE: [u32; 4] = [0x9123_683e, 0xca45_1a4e, 0x2fc1_2fc1, 0x0000_3434];
    let mut about = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the descriptor is open while `file` is borrowed, and the pointer is to room for a whole `statfs`.
    if unsafe { libc::fstatfs(file.as_raw_fd(), about.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so it filled all of it in.
    let kind = unsafe { about.assume_init() }.f_type;
    // The type differs between platforms; the numbers have 32 bits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::unnecessary_cast)]
    let kind = kind as u32;
    if COPY_ON_WRITE.contains(&kind) { Err(io::ErrorKind::Unsupported.into()) } else { Ok(()) }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn refuse_copy_on_write(_: &File) -> io::Result<()> {
    Ok(())
}

/// Other systems have no call that reserves blocks on every file system or fails.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn reserve(_: &File, _: u64, _: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
