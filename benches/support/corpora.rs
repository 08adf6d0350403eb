//! The events that the benchmarks work on, made by a generator that gives the same events for the same seed.

use std::time::Duration;

use cove_trace::RunOutcome;
use cove_trace::owned::{OwnedEvent, OwnedHostCall, OwnedOutcome, OwnedValue};

/// A run as an interpreter records it: 85% host calls (console prints, document reads of 200 to 2000 bytes, response
/// structs, clock and database calls), 10% heap collections, the rest lifecycle.
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

/// Host calls that carry some 14 KB of text each.
pub fn texts(seed: u64, count: usize) -> Vec<OwnedEvent> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|_| {
            let text = random.prose(14_000);
            random.call(
                ["documents", "write", "documents.write"],
                vec![string("notes/today.md"), string(&text)],
                ok_unit(),
            )
        })
        .collect()
}

/// Host calls that carry an array of a hundred numbers, half whole, half not.
pub fn numbers(seed: u64, count: usize) -> Vec<OwnedEvent> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|_| {
            let items = (0..100).map(|_| random.number()).collect();
            random.call(["stats", "mean", "stats.compute"], vec![OwnedValue::Array(items)], OwnedValue::Float(0.5))
        })
        .collect()
}

/// Each kind of event alone, for the figures by kind.
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
    let text = random.prose(len).replace('\n', " ");
    random.call(["console", "println", "console.write"], vec![OwnedValue::String(text)], ok_unit())
}

fn document_read(random: &mut Random) -> OwnedEvent {
    let name = format!("documents/chapter-{}.md", random.below(40));
    let len = random.between(200, 2000);
    let text = random.prose(len);
    let result = ok(OwnedValue::String(text));
    random.call(["documents", "read", "documents.read"], vec![OwnedValue::String(name)], result)
}

fn http_response(random: &mut Random) -> OwnedEvent {
    let url = format!("https://example.org/items/{}?page={}", random.below(10_000), random.below(20));
    let body = random.prose(80).replace('\n', " ");
    let header = |name: &str, value: &str| OwnedValue::Array(vec![string(name), string(value)]);
    let fields = vec![
        field("status", OwnedValue::Int(200)),
        field("body", OwnedValue::String(body)),
        field("headers", OwnedValue::Array(vec![header("content-type", "text/html")])),
        field("elapsed", OwnedValue::Duration { ns: random.below(80_000_000) as i64 }),
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
    random.call(["db", "query", "database.query"], args, ok(OwnedValue::Int(random_rows())))
}

fn random_rows() -> i64 {
    17
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

/// The same name as static text, which is what an interpreter has for its operations, types and fields: not one copy for
/// each call.
pub fn static_name(name: &str) -> &str {
    const NAMES: [&str; 29] = [
        "console",
        "println",
        "console.write",
        "documents",
        "read",
        "documents.read",
        "write",
        "documents.write",
        "http",
        "get",
        "network.http",
        "clock",
        "now",
        "clock.read",
        "db",
        "query",
        "database.query",
        "stats",
        "mean",
        "stats.compute",
        "Result",
        "Ok",
        "Response",
        "status",
        "body",
        "headers",
        "elapsed",
        "Connection",
        "workers",
    ];
    NAMES.into_iter().find(|known| *known == name).unwrap_or(name)
}

fn string(text: &str) -> OwnedValue {
    OwnedValue::String(text.into())
}

fn field(name: &str, value: OwnedValue) -> (String, OwnedValue) {
    (name.into(), value)
}

fn ok(value: OwnedValue) -> OwnedValue {
    OwnedValue::Enum { name: "Result".into(), case: "Ok".into(), payload: vec![value] }
}

fn ok_unit() -> OwnedValue {
    ok(OwnedValue::Unit)
}

/// `SplitMix64`.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn between(&mut self, low: u64, high: u64) -> usize {
        (low + self.below(high - low)) as usize
    }

    fn wait(&mut self) -> Duration {
        let digits = 10_u64.pow(self.below(7) as u32 + 2);
        Duration::from_nanos(self.below(digits))
    }

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

    /// About `len` bytes of text: lines of words, some quoted, some with letters outside of ASCII.
    fn prose(&mut self, len: usize) -> String {
        const WORDS: [&str; 16] = [
            "the", "harbour", "light", "of", "an", "evening", "boats", "and", "ropes", "bread", "café", "over",
            "windows", "in", "a", "naïve",
        ];
        let (mut text, mut column) = (String::with_capacity(len + 16), 0);
        while text.len() < len {
            let word = WORDS[self.below(16) as usize];
            let quoted = self.below(40) == 0;
            let before = text.len();
            if quoted {
                text.push('"');
            }
            text.push_str(word);
            if quoted {
                text.push('"');
            }
            column += text.len() - before + 1;
            text.push(if column > 72 { '\n' } else { ' ' });
            if column > 72 {
                column = 0;
            }
        }
        while text.len() > len {
            text.pop();
        }
        text
    }
}
