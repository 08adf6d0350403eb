//! Guarded memory for tests of unchecked reads and writes: an access that is out of bounds by one byte faults.
//!
//! The memory lies between two inaccessible pages. Under Miri, which checks each access itself, and on systems without
//! `mmap`, it is an allocation of exactly the requested length.
#![allow(unsafe_code)]

#[cfg(not(all(unix, not(miri))))]
pub(in crate::line) use self::exact::Guarded;
#[cfg(all(unix, not(miri)))]
pub(in crate::line) use self::pages::Guarded;

/// The side on which lent memory is adjacent to a guard page.
#[derive(Debug, Clone, Copy)]
pub(in crate::line) enum Edge {
    Before,
    Behind,
}

impl Edge {
    /// The edges that differ: both, except under Miri.
    pub(in crate::line) const ALL: &[Self] = if cfg!(miri) { &[Self::Behind] } else { &[Self::Before, Self::Behind] };
}

impl Guarded {
    /// Copies `text` to memory at that edge.
    pub(in crate::line) fn copy(&mut self, edge: Edge, text: &[u8]) -> &[u8] {
        let copy = self.lend(edge, text.len());
        copy.copy_from_slice(text);
        copy
    }
}

#[cfg(all(unix, not(miri)))]
mod pages {
    use std::ffi::c_void;
    use std::ptr::{self, NonNull};
    use std::slice;

    use super::Edge;

    /// Pages of memory between two inaccessible pages.
    pub(in crate::line) struct Guarded {
        start: NonNull<u8>,
        len: usize,
        page: usize,
    }

    impl Guarded {
        /// Maps memory that can lend up to `most` bytes.
        pub(in crate::line) fn new(most: usize) -> Self {
            // SAFETY: a query without preconditions.
            let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
            let page = usize::try_from(page).expect("pages have a size");
            let len = most.next_multiple_of(page);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            // SAFETY: a new anonymous mapping at an address that the system chooses.
            let map = unsafe { libc::mmap(ptr::null_mut(), page + len + page, libc::PROT_NONE, flags, -1, 0) };
            assert_ne!(map, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
            // SAFETY: the second page of the mapping.
            let start = unsafe { map.byte_add(page) };
            // SAFETY: the range lies inside of the mapping, to which there is no reference yet.
            let opened = unsafe { libc::mprotect(start, len, libc::PROT_READ | libc::PROT_WRITE) };
            assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
            Self { start: NonNull::new(start.cast()).expect("no mapping starts at null"), len, page }
        }

        /// Lends `len` bytes at that edge, with unspecified contents.
        pub(in crate::line) fn lend(&mut self, edge: Edge, len: usize) -> &mut [u8] {
            // SAFETY: the accessible pages; they are zeroed when mapped, and stay mapped as long as `self` lives.
            let all = unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) };
            match edge {
                Edge::Before => &mut all[..len],
                Edge::Behind => &mut all[self.len - len..],
            }
        }
    }

    impl Drop for Guarded {
        fn drop(&mut self) {
            // SAFETY: the first byte of the mapping.
            let map = unsafe { self.start.as_ptr().byte_sub(self.page) };
            // SAFETY: the whole mapping, which is no longer borrowed.
            let closed = unsafe { libc::munmap(map.cast::<c_void>(), self.page + self.len + self.page) };
            assert_eq!(closed, 0, "{}", std::io::Error::last_os_error());
        }
    }

    /// Returns whether a byte can be read. The kernel reads it, which returns an error where this process would fault.
    fn is_readable(byte: *const u8) -> bool {
        use std::os::fd::AsRawFd as _;

        let (_reader, writer) = std::io::pipe().expect("a pipe");
        // SAFETY: the descriptor is open, and the kernel checks the address.
        unsafe { libc::write(writer.as_raw_fd(), byte.cast::<c_void>(), 1) == 1 }
    }

    #[test]
    fn nothing_can_be_touched_beyond_either_edge() {
        for most in [1, 4096, 100_000] {
            let mut guarded = Guarded::new(most);
            let first = guarded.lend(Edge::Before, most).as_ptr();
            assert!(is_readable(first));
            assert!(!is_readable(first.wrapping_sub(1)));
            let end = guarded.lend(Edge::Behind, most).as_ptr_range().end;
            assert!(is_readable(end.wrapping_sub(1)));
            assert!(!is_readable(end));
        }
    }
}

#[cfg(not(all(unix, not(miri))))]
mod exact {
    use super::Edge;

    /// A new allocation for each loan.
    pub(in crate::line) struct Guarded(Box<[u8]>);

    impl Guarded {
        pub(in crate::line) fn new(_most: usize) -> Self {
            Self(Box::default())
        }

        pub(in crate::line) fn lend(&mut self, _edge: Edge, len: usize) -> &mut [u8] {
            self.0 = vec![0; len].into();
            &mut self.0
        }
    }
}
