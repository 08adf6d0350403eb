//! A value with a last act, which can still be taken apart.
#![allow(unsafe_code)]

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// What a value does when it goes and nobody has taken it out.
pub(super) trait Close {
    fn close(self);
}

/// Closes what it holds when it is dropped. A type with a `Drop` of its own could not be taken apart.
pub(super) struct Closing<T: Close>(ManuallyDrop<T>);

impl<T: Close> Closing<T> {
    pub(super) const fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }

    /// The value, which will not be closed.
    pub(super) fn into_inner(self) -> T {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used after this, and is not dropped.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }
}

impl<T: Close> Drop for Closing<T> {
    fn drop(&mut self) {
        // SAFETY: `self` is not used after this, and nothing drops what is inside a `ManuallyDrop` by itself.
        unsafe { ManuallyDrop::take(&mut self.0) }.close();
    }
}

impl<T: Close> Deref for Closing<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Close> DerefMut for Closing<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;

    struct Counted(Rc<Cell<u32>>);

    impl Close for Counted {
        fn close(self) {
            self.0.set(self.0.get() + 1);
        }
    }

    #[test]
    fn a_value_is_closed_once_or_taken_out() {
        let closed = Rc::new(Cell::new(0));
        drop(Closing::new(Counted(Rc::clone(&closed))));
        assert_eq!((closed.get(), Rc::strong_count(&closed)), (1, 1));
        let taken = Closing::new(Counted(Rc::clone(&closed))).into_inner();
        assert_eq!((closed.get(), Rc::strong_count(&closed)), (1, 2));
        drop(taken);
        assert_eq!((closed.get(), Rc::strong_count(&closed)), (1, 1));
    }
}
