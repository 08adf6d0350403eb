//! Events of a run with a fixed vocabulary, for the benchmarks of the sinks and the replay. The seed
//! chooses the order of the events and their numbers and texts.

use cove_trace::RunOutcome;
use cove_trace::owned::{OwnedEvent, OwnedHostCall, OwnedOutcome, OwnedValue};

use super::random::Random;

const WORDS: [&str; 16] = [
    "the", "harbour", "light", "of", "an", "evening", "boats", "and", "ropes", "bread", "café", "over", "windows",
    "in", "a", "naïve",
];

/// A whole run: 85% host calls (console prints, document reads of 200 to 2000 bytes, response
/// structs, clock and database calls), 10% heap collections, the rest task events.
pub fn mixed(seed: u64, count: usize) -> Vec<OwnedEvent> {
    let mut random = Random::new(seed);
    (0..count as u64)
        .map(|index| match random.below(100) {
            0..42 => print(&mut random),
            42..48 => document_read(&mut random),
            48..57 => http_response(&mut random),
            57..72 => clock(&mut random),
            72..85 => database(&mut random),
            85..95 => collection(&mut random),
            95..97 => OwnedEvent::TaskSpawned { id: index, parent: Some(random.below(9)), scope: "workers".into() },
            97..99 => OwnedEvent::TaskCompleted { id: index, cpu: random.wait() },
            _ => OwnedEvent::TaskCancelled { id: index },
        })
        .collect()
}

/// Each kind of event by itself.
pub fn kinds(seed: u64, count: usize) -> Vec<(&'static str, Vec<OwnedEvent>)> {
    let mut random = Random::new(seed);
    let mut of = |make: fn(&mut Random) -> OwnedEvent| (0..count).map(|_| make(&mut random)).collect();
    vec![
        ("console print", of(print)),
        ("document read", of(document_read)),
        ("response struct", of(http_response)),
        ("clock", of(clock)),
        ("database", of(database)),
        ("collection", of(collection)),
        ("lifecycle", of(|random| OwnedEvent::TaskCompleted { id: random.below(1000), cpu: random.wait() })),
        ("run ended", of(|_| OwnedEvent::RunEnded { outcome: RunOutcome::Success, message: None })),
    ]
}

fn print(random: &mut Random) -> OwnedEvent {
    let len = random.between(10, 60);
    let text = random.prose(&WORDS, len).replace('\n', " ");
    random.call(["console", "println", "console.write"], vec![OwnedValue::String(text)], ok_unit())
}

fn document_read(random: &mut Random) -> OwnedEvent {
    let name = format!("documents/chapter-{}.md", random.below(40));
    let len = random.between(200, 2000);
    let text = random.prose(&WORDS, len);
    let result = ok(OwnedValue::String(text));
    random.call(["documents", "read", "documents.read"], vec![OwnedValue::String(name)], result)
}

fn http_response(random: &mut Random) -> OwnedEvent {
    let url = format!("https://example.org/items/{}?page={}", random.below(10_000), random.below(20));
    let body = random.prose(&WORDS, 80).replace('\n', " ");
    let header = |name: &str, value: &str| OwnedValue::Array(vec![string(name), string(value)]);
    let fields = vec![
        ("status".into(), OwnedValue::Int(200)),
        ("body".into(), OwnedValue::String(body)),
        ("headers".into(), OwnedValue::Array(vec![header("content-type", "text/html")])),
        ("elapsed".into(), OwnedValue::Duration { ns: random.below(80_000_000) as i64 }),
    ];
    let response = OwnedValue::Struct { name: "Response".into(), fields };
    random.call(["http", "get", "network.http"], vec![OwnedValue::String(url)], ok(response))
}

fn clock(random: &mut Random) -> OwnedEvent {
    let now = OwnedValue::Int(1_790_000_000_000_000_000 + random.below(1_000_000_000_000) as i64);
    random.call(["clock", "now", "clock.read"], vec![], now)
}

fn database(random: &mut Random) -> OwnedEvent {
    let connection = OwnedValue::Resource { name: "Connection".into(), id: random.below(8) as i64 };
    let args = vec![connection, string("select name, price from items where id = ?"), random.number()];
    random.call(["db", "query", "database.query"], args, ok(OwnedValue::Int(17)))
}

fn collection(random: &mut Random) -> OwnedEvent {
    OwnedEvent::HeapCollected {
        task: random.below(9),
        allocated: random.below(1_000_000),
        freed: random.below(900_000),
        live_objects: random.below(100_000),
        live_bytes: random.below(50_000_000),
        pause: random.wait(),
    }
}

fn string(text: &str) -> OwnedValue {
    OwnedValue::String(text.into())
}

fn ok(value: OwnedValue) -> OwnedValue {
    OwnedValue::Enum { name: "Result".into(), case: "Ok".into(), payload: vec![value] }
}

fn ok_unit() -> OwnedValue {
    ok(OwnedValue::Unit)
}

impl Random {
    fn number(&mut self) -> OwnedValue {
        match self.below(4) {
            0 => OwnedValue::Int(self.below(1000) as i64),
            1 => OwnedValue::Int(self.next() as i64),
            2 => OwnedValue::Float(self.below(1_000_000) as f64 / 100.0),
            _ => OwnedValue::Float((self.next() >> 11) as f64 / (1_u64 << 53) as f64),
        }
    }

    fn call(&mut self, site: [&str; 3], args: Vec<OwnedValue>, result: OwnedValue) -> OwnedEvent {
        let [module, op, capability] = site.map(String::from);
        OwnedEvent::HostCall(OwnedHostCall {
            task: self.below(9),
            module,
            op,
            capability,
            wait: self.wait(),
            granted: true,
            args,
            outcome: Some(OwnedOutcome::Value(result)),
        })
    }
}
