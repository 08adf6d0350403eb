//! The objects of a trace: their keys in the order of the writer, and the type of each key's value.
//!
//! No other module of the decoder states them. Each table passes its rows to a macro that generates code from them: the
//! kinds and their keys in this module, readers of keys in any order on the slow path (`event`, `value`, `header`), and
//! comparisons on the canonical path (`canonical`).
//!
//! A row is `Variant "name" { member: type(Key), .. } => result;`, where `type` is a method of both paths.
//! `a b: type(A B)` declares members that the canonical path reads together.

/// Defines the keys, and a macro that gives the name of one.
macro_rules! keys {
    ($($key:ident $name:literal)+) => {
        /// A key of an object.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum Key {
            $($key),+
        }

        impl Key {
            pub(super) const ALL: &'static [Self] = &[$(Self::$key),+];

            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$key => $name),+
                }
            }
        }

        /// The name of a key, as a literal.
        macro_rules! key_name {
            $(($key) => { $name };)+
        }
        pub(super) use key_name;
    };
}

keys! {
    Event "event"
    Version "version"
    Backend "backend"
    Values "values"
    Entry "entry"
    Args "args"
    Id "id"
    Parent "parent"
    Scope "scope"
    CpuNs "cpu_ns"
    Task "task"
    Module "module"
    Op "op"
    Capability "capability"
    WaitNs "wait_ns"
    Granted "granted"
    Outcome "outcome"
    Function "function"
    Allocated "allocated"
    Freed "freed"
    LiveObjects "live_objects"
    LiveBytes "live_bytes"
    PauseNs "pause_ns"
    Collections "collections"
    ObjectCount "object_count"
    AllocatedBytes "allocated_bytes"
    PeakBytes "peak_bytes"
    AllocatedWords "allocated_words"
    CapacityWords "capacity_words"
    LiveWords "live_words"
    Message "message"
    Kind "kind"
    Type "type"
    Value "value"
    Ns "ns"
    Items "items"
    Name "name"
    Case "case"
    Payload "payload"
    Fields "fields"
    Of "of"
    Shown "shown"
}

/// The table of the header.
macro_rules! header {
    ($define:ident $($head:tt)*) => {
        $define! {
            $($head)*;
            TraceHeader "trace_header" {
                _version: version(Version),
                backend: backend(Backend),
                values: capture(Values),
                entry: name(Entry),
                args: strings(Args)
            } => TraceHeader { backend, values, entry: entry.to_owned(), args };
        }
    };
}

/// The table of events.
macro_rules! events {
    ($define:ident $($head:tt)*) => {
        $define! {
            $($head)*;
            TaskSpawned "task_spawned" {
                id: unsigned(Id), parent: unsigned_or_null(Parent), scope: name(Scope)
            } => TraceEvent::TaskSpawned { id, parent, scope };
            TaskCompleted "task_completed" {
                id: unsigned(Id), cpu: nanoseconds(CpuNs)
            } => TraceEvent::TaskCompleted { id, cpu };
            TaskCancelled "task_cancelled" { id: unsigned(Id) } => TraceEvent::TaskCancelled { id };
            HostCall "host_call" {
                task: unsigned(Task),
                module op capability: names(Module Op Capability),
                wait: nanoseconds(WaitNs),
                granted: bool(Granted),
                args: args(Args),
                outcome: outcome(Outcome)
            } => {
                let site = CallSite::new(module, op, capability);
                TraceEvent::HostCall(HostCall { task, site, wait, granted, args, outcome })
            };
            EntryEnter "entry_enter" {
                module: name(Module), function: name(Function)
            } => TraceEvent::EntryEnter { module, function };
            EntryExit "entry_exit" {
                module: name(Module),
                function: name(Function),
                cpu: nanoseconds(CpuNs),
                wait: nanoseconds(WaitNs)
            } => TraceEvent::EntryExit { module, function, cpu, wait };
            HeapCollected "heap_collected" {
                task: unsigned(Task),
                allocated: unsigned(Allocated),
                freed: unsigned(Freed),
                live_objects: unsigned(LiveObjects),
                live_bytes: unsigned(LiveBytes),
                pause: nanoseconds(PauseNs)
            } => TraceEvent::HeapCollected { task, allocated, freed, live_objects, live_bytes, pause };
            HeapSummary "heap_summary" {
                collections: unsigned(Collections),
                object_count: unsigned_or_null(ObjectCount),
                allocated_bytes: unsigned_or_null(AllocatedBytes),
                live_bytes: unsigned_or_null(LiveBytes),
                peak_bytes: unsigned_or_null(PeakBytes),
                pause: nanoseconds_or_null(PauseNs),
                allocated_words: unsigned_or_null(AllocatedWords),
                capacity_words: unsigned_or_null(CapacityWords),
                live_words: unsigned_or_null(LiveWords)
            } => TraceEvent::HeapSummary(HeapSummary {
                collections,
                object_count,
                allocated_bytes,
                live_bytes,
                peak_bytes,
                pause,
                allocated_words,
                capacity_words,
                live_words,
            });
            RunEnded "run_ended" {
                outcome: run_outcome(Outcome), message: text_or_null(Message)
            } => TraceEvent::RunEnded { outcome, message };
        }
    };
}

/// The table of outcomes of host calls.
macro_rules! outcomes {
    ($define:ident $($head:tt)*) => {
        $define! {
            $($head)*;
            Value "value" { value: value(Value) } => HostOutcome::Value(value);
            Error "error" { message: text(Message) } => HostOutcome::Error(message);
            NotRecordable "not_recordable" {} => HostOutcome::NotRecordable;
        }
    };
}

/// The table of values. `$arena` holds their parts.
macro_rules! values {
    ($define:ident $arena:ident $($head:tt)*) => {
        $define! {
            $($head)*;
            Unit "unit" {} => RecordedValue::Unit;
            Bool "bool" { value: bool(Value) } => RecordedValue::Bool(value);
            Int "int" { value: signed(Value) } => RecordedValue::Int(value);
            Float "float" { value: float(Value) } => RecordedValue::Float(value);
            Duration "duration" { ns: signed(Ns) } => RecordedValue::Duration { ns };
            String "string" { value: text(Value) } => RecordedValue::String(value);
            Array "array" { items: values(Items) } => RecordedValue::Array(items);
            Enum "enum" {
                name: name(Name), case: name(Case), payload: values(Payload)
            } => RecordedValue::Enum($arena.one(RecordedEnum { name, case, payload }));
            Struct "struct" {
                name: name(Name), fields: fields(Fields)
            } => RecordedValue::Struct($arena.one(RecordedStruct { name, fields }));
            Resource "resource" {
                name: name(Name), id: signed(Id)
            } => RecordedValue::Resource($arena.one(RecordedResource { name, id }));
            Redacted "redacted" { of: name(Of) } => RecordedValue::Redacted { of };
            Opaque "opaque" {
                of: name(Of), shown: text(Shown)
            } => RecordedValue::Opaque($arena.one(RecordedOpaque { of, shown }));
        }
    };
}

/// The table of a struct's fields, which have no discriminator.
macro_rules! field {
    ($define:ident) => {
        $define! { { name: name(Name), value: value(Value) } => RecordedField { name, value } }
    };
}

pub(super) use {events, field, header, outcomes, values};

/// A set of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeySet(u64);

impl KeySet {
    pub(super) const EMPTY: Self = Self(0);

    const fn of(keys: &[Key]) -> Self {
        let (mut set, mut index) = (Self::EMPTY, 0);
        while index < keys.len() {
            set.insert(keys[index]);
            index += 1;
        }
        set
    }

    /// Inserts a key, and returns whether the set did not have it yet.
    pub(super) const fn insert(&mut self, key: Key) -> bool {
        let is_new = !self.contains(key);
        self.0 |= 1 << key as u8;
        is_new
    }

    pub(super) const fn contains(self, key: Key) -> bool {
        self.0 & 1 << key as u8 != 0
    }
}

/// The keys of one kind of object, all of them required.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape<'k> {
    pub(super) name: &'static str,
    /// The noun after the name in a message.
    noun: Option<&'static str>,
    /// In the order of the writer.
    pub(super) keys: &'k [Key],
    pub(super) set: KeySet,
}

impl<'k> Shape<'k> {
    pub(super) const fn new(name: &'static str, noun: Option<&'static str>, keys: &'k [Key]) -> Self {
        Self { name, noun, keys, set: KeySet::of(keys) }
    }

    /// Describes the kind of object for a message.
    pub(super) fn what(&self) -> String {
        let article = if self.name.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        self.noun.map_or_else(|| self.name.to_owned(), |noun| format!("{article} {} {noun}", self.name))
    }
}

/// The kinds of an object, which its discriminator distinguishes.
pub(super) trait Kind: Copy + 'static {
    /// The key of the discriminator, which the writer puts first.
    const KEY: Key;
    /// Describes an object of any of these kinds for a message.
    const ANY: &'static str;
    /// Describes the discriminator for a message.
    const NAME: &'static str;

    fn parse(name: &str) -> Option<Self>;

    /// Returns the shapes of all kinds.
    fn shapes() -> impl Iterator<Item = &'static Shape<'static>>;
}

/// Defines the kinds of a table: `define_kinds!(Type, Discriminator, "any object", "a discriminator", noun; rows)`.
macro_rules! define_kinds {
    (
        $type:ident, $discriminator:ident, $any:literal, $set:literal, $noun:expr;
        $($kind:ident $name:literal { $($($member:ident)+: $read:ident($($key:ident)+)),* } => $result:expr;)+
    ) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum $type {
            $($kind),+
        }

        impl $type {
            const SHAPES: &'static [Shape<'static>] =
                &[$(Shape::new($name, $noun, &[Key::$discriminator, $($(Key::$key),+),*])),+];

            pub(super) const fn shape(self) -> &'static Shape<'static> {
                &Self::SHAPES[self as usize]
            }
        }

        impl Kind for $type {
            const KEY: Key = Key::$discriminator;
            const ANY: &'static str = $any;
            const NAME: &'static str = $set;

            fn parse(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$kind),)+
                    _ => None,
                }
            }

            fn shapes() -> impl Iterator<Item = &'static Shape<'static>> {
                Self::SHAPES.iter()
            }
        }
    };
}

events!(define_kinds EventKind, Event, "an event", "an event name", None);
outcomes!(define_kinds OutcomeKind, Kind, "an outcome", "an outcome kind", Some("outcome"));
values!(define_kinds arena ValueKind, Type, "a value", "a value type", Some("value"));
header!(define_kinds HeaderKind, Event, "a header", "an event name", None);

/// The shape of a field.
pub(super) static FIELD: Shape<'static> = {
    macro_rules! define_shape {
        ({ $($($member:ident)+: $read:ident($($key:ident)+)),* } => $result:expr) => {
            Shape::new("a field", None, &[$($(Key::$key),+),*])
        };
    }
    field!(define_shape)
};

/// The kinds of line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Header,
    Event(EventKind),
}

impl Kind for LineKind {
    const KEY: Key = EventKind::KEY;
    const ANY: &'static str = EventKind::ANY;
    const NAME: &'static str = EventKind::NAME;

    fn parse(name: &str) -> Option<Self> {
        EventKind::parse(name).map(Self::Event).or_else(|| HeaderKind::parse(name).map(|_| Self::Header))
    }

    fn shapes() -> impl Iterator<Item = &'static Shape<'static>> {
        HeaderKind::shapes().chain(EventKind::shapes())
    }
}
