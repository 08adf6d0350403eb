//! Events of programs drawn from a seed, in groups that stress different parts of the encoder and
//! the decoder.

use std::rc::Rc;

use cove_trace::owned::OwnedEvent;

use super::random::Random;
use super::vocabulary::{Enum, Ids, Shape, Site, Struct, Text, Vocabulary, leaf, name, type_name};

/// A group's name, and the function that draws its events.
pub type Group = (&'static str, fn(u64) -> Vec<OwnedEvent>);

pub const GROUPS: [Group; 9] = [
    ("mixed_warm", |seed| mixed(seed, 1_000)),
    ("mixed_warm_next_seed", |seed| mixed(seed + 1, 1_000)),
    ("mixed_cold", |seed| mixed(seed, 100_000)),
    ("short", short),
    ("deep", deep),
    ("numbers_narrow", |seed| numbers(seed, [Shape::SmallInt, Shape::ShortFloat])),
    ("numbers_wide", |seed| numbers(seed, [Shape::Int, Shape::Float])),
    ("scripts", scripts),
    ("texts", texts),
];

fn program(seed: u64) -> (Random, Vocabulary) {
    let mut random = Random::new(seed);
    let vocabulary = Vocabulary::draw(&mut random);
    (random, vocabulary)
}

/// A whole run, about 330 bytes a line: 85% host calls, 10% heap collections, the rest task events.
fn mixed(seed: u64, count: u64) -> Vec<OwnedEvent> {
    let (mut random, vocabulary) = program(seed);
    let event = |index| match random.below(100) {
        0..85 => {
            // Programs call some sites much more often than others.
            let most = random.below(vocabulary.sites.len() as u64) + 1;
            let site = &vocabulary.sites[random.below(most) as usize];
            vocabulary.call(&mut random, site)
        }
        85..95 => collection(&mut random, &vocabulary),
        _ => task_event(&mut random, &vocabulary, index),
    };
    (0..count).map(event).collect()
}

/// Short lines, about 110 bytes each: task events, heap collections, clock calls, and channel sends of an int.
fn short(seed: u64) -> Vec<OwnedEvent> {
    let (mut random, vocabulary) = program(seed);
    let mut clock = Site::of(&mut random, vec![], Shape::IntFrom(1_790_000_000_000_000_000));
    clock.is_wrapped = false;
    let channel = Shape::Resource(type_name(&mut random), Ids::draw(&mut random));
    let send = Site::of(&mut random, vec![channel, Shape::Int], Shape::Unit);
    let event = |index| match random.below(100) {
        0..62 => task_event(&mut random, &vocabulary, index),
        62..74 => collection(&mut random, &vocabulary),
        74..91 => vocabulary.call(&mut random, &clock),
        _ => vocabulary.call(&mut random, &send),
    };
    (0..1_000).map(event).collect()
}

/// Trees five levels deep, about 2 KB a line.
fn deep(seed: u64) -> Vec<OwnedEvent> {
    let (mut random, vocabulary) = program(seed);
    let sites: Vec<_> = (0..12)
        .map(|_| {
            let (argument, result) = (tree(&mut random, 5), tree(&mut random, 5));
            Site::of(&mut random, vec![argument], result)
        })
        .collect();
    calls(&mut random, &vocabulary, &sites, 500)
}

fn tree(random: &mut Random, levels: u32) -> Shape {
    if levels == 1 {
        return leaf(random);
    }
    let inner = tree(random, levels - 1);
    match random.below(3) {
        0 => Shape::Array(Rc::new(inner), 4),
        1 => {
            let mut fields: Vec<_> = (0..random.between(1, 5)).map(|_| (name(random), leaf(random))).collect();
            fields.push((name(random), inner));
            Shape::Struct(Rc::new(Struct { name: type_name(random), fields }))
        }
        _ => {
            let case = (type_name(random), vec![leaf(random), inner]);
            Shape::Enum(Rc::new(Enum { name: type_name(random), cases: vec![case] }))
        }
    }
}

/// Arrays of 100 numbers: all ints, all floats, or both in turn.
fn numbers(seed: u64, [int, float]: [Shape; 2]) -> Vec<OwnedEvent> {
    let (mut random, vocabulary) = program(seed);
    let pairs = [[&int, &int], [&float, &float], [&int, &float]];
    let sites = pairs.map(|[even, odd]| {
        let items = (0..100).map(|index| if index % 2 == 0 { even.clone() } else { odd.clone() });
        Site::of(&mut random, vec![Shape::Row(items.collect())], odd.clone())
    });
    calls(&mut random, &vocabulary, &sites, 200)
}

/// Texts in Cyrillic, Kanji and emoji, about 720 bytes a line.
fn scripts(seed: u64) -> Vec<OwnedEvent> {
    const SCRIPTS: [(u64, u64); 3] = [(0x430, 0x450), (0x4e00, 0x9f00), (0x1f600, 0x1f640)];
    let (mut random, mut vocabulary) = program(seed);
    vocabulary.words = (0..400)
        .map(|index| {
            let (first, end) = SCRIPTS[index % 3];
            let letters = 0..random.between(1, 9);
            let letter = |_| char::from_u32(random.between(first, end) as u32).expect("no surrogate");
            letters.map(letter).collect()
        })
        .collect();
    let text = |low, high| Shape::Text(Text::Prose { low, high });
    let sites: Vec<_> = (0..12)
        .map(|_| {
            let args = vec![text(10, 60), text(40, 360)];
            Site::of(&mut random, args, text(10, 340))
        })
        .collect();
    calls(&mut random, &vocabulary, &sites, 1_000)
}

/// Texts of about 14 KB.
fn texts(seed: u64) -> Vec<OwnedEvent> {
    let (mut random, vocabulary) = program(seed);
    let text = Shape::Text(Text::Prose { low: 13_000, high: 15_000 });
    let site = Site::of(&mut random, vec![Shape::Text(Text::Path), text], Shape::Unit);
    calls(&mut random, &vocabulary, &[site], 200)
}

fn calls(random: &mut Random, vocabulary: &Vocabulary, sites: &[Site], count: usize) -> Vec<OwnedEvent> {
    (0..count)
        .map(|_| {
            let site = random.pick(sites);
            vocabulary.call(random, site)
        })
        .collect()
}

fn collection(random: &mut Random, vocabulary: &Vocabulary) -> OwnedEvent {
    OwnedEvent::HeapCollected {
        task: vocabulary.tasks.one(random),
        allocated: random.magnitude(24),
        freed: random.magnitude(24),
        live_objects: random.magnitude(24),
        live_bytes: random.magnitude(32),
        pause: random.wait(),
    }
}

fn task_event(random: &mut Random, vocabulary: &Vocabulary, index: u64) -> OwnedEvent {
    match random.below(5) {
        0 | 1 => OwnedEvent::TaskSpawned {
            id: vocabulary.tasks.fresh(index),
            parent: random.chance(80).then(|| vocabulary.tasks.one(random)),
            scope: random.pick(&vocabulary.scopes).clone(),
        },
        2 | 3 => OwnedEvent::TaskCompleted { id: vocabulary.tasks.one(random), cpu: random.wait() },
        _ => OwnedEvent::TaskCancelled { id: vocabulary.tasks.one(random) },
    }
}
