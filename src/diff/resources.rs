//! Matches the resources of two runs.
//!
//! The host assigns ids in the order of requests, so the same resource may have different ids in two runs. Resources
//! are therefore matched by the calls that returned them.

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::memmem::Finder;

use crate::value::RecordedResource;

/// Pairs of resources that the same calls returned, each by name and id.
#[derive(Debug, Default)]
pub(super) struct Resources {
    forth: HashMap<Resource, Resource>,
    back: HashMap<Resource, Resource>,
}

type Resource = (Box<str>, i64);

fn key(resource: &RecordedResource<'_>) -> Resource {
    (resource.name.into(), resource.id)
}

impl Resources {
    /// Pairs two resources that a call returned. Returns false if each of them is already paired with another.
    pub(super) fn given(&mut self, first: &RecordedResource<'_>, second: &RecordedResource<'_>) -> bool {
        let (one, other) = (key(first), key(second));
        if one.0 != other.0 {
            return false;
        }
        let (partner_of_one, partner_of_other) = (self.forth.get(&one), self.back.get(&other));
        // If only one of them is known, the host reused the id of a closed resource.
        let is_other = partner_of_one.is_some_and(|partner| *partner != other)
            && partner_of_other.is_some_and(|partner| *partner != one);
        if let Some(partner) = self.forth.insert(one.clone(), other.clone()) {
            self.back.remove(&partner);
        }
        if let Some(partner) = self.back.insert(other, one.clone()).filter(|partner| *partner != one) {
            self.forth.remove(&partner);
        }
        !is_other
    }

    /// Returns whether two resources are the same. Resources that no call returned are compared by id.
    pub(super) fn are_same(&self, first: &RecordedResource<'_>, second: &RecordedResource<'_>) -> bool {
        let (one, other) = (key(first), key(second));
        match (self.forth.get(&one), self.back.get(&other)) {
            (None, None) => one == other,
            (partner, _) => partner == Some(&other),
        }
    }
}

/// Removes the ids of resources from encoded arguments, since they may differ between equal runs.
pub(super) fn without_ids(args: &[u8]) -> Cow<'_, [u8]> {
    // These never match inside a string, where quotation marks are escaped.
    let (resource, id) = (Finder::new(br#"{"type":"resource","name":""#), Finder::new(br#"","id":"#));
    let (mut out, mut rest) = (Vec::new(), args);
    while let Some(start) = resource.find(rest)
        && let Some(found) = id.find(&rest[start..])
    {
        let (kept, after) = rest.split_at(start + found + id.needle().len());
        out.extend_from_slice(kept);
        let digits = after.iter().take_while(|byte| **byte == b'-' || byte.is_ascii_digit()).count();
        rest = &after[digits..];
    }
    if out.is_empty() {
        return Cow::Borrowed(args);
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(id: i64) -> RecordedResource<'static> {
        RecordedResource { name: "File", id }
    }

    #[test]
    fn what_the_same_call_gave_is_the_same_whatever_its_id() {
        let mut files = Resources::default();
        assert!(files.given(&of(1), &of(2)) && files.given(&of(2), &of(1)));
        for (one, other, same) in
            [(1, 2, true), (2, 1, true), (1, 1, false), (2, 2, false), (9, 9, true), (9, 1, false)]
        {
            assert_eq!(files.are_same(&of(one), &of(other)), same, "{one} {other}");
        }
        // The first was closed, and its id handed out again in one of the runs.
        assert!(files.given(&of(1), &of(3)));
        assert!(files.are_same(&of(1), &of(3)) && !files.are_same(&of(1), &of(2)));
        assert!(!files.given(&of(1), &of(1)), "each of them is known as another");
        assert!(!files.given(&RecordedResource { name: "Socket", id: 7 }, &of(7)));
    }

    #[test]
    fn ids_are_left_out_of_arguments() {
        let args = br#"{"type":"array","items":[{"type":"resource","name":"a\"","id":-12},{"type":"int","value":5}]}"#;
        let expected = br#"{"type":"array","items":[{"type":"resource","name":"a\"","id":},{"type":"int","value":5}]}"#;
        assert_eq!(*without_ids(args), *expected);
        let text = br#"{"type":"string","value":"{\"type\":\"resource\",\"name\":\"a\",\"id\":3}"}"#;
        assert!(matches!(without_ids(text), Cow::Borrowed(kept) if kept == text));
    }
}
