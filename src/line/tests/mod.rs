//! Tests of bounds: no fragment stores past its bound, whatever the room.

mod bounds;
pub(super) mod guarded;
