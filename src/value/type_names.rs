//! The type names of the shapes that have no name of their own.

pub(crate) const UNIT: &str = "Unit";
pub(crate) const BOOL: &str = "Bool";
pub(crate) const INT: &str = "Int";
pub(crate) const FLOAT: &str = "Float";
pub(crate) const DURATION: &str = "Duration";
pub(crate) const STRING: &str = "String";
pub(crate) const ARRAY: &str = "Array";
