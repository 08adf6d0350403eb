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
        require_lasting_reservations(file)?;
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

/// Refuses file systems on which a reserved block is not known to stay reserved.
///
/// A file system that writes each block to a new place needs another block when a page that was written back is stored
/// to again, and a full disk then raises a signal. Such are btrfs, bcachefs, ZFS, F2FS and NILFS. (On btrfs a file
/// without copy-on-write is no exception: each store to a clean page reserves a block again.)
#[cfg(any(target_os = "linux", target_os = "android"))]
fn require_lasting_reservations(file: &File) -> io::Result<()> {
    // The numbers of `statfs(2)`.
    const EXT4: u32 = 0xef53;
    const XFS: u32 = 0x5846_5342;
    const TMPFS: u32 = 0x0102_1994;
    const OVERLAY: u32 = 0x794c_7630;
    let keeps = match file_system(file)? {
        EXT4 | XFS | TMPFS => true,
        // It hands everything on to the file system below, whose kind it does not tell. This flag is one of ext4 alone.
        OVERLAY => has_extents_of_ext4(file),
        _ => false,
    };
    if keeps { Ok(()) } else { Err(io::ErrorKind::Unsupported.into()) }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn file_system(file: &File) -> io::Result<u32> {
    use std::os::fd::AsRawFd;

    let mut about = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the descriptor is open while `file` is borrowed, and the pointer is to room for a whole `statfs`.
    if unsafe { libc::fstatfs(file.as_raw_fd(), about.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so it filled all of it in.
    let kind = unsafe { about.assume_init() }.f_type;
    // The type differs between platforms; the numbers have 32 bits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::unnecessary_cast)]
    Ok(kind as u32)
}

/// Whether the file has the flag `FS_EXTENT_FL`, which `linux/fs.h` reserves for ext4.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn has_extents_of_ext4(file: &File) -> bool {
    use std::os::fd::AsRawFd;

    const FS_EXTENT_FL: libc::c_long = 0x0008_0000;
    // The kernel stores an int, although the number of the call says long.
    let mut flags: libc::c_long = 0;
    // SAFETY: the descriptor is open while `file` is borrowed, and the pointer is to room for a long.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::FS_IOC_GETFLAGS, &raw mut flags) };
    result == 0 && flags & FS_EXTENT_FL != 0
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn require_lasting_reservations(_: &File) -> io::Result<()> {
    Ok(())
}

/// Other systems have no call that reserves blocks on every file system or fails.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn reserve(_: &File, _: u64, _: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
