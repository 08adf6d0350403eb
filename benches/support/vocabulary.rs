//! A program drawn from a seed: its names, types, call sites, ids and texts. Each seed draws all of them anew, so an
//! encoder cannot be tuned to fixed ones.

use std::rc::Rc;
use std::time::Duration;

use cove_trace::owned::{OwnedEvent, OwnedHostCall, OwnedOutcome, OwnedValue};

use super::random::Random;

pub struct Vocabulary {
    pub words: Vec<String>,
    pub sites: Vec<Site>,
    pub types: Vec<Shape>,
    pub scopes: Vec<String>,
    pub tasks: Ids,
    /// The enum and the case around a successful result. In some programs results are bare.
    wrapper: Option<[String; 2]>,
}

/// The values that are possible in one place of the program.
#[derive(Clone)]
pub enum Shape {
    Unit,
    Bool,
    SmallInt,
    /// An int of any magnitude, of either sign.
    Int,
    /// A counter or a point in time: an int a little above this one.
    IntFrom(i64),
    ShortFloat,
    /// A float of about 17 digits.
    Float,
    Duration,
    Text(Text),
    /// An array of 0 to this many items of one shape.
    Array(Rc<Shape>, u64),
    /// An array with an item of each of these shapes.
    Row(Rc<[Shape]>),
    Enum(Rc<Enum>),
    Struct(Rc<Struct>),
    Resource(String, Ids),
    Opaque(String),
}

pub struct Enum {
    pub name: String,
    pub cases: Vec<(String, Vec<Shape>)>,
}

pub struct Struct {
    pub name: String,
    pub fields: Vec<(String, Shape)>,
}

#[derive(Clone)]
pub enum Text {
    Word,
    Path,
    /// `low..high` bytes of words.
    Prose {
        low: u64,
        high: u64,
    },
    /// A flat JSON object with this many members.
    Json(u64),
}

/// Consecutive ids from a first one on: a small counter in some programs, a large number in others.
#[derive(Clone, Copy)]
pub struct Ids {
    first: u64,
    used: u64,
}

/// One operation of a host module.
pub struct Site {
    pub module: String,
    pub op: String,
    pub capability: String,
    pub args: Vec<Shape>,
    pub result: Shape,
    pub is_wrapped: bool,
    /// Waits are shorter than 10 to this power, in nanoseconds.
    pub wait_digits: u32,
}

impl Vocabulary {
    pub fn draw(random: &mut Random) -> Self {
        let words = (0..400).map(|_| word(random)).collect();
        let wrapper = match random.below(5) {
            0 | 1 => Some(["Result", "Ok"].map(String::from)),
            2 | 3 => Some([type_name(random), type_name(random)]),
            _ => None,
        };
        let mut types = Vec::new();
        for _ in 0..random.between(6, 20) {
            types.push(data_type(random, &types));
        }
        let modules: Vec<_> = (0..random.between(3, 12)).map(|_| name(random)).collect();
        let sites = (0..random.between(12, 61)).map(|_| Site::draw(random, &modules, &types)).collect();
        let scopes = (0..random.between(2, 7)).map(|_| name(random)).collect();
        Self { words, sites, types, scopes, tasks: Ids::draw(random), wrapper }
    }

    pub fn value(&self, random: &mut Random, shape: &Shape) -> OwnedValue {
        match shape {
            Shape::Unit => OwnedValue::Unit,
            Shape::Bool => OwnedValue::Bool(random.chance(50)),
            Shape::SmallInt => OwnedValue::Int(random.below(1000) as i64),
            Shape::Int => {
                let int = random.magnitude(63) as i64;
                OwnedValue::Int(if random.chance(25) { -int } else { int })
            }
            Shape::IntFrom(first) => OwnedValue::Int(first + random.below(1_000_000) as i64),
            Shape::ShortFloat => {
                let (digits, decimals) = (random.magnitude(20) as f64, random.below(4) as i32);
                OwnedValue::Float(digits / 10_f64.powi(decimals))
            }
            Shape::Float => {
                let fraction = (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
                OwnedValue::Float((fraction - 0.25) * 10_f64.powi(random.below(9) as i32 - 3))
            }
            Shape::Duration => OwnedValue::Duration { ns: random.magnitude(40) as i64 },
            Shape::Text(text) => OwnedValue::String(self.text(random, text)),
            Shape::Array(item, most) => {
                OwnedValue::Array((0..random.below(most + 1)).map(|_| self.value(random, item)).collect())
            }
            Shape::Row(items) => OwnedValue::Array(items.iter().map(|item| self.value(random, item)).collect()),
            Shape::Enum(shape) => {
                let (case, payload) = random.pick(&shape.cases);
                let payload = payload.iter().map(|shape| self.value(random, shape)).collect();
                OwnedValue::Enum { name: shape.name.clone(), case: case.clone(), payload }
            }
            Shape::Struct(shape) => {
                let fields = shape.fields.iter().map(|(name, shape)| (name.clone(), self.value(random, shape)));
                OwnedValue::Struct { name: shape.name.clone(), fields: fields.collect() }
            }
            Shape::Resource(name, ids) => OwnedValue::Resource { name: name.clone(), id: ids.one(random) as i64 },
            Shape::Opaque(of) => OwnedValue::Opaque { of: of.clone(), shown: format!("<{}>", self.word(random)) },
        }
    }

    pub fn call(&self, random: &mut Random, site: &Site) -> OwnedEvent {
        let args = site.args.iter().map(|shape| self.value(random, shape)).collect();
        let (granted, outcome) = match random.below(100) {
            0 => (false, None),
            1 | 2 => (true, Some(OwnedOutcome::Error(random.prose(&self.words, 40)))),
            _ => {
                let result = self.value(random, &site.result);
                let result = match &self.wrapper {
                    Some([name, case]) if site.is_wrapped => {
                        OwnedValue::Enum { name: name.clone(), case: case.clone(), payload: vec![result] }
                    }
                    _ => result,
                };
                (true, Some(OwnedOutcome::Value(result)))
            }
        };
        OwnedEvent::HostCall(OwnedHostCall {
            task: self.tasks.one(random),
            module: site.module.clone(),
            op: site.op.clone(),
            capability: site.capability.clone(),
            wait: Duration::from_nanos(random.below(10_u64.pow(site.wait_digits))),
            granted,
            args,
            outcome,
        })
    }

    fn word(&self, random: &mut Random) -> &str {
        random.pick::<String>(&self.words)
    }

    fn text(&self, random: &mut Random, text: &Text) -> String {
        match *text {
            Text::Word => self.word(random).into(),
            Text::Path => {
                let parts: Vec<_> = (0..random.between(2, 6)).map(|_| self.word(random)).collect();
                format!("/{}.{}", parts.join("/"), random.below(1000))
            }
            Text::Prose { low, high } => {
                let len = random.between(low, high);
                random.prose(&self.words, len)
            }
            Text::Json(members) => {
                let members: Vec<_> =
                    (0..members).map(|_| format!(r#""{}":{}"#, self.word(random), random.magnitude(30))).collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }
}

impl Ids {
    pub fn draw(random: &mut Random) -> Self {
        let first = match random.below(4) {
            0 | 1 => 1,
            2 => random.magnitude(32),
            _ => random.next() >> 1,
        };
        Self { first, used: 1 + random.magnitude(10) }
    }

    pub fn one(&self, random: &mut Random) -> u64 {
        self.first + random.below(self.used)
    }

    /// The id of the task or resource that is created at this index.
    pub fn fresh(&self, index: u64) -> u64 {
        self.first + index
    }
}

impl Site {
    fn draw(random: &mut Random, modules: &[String], types: &[Shape]) -> Self {
        let module = random.pick(modules).clone();
        let op = name(random);
        let capability = if random.chance(50) { format!("{module}.{}", name(random)) } else { name(random) };
        let args = (0..random.below(4)).map(|_| argument(random, types)).collect();
        let result = if random.chance(40) { Shape::Unit } else { argument(random, types) };
        let (is_wrapped, wait_digits) = (random.chance(80), random.between(2, 11) as u32);
        Self { module, op, capability, args, result, is_wrapped, wait_digits }
    }

    /// Draws the names and waits of an operation with these arguments and this result.
    pub fn of(random: &mut Random, args: Vec<Shape>, result: Shape) -> Self {
        let [module, op, capability] = std::array::from_fn(|_| name(random));
        let wait_digits = random.between(2, 11) as u32;
        Self { module, op, capability, args, result, is_wrapped: true, wait_digits }
    }
}

fn argument(random: &mut Random, types: &[Shape]) -> Shape {
    match random.below(100) {
        0..80 => leaf(random),
        80..90 => Shape::Array(Rc::new(leaf(random)), random.magnitude(4)),
        _ => random.pick(types).clone(),
    }
}

pub fn leaf(random: &mut Random) -> Shape {
    match random.below(20) {
        0..3 => Shape::SmallInt,
        3 | 4 => Shape::Int,
        5 => Shape::IntFrom(random.magnitude(62) as i64),
        6 => Shape::ShortFloat,
        7 => Shape::Float,
        8 => Shape::Bool,
        9 => Shape::Duration,
        10 => Shape::Resource(type_name(random), Ids::draw(random)),
        11 => Shape::Opaque(type_name(random)),
        12..14 => Shape::Text(Text::Word),
        14..16 => Shape::Text(Text::Path),
        16 => Shape::Text(Text::Json(1 + random.below(6))),
        _ => {
            let low = 1 + random.magnitude(6);
            Shape::Text(Text::Prose { low, high: 2 * low + 10 })
        }
    }
}

/// A struct or an enum. Its parts may have the types that were drawn earlier.
fn data_type(random: &mut Random, earlier: &[Shape]) -> Shape {
    let part = |random: &mut Random| {
        if !earlier.is_empty() && random.chance(10) { random.pick(earlier).clone() } else { leaf(random) }
    };
    if random.chance(60) {
        let fields = (0..random.between(1, 6)).map(|_| (name(random), part(random))).collect();
        Shape::Struct(Rc::new(Struct { name: type_name(random), fields }))
    } else {
        let case = |random: &mut Random| {
            let payload = (0..random.below(3)).map(|_| part(random)).collect();
            (type_name(random), payload)
        };
        Shape::Enum(Rc::new(Enum {
            cases: (0..random.between(1, 6)).map(|_| case(random)).collect(),
            name: type_name(random),
        }))
    }
}

/// A name of 3 to 14 letters. A longer one may have an underscore in its middle.
pub fn name(random: &mut Random) -> String {
    let len = random.between(3, 15);
    let mut letters: Vec<u8> = (0..len).map(|_| b'a' + random.below(26) as u8).collect();
    if len > 6 && random.chance(30) {
        letters[len / 2] = b'_';
    }
    letters.into_iter().map(char::from).collect()
}

/// A name with an upper-case first letter.
pub fn type_name(random: &mut Random) -> String {
    let name = name(random);
    name[..1].to_uppercase() + &name[1..]
}

/// A word of 1 to 11 letters, one in twenty with a letter outside of ASCII.
fn word(random: &mut Random) -> String {
    let mut word: String = (0..random.between(1, 12)).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
    if random.chance(5) {
        word.push(*random.pick(&['é', 'ü', 'ø', 'ñ', 'ß']));
    }
    word
}
