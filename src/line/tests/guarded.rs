//! Memory for the tests of code that reads and stores without asking: one byte too far is a fault at once.
//!
//! Two pages that can't be touched stand around it. Miri watches every byte by itself, and has no pages: there it is memory
//! of exactly the length that is asked for, and so it is where there is no `mmap`.
#![allow(unsafe_code)]

#[cfg(not(all(unix, not(miri))))]
pub(in crate::line) use self::exact::Guarded;
#[cfg(all(unix, not(miri)))]
pub(in crate::line) use self::pages::Guarded;

/// The side on which the memory that is lent ends where the guard begins.
#[derive(Debug, Clone, Copy)]
pub(in crate::line) enum Edge {
    Before,
    Behind,
}

impl Edge {
    /// Both, where that makes a difference.
    pub(in crate::line) const ALL: &[Self] = if cfg!(miri) { &[Self::Behind] } else { &[Self::Before, Self::Behind] };
}

impl Guarded {
    /// A copy of `text` at that edge.
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

    /// Whole pages between two that can't be touched.
    pub(in crate::line) struct Guarded {
        start: NonNull<u8>,
        len: usize,
        page: usize,
    }

    impl Guarded {
        /// Memory of which up to `most` bytes will be lent.
        pub(in crate::line) fn new(most: usize) -> Self {
            // SAFETY: only asks.
            let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
            let page = usize::try_from(page).expect("pages have a size");
            let len = most.next_multiple_of(page);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            // SAFETY: new memory, wherever there is room for it.
            let map = unsafe { libc::mmap(ptr::null_mut(), page + len + page, libc::PROT_NONE, flags, -1, 0) };
            assert_ne!(map, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
            // SAFETY: inside of the map.
            let start = unsafe { map.byte_add(page) };
            // SAFETY: nobody else knows of this memory.
            let opened = unsafe { libc::mprotect(start, len, libc::PROT_READ | libc::PROT_WRITE) };
            assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
            Self { start: NonNull::new(start.cast()).expect("nothing is mapped at null"), len, page }
        }

        /// `len` bytes at that edge. They hold whatever was left there.
        pub(in crate::line) fn lend(&mut self, edge: Edge, len: usize) -> &mut [u8] {
            // SAFETY: all that was opened: mapped memory is zero at first, and lives as long as this does.
            let all = unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) };
            match edge {
                Edge::Before => &mut all[..len],
                Edge::Behind => &mut all[self.len - len..],
            }
        }
    }

    impl Drop for Guarded {
        fn drop(&mut self) {
            // SAFETY: the first byte of the map.
            let map = unsafe { self.start.as_ptr().byte_sub(self.page) };
            // SAFETY: the whole of the map, which nobody borrows any more.
            let closed = unsafe { libc::munmap(map.cast::<c_void>(), self.page + self.len + self.page) };
            assert_eq!(closed, 0, "{}", std::io::Error::last_os_error());
        }
    }

    /// Whether that byte can be read. The system is asked, which says no where this program would end.
    fn is_there(byte: *const u8) -> bool {
        use std::os::fd::AsRawFd as _;

        let (_reader, writer) = std::io::pipe().expect("a pipe");
        // SAFETY: the descriptor is open, and the system looks at the byte itself.
        unsafe { libc::write(writer.as_raw_fd(), byte.cast::<c_void>(), 1) == 1 }
    }

    #[test]
    fn nothing_can_be_touched_beyond_either_edge() {
        for most in [1, 4096, 100_000] {
            let mut guarded = Guarded::new(most);
            let first = guarded.lend(Edge::Before, most).as_ptr();
            assert!(is_there(first));
            assert!(!is_there(first.wrapping_sub(1)));
            let end = guarded.lend(Edge::Behind, most).as_ptr_range().end;
            assert!(is_there(end.wrapping_sub(1)));
            assert!(!is_there(end));
        }
    }
}

#[cfg(not(all(unix, not(miri))))]
mod exact {
    use super::Edge;

    /// Memory of its own for each time that it is lent.
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
