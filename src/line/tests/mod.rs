//! Tests that no fragment stores past its bound.

mod bounds;
pub(super) mod guarded;
