//! The line being written, and the state of the value that is being written into it.

use crate::line::{Buffer, Fragment, Stop};

/// The number of levels that a value may have. An int has one level, an array of ints two.
///
/// Arrays, enums and structs, even empty ones, may be at levels 1 to 127. One at level 128 is written as an opaque with
/// the text `nested deeper than 128 levels`. A reader rejects anything deeper.
pub const MAX_VALUE_DEPTH: usize = 128;

/// A line being written, with the state of the argument or result that is being written into it.
///
/// When something goes wrong in a value, the line is stopped: nothing more of the value is written, no further
/// container is entered, and [`isolated`](Self::isolated) replaces the value from its first byte.
pub(crate) struct Encoder {
    pub(crate) line: Buffer,
    /// The most bytes of the line.
    pub(super) line_limit: usize,
    /// Containers that are open around the value being written.
    pub(super) depth: usize,
    /// The fault of the value. `None` if there is none, or if the line was stopped by its length.
    pub(super) fault: Option<Fault>,
}

#[derive(Clone, Copy)]
pub(super) enum Fault {
    /// The value's code panicked, or a formatter reported an error.
    Failed,
    /// The value, or a part of it, wrote nothing.
    WroteNothing,
}

impl Encoder {
    /// Lets `write` append a line of at most `limit` bytes to `out`. Returns whether it was written whole; if it was
    /// not, `out` is as it was.
    #[inline]
    pub(crate) fn append(out: &mut Vec<u8>, limit: usize, write: impl FnOnce(&mut Self)) -> bool {
        let start = out.len();
        let line = Buffer::append_to(std::mem::take(out), limit);
        let mut encoder = Self { line, line_limit: limit, depth: 0, fault: None };
        write(&mut encoder);
        let is_whole = encoder.line.stopped().is_none();
        *out = encoder.line.into_bytes();
        if !is_whole {
            out.truncate(start);
        }
        is_whole
    }

    /// Writes an opaque whose text needs no formatter.
    pub(super) fn opaque(&mut self, of: &str, shown: impl Fragment) {
        self.line.put((br#"{"type":"opaque","of":""#, of, br#"","shown":""#, shown, b"\"}"));
    }

    /// Runs code that may be the value's own. If it unwinds, the value has failed, even if an outer part of the value
    /// catches the panic and goes on.
    #[inline(always)]
    pub(super) fn run_user_code(&mut self, code: impl FnOnce(&mut Self)) {
        let armed = FailOnUnwind(self);
        code(armed.0);
        std::mem::forget(armed);
    }

    // The next two repeat the lines of `run_user_code`, since calls take stack at each level of a value in builds
    // without optimisation.

    /// Runs code that has to write a value.
    #[inline(always)]
    pub(super) fn expect_value(&mut self, code: impl FnOnce(&mut Self)) {
        let start = self.line.len();
        let armed = FailOnUnwind(self);
        code(armed.0);
        std::mem::forget(armed);
        if self.line.len() == start {
            self.wrote_nothing();
        }
    }

    /// Writes the content of a container, whose items each end with a comma, and its end.
    #[inline(always)]
    pub(super) fn content(&mut self, write: impl FnOnce(&mut Self)) {
        let start = self.line.len();
        self.depth += 1;
        let armed = FailOnUnwind(self);
        write(armed.0);
        std::mem::forget(armed);
        self.depth -= 1;
        self.line.drop_trailing_comma(start);
        self.line.put(b"]}");
    }

    #[cold]
    #[inline(never)]
    fn wrote_nothing(&mut self) {
        if self.line.stopped().is_none() {
            self.fault = Some(Fault::WroteNothing);
            self.line.stop(Stop::Stopped);
        }
    }

    /// The argument or result being written has failed.
    #[cold]
    #[inline(never)]
    pub(super) fn fail(&mut self) {
        self.fault = Some(Fault::Failed);
        self.line.stop(Stop::Stopped);
    }

    /// Writes the opening of a container. One that would nest too deep is replaced by an opaque of its type name.
    /// Returns whether its content is to be written.
    #[inline]
    pub(super) fn begin_container<'n>(&mut self, type_name: impl FnOnce() -> &'n str, opening: impl Fragment) -> bool {
        const { assert!(MAX_VALUE_DEPTH == 128, "the text below has the number") };
        if self.depth == MAX_VALUE_DEPTH - 1 {
            self.opaque(type_name(), b"nested deeper than 128 levels");
            return false;
        }
        self.line.put(opening)
    }
}

/// Makes the value fail when a panic drops this.
struct FailOnUnwind<'e>(&'e mut Encoder);

impl Drop for FailOnUnwind<'_> {
    fn drop(&mut self) {
        self.0.fail();
    }
}
