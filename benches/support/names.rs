//! The names of a program, each once in memory: an interpreter does not keep a copy for each call or value.

use std::collections::HashMap;
use std::rc::Rc;

#[derive(Default)]
pub struct Names<'a>(HashMap<&'a str, Rc<str>>);

impl<'a> Names<'a> {
    /// The first occurrence of `name`.
    pub fn borrowed(&mut self, name: &'a str) -> &'a str {
        if let Some((first, _)) = self.0.get_key_value(name) {
            return first;
        }
        self.shared(name);
        name
    }

    pub fn shared(&mut self, name: &'a str) -> Rc<str> {
        Rc::clone(self.0.entry(name).or_insert_with(|| name.into()))
    }
}
