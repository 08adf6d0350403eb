//! The memory of a mapped file, and what the operating system has to be asked for around it.
//!
//! All that is unsafe about a mapped file: a file may be changed by others at any time, so its bytes are only ever written
//! here, through raw pointers, and never lent out.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::process;
use std::sync::atomic::{AtomicU8, Ordering};

use memmap2::{MmapMut, MmapOptions, MmapRaw};

/// No system has smaller pages.
const PAGE: usize = 4096;

/// A part of a file, mapped, with its blocks on the disk and its pages in memory; filled from its beginning.
pub(super) struct Window {
    map: MmapRaw,
    /// Where in the file it begins.
    start: u64,
    used: usize,
}

impl Window {
    /// The `len` bytes from `start`, where the file has none so far. Both are multiples of the largest page size.
    ///
    /// The file grows by them, and they read as zeros until they are filled. What the disk has no room for is an error here,
    /// and so can't be a signal later.
    pub(super) fn open(file: &File, start: u64, len: usize) -> io::Result<Self> {
        refuse_copy_on_write(file)?;
        reserve(file, start, len)?;
        fill(file, start, len)?;
        let map = MmapOptions::new().offset(start).len(len).map_raw(file)?;
        fault_in(&map)?;
        Ok(Self { map, start, used: 0 })
    }

    /// How many bytes it still takes.
    pub(super) fn room(&self) -> usize {
        self.map.len() - self.used
    }

    /// Where in the file the next byte goes.
    pub(super) fn position(&self) -> u64 {
        self.start + self.used as u64
    }

    /// Appends as much of `bytes` as there is room for, the last byte of it after all others, and says how much that was.
    pub(super) fn append(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.room());
        let Some((last, others)) = bytes[..taken].split_last() else { return 0 };
        // SAFETY: `used + taken` is at most the length of the map, which is valid for writes for as long as `self` lives. No
        // reference to it is ever made, and the exclusive borrow keeps this process's other threads away from it.
        unsafe {
            let to = self.map.as_mut_ptr().add(self.used);
            std::ptr::copy_nonoverlapping(others.as_ptr(), to, others.len());
            // Whoever sees the byte sees what was stored before it: a line's newline stands for all of the line.
            AtomicU8::from_ptr(to.add(others.len())).store(*last, Ordering::Release);
        }
        self.used += taken;
        taken
    }
}

/// Writes zeros. It is not for the disk's sake: a page that a write brought in is mapped five times faster than one that
/// the fault has to bring in. The pieces are large enough for the kernel to take memory in, and small enough for it to stay
/// fast at each page of a piece.
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

/// Brings in all pages of a fresh map. An error where storing into it would be a signal.
fn fault_in(map: &MmapRaw) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    match map.advise(memmap2::Advice::PopulateWrite) {
        // Linux before 5.14.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
        result => return result,
    }
    for offset in (0..map.len()).step_by(PAGE) {
        // SAFETY: the offset is inside the map. Nothing was stored there yet, and a zero is what the file holds.
        unsafe { map.as_mut_ptr().add(offset).write_volatile(0) };
    }
    Ok(())
}

/// Has the disk set blocks aside for these bytes, by which the file grows.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn reserve(file: &File, start: u64, len: usize) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    let out_of_range = |_| io::Error::from(io::ErrorKind::FileTooLarge);
    // Beyond its limit a process would be sent a signal.
    if start + len as u64 > file_size_limit()? {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let start = libc::off_t::try_from(start).map_err(out_of_range)?;
    let len = libc::off_t::try_from(len).map_err(out_of_range)?;
    loop {
        // SAFETY: the descriptor is open for as long as `file` is borrowed; no memory is touched.
        if unsafe { libc::fallocate(file.as_raw_fd(), 0, start, len) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// On a file system that writes each block to a new place, setting blocks aside is no promise: a page that went to the disk
/// needs another block when it is stored to again, and where there is none, that is a signal.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn refuse_copy_on_write(file: &File) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    /// btrfs, bcachefs, ZFS, NILFS, as `statfs(2)` and their sources have them.
    const COPY_ON_WRITE: [u32; 4] = [0x9123_683e, 0xca45_1a4e, 0x2fc1_2fc1, 0x0000_3434];
    let mut about = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the descriptor is open for as long as `file` is borrowed, and the pointer is to room for a whole `statfs`.
    if unsafe { libc::fstatfs(file.as_raw_fd(), about.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so all of it is filled in.
    let kind = unsafe { about.assume_init() }.f_type;
    // Its type differs between platforms; the numbers have 32 bits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::unnecessary_cast)]
    let kind = kind as u32;
    if COPY_ON_WRITE.contains(&kind) { Err(io::ErrorKind::Unsupported.into()) } else { Ok(()) }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn refuse_copy_on_write(_: &File) -> io::Result<()> {
    Ok(())
}

/// Other systems have no call that sets blocks aside on every file system or says that it can't.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn reserve(_: &File, _: u64, _: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn file_size_limit() -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a whole `rlimit` that nobody else uses.
    if unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // Its type differs between platforms.
    #[allow(clippy::useless_conversion)]
    Ok(u64::from(limit.rlim_cur))
}

/// The process that something was made in: tells a forked child from it.
pub(super) enum Home {
    /// A page that the kernel fills with zeros in every child, so that asking costs no system call.
    Wiped(MmapMut),
    Process(u32),
}

impl Home {
    pub(super) fn here() -> Self {
        wiped_in_children().map_or_else(|| Self::Process(process::id()), Self::Wiped)
    }

    /// Whether this is a child, forked since.
    pub(super) fn is_left(&self) -> bool {
        match self {
            // SAFETY: it points to the first byte of the page. It is volatile since the kernel changes it, too.
            Self::Wiped(page) => unsafe { page.as_ptr().read_volatile() == 0 },
            Self::Process(id) => *id != process::id(),
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn wiped_in_children() -> Option<MmapMut> {
    let mut page = MmapMut::map_anon(PAGE).ok()?;
    // SAFETY: the range is the page's own, and the advice changes nothing about it in this process.
    let refused = unsafe { libc::madvise(page.as_mut_ptr().cast(), PAGE, libc::MADV_WIPEONFORK) } != 0;
    page[0] = 1;
    (!refused).then_some(page)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn wiped_in_children() -> Option<MmapMut> {
    None
}
