//! The Lua example as a process: what its scripts do, what their traces say of Lua's values, and how each kind of end is
//! recorded.
#![cfg(feature = "cli")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use common::example::{Example, Ran};
use common::scratch_dir::ScratchDir;
use serde_json::{Value, json};

const LUA: Example = Example("lua");

/// Runs one of the example's scripts.
fn run_script(name: &str, options: &[&str], args: &[&str]) -> Ran {
    let scratch = ScratchDir::new(&format!("lua-{name}-{}", options.len()));
    LUA.run(&scratch, options, &LUA.file("scripts").join(name), args, "")
}

/// What stands in a trace for a string that is not UTF-8: a text in which each byte is the character of that number.
fn bytes(text: &str) -> Value {
    let digits: String = text.chars().map(|byte| format!("{:02x}", u32::from(byte))).collect();
    json!({"type": "enum", "name": "@String", "case": "hex", "payload": [{"type": "string", "value": digits}]})
}

/// Runs a script given as text.
fn run_text(name: &str, options: &[&str], text: &str) -> Ran {
    let scratch = ScratchDir::new(&format!("lua-{name}"));
    let script = scratch.path().join("test.lua");
    fs::write(&script, text).expect("a script");
    LUA.run(&scratch, options, &script, &[], "")
}

/// What stands in the trace of each of the values of a script's calls `print(value)`.
fn printed(ran: &Ran) -> Vec<&Value> {
    ran.calls_of("console", "print").map(|call| &call["args"][0]).collect()
}

/// What a script does whose first lines are these and that prints one value.
fn print_one(name: &str, lines: &str) -> Value {
    let ran = run_text(name, &[], lines);
    assert_eq!(ran.end(), ("success", None));
    printed(&ran)[0].clone()
}

#[test]
fn the_order_book_trades_and_is_recorded() {
    let ran = run_script("order_book.lua", &[], &[]);
    assert_eq!(ran.end(), ("success", None));

    // The same day, done at once.
    let mut orders: Vec<Vec<String>> = Vec::new();
    for gate in ["north", "river", "south"] {
        let log = fs::read_to_string(LUA.file("files/orders").join(format!("{gate}.log"))).expect("a log");
        orders.extend(log.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()));
    }
    orders.sort_by(|a, b| a[0].cmp(&b[0]));
    let (trades, paid) = traded(&orders);
    let line = format!("{} orders, {trades} trades, {paid} paid.", orders.len());
    assert!(ran.stdout.contains(&line), "expected {line} in {}", ran.stdout);

    // A line of its file for each order, and the end of each of three files; two positions for each trade.
    assert_eq!(ran.calls_of("files", "line").count(), orders.len() + 3);
    assert_eq!(ran.calls_of("kv", "put").count(), 2 * trades);
    let refused: Vec<_> = ran.host_calls().filter(|call| call["granted"] == false).collect();
    assert_eq!(refused.len(), 1);
    assert_eq!((&refused[0]["op"], &refused[0]["outcome"]), (&json!("write"), &Value::Null));
    let failed: Vec<_> = ran.host_calls().filter(|call| call["outcome"]["kind"] == "error").collect();
    assert_eq!(failed.len(), 2);
    assert_eq!(failed[0]["outcome"]["message"], "no such file");
    assert_eq!(failed[1]["outcome"]["message"], "wrong user or password");
    // The floats in this file are no text.
    let closing = ran.calls_of("files", "read").next().expect("a call");
    assert_eq!(closing["outcome"]["value"]["case"], "hex");
    assert_eq!(closing["outcome"]["value"]["name"], "@String");
    assert!(ran.stdout.contains("kv.put"), "a summary: {}", ran.stdout);
}

/// How many trades come about among these orders, and what is paid in them.
fn traded(orders: &[Vec<String>]) -> (usize, u64) {
    let (mut trades, mut paid) = (0, 0);
    let mut open: BTreeMap<(&str, &str), Vec<(u64, u64)>> = BTreeMap::new();
    for order in orders {
        let [_, side, item, count, price, _] = order.as_slice() else { panic!("an order: {order:?}") };
        let (mut count, price): (u64, u64) = (count.parse().expect("a count"), price.parse().expect("a price"));
        let buying = side == "buy";
        let others = open.entry((item, if buying { "sell" } else { "buy" })).or_default();
        while count > 0 {
            // The best price, and of equal ones the first that came.
            let best = (0..others.len()).min_by_key(|&index| {
                let price = others[index].0;
                if buying { price } else { u64::MAX - price }
            });
            let Some(best) =
                best.filter(|&best| if buying { others[best].0 <= price } else { others[best].0 >= price })
            else {
                break;
            };
            let moved = count.min(others[best].1);
            (trades, paid) = (trades + 1, paid + moved * others[best].0);
            count -= moved;
            others[best].1 -= moved;
            if others[best].1 == 0 {
                others.remove(best);
            }
        }
        if count > 0 {
            open.entry((item, side)).or_default().push((price, count));
        }
    }
    (trades, paid)
}

#[test]
fn without_arguments_the_order_book_runs() {
    let scratch = ScratchDir::new("lua-default");
    let output = Command::new(LUA.executable()).env("TMPDIR", scratch.path()).output().expect("the example runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(scratch.path().join("order_book.trace.jsonl").exists() || cfg!(not(unix)));
}

#[test]
fn the_access_log_ends_as_its_argument_says() {
    let ran = run_script("access_log.lua", &[], &["9"]);
    assert_eq!(ran.end(), ("success", None));
    let ran = run_script("access_log.lua", &[], &[]);
    assert_eq!(ran.end(), ("error", Some("172.16.3.1 asks too often for what is not there")));
    let line = ran.calls_of("files", "line").find(|call| call["outcome"]["value"]["case"] == "hex");
    let shown = line.expect("a line that is no text")["outcome"]["value"]["payload"][0]["value"].clone();
    let shown = shown.as_str().expect("a text");
    // It begins with the address, and contains the bytes 0 and 1.
    assert!(shown.starts_with("3137322e31362e332e3120") && shown.contains("0001"), "{shown:?}");
}

#[test]
fn values_are_recorded_as_they_are() {
    let string = |text: &str| json!({"type": "string", "value": text});
    let int = |value: i64| json!({"type": "int", "value": value});
    let field = |name: &str, value: Value| json!({"name": name, "value": value});
    let array = |items: &[Value]| json!({"type": "array", "items": items});
    let record = |fields: &[Value]| json!({"type": "struct", "name": "Table", "fields": fields});
    let entries = |pairs: &[Value]| json!({"type": "enum", "name": "Table", "case": "entries", "payload": pairs});
    let opaque = |of: &str, shown: &str| json!({"type": "opaque", "of": of, "shown": shown});
    let resource = |name: &str, id: i64| json!({"type": "resource", "name": name, "id": id});

    let shapes: &[(&str, Value)] = &[
        ("nil", json!({"type": "unit"})),
        ("1 > 2", json!({"type": "bool", "value": false})),
        ("math.mininteger", int(i64::MIN)),
        ("3 // 1", int(3)),
        ("3 / 1", json!({"type": "float", "value": 3.0})),
        ("0/0 ~= 0/0 and -(0/0)", json!({"type": "enum", "name": "@Float", "case": "NaN", "payload": []})),
        ("-math.huge", json!({"type": "enum", "name": "@Float", "case": "-inf", "payload": []})),
        (r#""caf\xc3\xa9""#, string("caf\u{e9}")),
        (r#""caf\xe9 \0""#, bytes("caf\u{e9} \0")),
        ("{}", array(&[])),
        ("{ 1, { 'x' } }", array(&[int(1), array(&[string("x")])])),
        // Filled from its end, so that Lua keeps it otherwise.
        ("backwards", array(&[int(10), int(20), int(30)])),
        ("{ name = 'ada', age = 36 }", record(&[field("age", int(36)), field("name", string("ada"))])),
        ("{ 'x', n = 1 }", entries(&[array(&[int(1), string("x")]), array(&[string("n"), int(1)])])),
        ("{ [2] = 'y' }", entries(&[array(&[int(2), string("y")])])),
        (
            r#"{ ["\xff"] = 1, [0.5] = 2, [true] = 3, [{}] = 4, ["1"] = 5 }"#,
            entries(&[
                array(&[json!({"type": "bool", "value": true}), int(3)]),
                array(&[json!({"type": "float", "value": 0.5}), int(2)]),
                array(&[string("1"), int(5)]),
                array(&[bytes("\u{ff}"), int(1)]),
                array(&[array(&[]), int(4)]),
            ]),
        ),
        // An object is what it holds; what its class says is not asked.
        (
            "setmetatable({ a = 1 }, { __index = { b = 2 }, __pairs = error, __len = error, __name = 'Secret' })",
            record(&[field("a", int(1))]),
        ),
        ("print", opaque("Function", "builtin function")),
        ("closure", opaque("Function", "function <test.lua:1>")),
        ("coroutine.create(closure)", opaque("Coroutine", "suspended")),
        ("coroutine.running()", opaque("Coroutine", "running")),
        ("finished", opaque("Coroutine", "dead")),
        ("select(2, pcall(files.read, 'nowhere'))", opaque("Error", "no such file")),
        ("file", resource("File", 1)),
        ("store", resource("Store", 2)),
        (
            "{ Password = 'hunter2', token = { 'hunter2' }, user = 'ada' }",
            record(&[
                field("Password", json!({"type": "redacted", "of": "String"})),
                field("token", json!({"type": "redacted", "of": "Array"})),
                field("user", string("ada")),
            ]),
        ),
        (
            "{ 'ada', password = 'hunter2' }",
            entries(&[
                array(&[int(1), string("ada")]),
                array(&[string("password"), json!({"type": "redacted", "of": "String"})]),
            ]),
        ),
    ];
    let calls: String = shapes.iter().map(|(text, _)| format!("print({text})\n")).collect();
    let text = format!(
        "local captured = 'hunter2' local function closure() return captured end
        local backwards = {{}} backwards[3] = 30 backwards[2] = 20 backwards[1] = 10
        local finished = coroutine.create(closure) coroutine.resume(finished)
        local file = files.open('closing.bin')
        local store = kv.open('s', {{ user = 'u', password = 'hunter2' }})
        {calls}"
    );
    let ran = run_text("shapes", &[], &text);
    assert_eq!(ran.end(), ("success", None));
    let recorded = printed(&ran);
    assert_eq!(recorded.len(), shapes.len());
    for (recorded, (text, expected)) in recorded.into_iter().zip(shapes) {
        assert_eq!(recorded, expected, "{text}");
    }
    assert!(!ran.trace.contains("hunter2"), "no secret is in a full trace");
}

/// How deep a chain of tables goes, each in the field `field` of the one before, and what ends it.
fn descend<'v>(mut value: &'v Value, field: &str) -> (usize, &'v Value) {
    let mut depth = 0;
    while value["type"] == "struct" {
        let fields = value["fields"].as_array().expect("fields");
        value = &fields.iter().find(|other| other["name"] == field).expect("the field")["value"];
        depth += 1;
    }
    (depth, value)
}

#[test]
fn a_table_that_holds_itself_ends_at_the_depth_limit() {
    let too_deep = json!({"type": "opaque", "of": "Table", "shown": "nested deeper than 128 levels"});
    let itself = print_one("cycle", "local t = {} t.t = t print(t)");
    assert_eq!(descend(&itself, "t"), (127, &too_deep));
    let by_another = print_one("cycle-of-two", "local a, b = {}, {} a.t, b.t = b, a print(a)");
    assert_eq!(descend(&by_another, "t"), (127, &too_deep));
    let in_a_key = print_one("cycle-in-key", "local t = {} t[t] = 1 print(t)");
    assert_eq!(in_a_key["case"], "entries");
}

#[test]
fn a_table_that_holds_itself_twice_ends_soon() {
    let began = Instant::now();
    for (name, text) in [
        ("cycle-twice", "local t = {} t.a, t.b = t, t print(t) print(t)"),
        ("cycle-array", "local t = {} t[1], t[2] = t, t print(t) print(t)"),
        ("cycle-in-keys", "local t = {} t[t], t.t = t, t print(t) print(t)"),
        // Not one of these holds itself, and written out they are 2^60.
        ("shared", "local t = {} for _ = 1, 60 do t = { t, t } end print(t) print(t)"),
        ("wide", "local wide, t = {}, {} for i = 1, 9000 do wide[i] = i t[i] = wide end print(t) print(t)"),
    ] {
        let ran = run_text(name, &[], text);
        assert_eq!(ran.end(), ("success", None), "{name}");
        let printed = printed(&ran);
        assert!(printed[0].to_string().contains("left out"), "{name}");
        assert_eq!(printed[0], printed[1], "{name}: each call has room of its own");
        assert!(ran.trace.len() < 4 << 20, "{name}: {} bytes", ran.trace.len());
    }
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn two_runs_write_a_table_in_the_same_order() {
    // Lua's own order depends on where in memory things are.
    let text = "local t = {} for i = 1, 200 do t['field' .. i] = i end print(t)";
    let [first, second] = ["order-1", "order-2"].map(|name| print_one(name, text));
    assert_eq!(first, second);
}

#[test]
fn handles_have_the_operations_as_methods() {
    let ran = run_text(
        "methods",
        &[],
        r#"
        local store = kv.open("s", { user = "u", password = "p" })
        store:put("k\xff", "v\xff")
        assert(store:get("k\xff") == "v\xff" and kv.get(store, "other") == nil)
        assert(store:keys("k")[1] == "k\xff" and #store:keys("x") == 0)
        assert(store:delete("k\xff") and not store:delete("k\xff"))
        store:close()
        assert(not pcall(kv.get, store, "k"))
        local file = files.open("access.log")
        assert(file:line() == '10.0.0.4 "GET /" 200')
        file:close() file:close()
        assert(not pcall(file.line, file))
        "#,
    );
    assert_eq!(ran.end(), ("success", None));
    let put = ran.calls_of("kv", "put").next().expect("a call");
    assert_eq!(put["args"][0], json!({"type": "resource", "name": "Store", "id": 1}));
    assert_eq!(put["args"][1], bytes("k\u{ff}"));
    let closed = ran.calls_of("files", "line").last().expect("a call");
    assert_eq!(closed["outcome"], json!({"kind": "error", "message": "the file is closed"}));
}

#[test]
fn what_is_granted_is_done() {
    let scratch = ScratchDir::new("lua-granted");
    let script = scratch.path().join("test.lua");
    fs::write(&script, r#"files.write("bytes.bin", "\0\xff")"#).expect("a script");
    let directory = scratch.path().to_str().expect("a Unicode path");
    let ran = LUA.run(&scratch, &["--allow", "files.write", "--files", directory], &script, &[], "");
    assert_eq!(ran.end(), ("success", None));
    assert_eq!(fs::read(scratch.path().join("bytes.bin")).expect("the file"), b"\0\xff");
}

/// A name, options, a script, and the outcome and message that it ends with.
type Case<'c> = (&'c str, &'c [&'c str], &'c str, (&'c str, Option<&'c str>));

#[test]
fn every_end_has_its_outcome() {
    let cases: &[Case<'_>] = &[
        ("success", &[], "return 42", ("success", None)),
        ("error", &[], "error('gone')", ("error", Some("test.lua:1: gone"))),
        ("error-value", &[], "error({ code = 7 })", ("error", Some("a table was thrown"))),
        ("error-nil", &[], "error()", ("error", Some("a nil was thrown"))),
        ("failing-call", &[], "files.read('nowhere')", ("error", Some("no such file"))),
        ("outside", &[], "files.read('../main.rs')", ("error", Some("a name that leads out of the files"))),
        (
            "error-in-coroutine",
            &[],
            "coroutine.wrap(function() error('gone', 0) end)()",
            ("error", Some("test.lua:1: gone")),
        ),
        ("assertion", &[], "\nassert(1 > 2, 'why')", ("invariant", Some("a failed assertion, test.lua:2"))),
        ("index", &[], "local x = y.z", ("invariant", Some("attempt to index, test.lua:1"))),
        ("call", &[], "local s = 'x' s.x()", ("invariant", Some("attempt to call, test.lua:1"))),
        ("arithmetic", &[], "return {} + 1", ("invariant", Some("attempt to perform arithmetic, test.lua:1"))),
        ("division", &[], "return 1 // 0", ("invariant", Some("attempt to divide by zero, test.lua:1"))),
        ("bad-argument", &[], "('x'):rep({})", ("invariant", Some("bad argument, test.lua:1"))),
        ("no-integer", &[], "return 1.5 | 1", ("invariant", Some("a fault in the script, test.lua:1"))),
        (
            "fault-in-coroutine",
            &[],
            "coroutine.wrap(function() local x = y.z end)()",
            ("invariant", Some("attempt to index, test.lua:1")),
        ),
        (
            "refused",
            &[],
            "files.write('x', 'y')",
            ("host_boundary", Some("files.write takes the capability files.write")),
        ),
        (
            "rethrown",
            &[],
            "local _, why = pcall(files.write, 'x', 'y') error(why)",
            ("host_boundary", Some("files.write takes the capability files.write")),
        ),
        (
            "denied",
            &["--deny", "console"],
            "print(1)",
            ("host_boundary", Some("console.print takes the capability console")),
        ),
        ("no-such-op", &[], "files.remove('x')", ("host_boundary", Some("files has no such operation"))),
        ("bad-arguments", &[], "files.read({})", ("host_boundary", Some("files.read takes the name of a file"))),
        ("fuel", &["--max-instructions", "50000"], "while true do end", ("fuel", Some("too many instructions"))),
        (
            "fuel-caught",
            &["--max-instructions", "50000"],
            "local function spin() while true do end end while true do pcall(spin) end",
            ("fuel", Some("too many instructions")),
        ),
        (
            "fuel-in-coroutines",
            &["--max-instructions", "50000"],
            "local function spin() while true do end end while true do coroutine.resume(coroutine.create(spin)) end",
            ("fuel", Some("too many instructions")),
        ),
        (
            "memory",
            &["--max-memory", "1000000"],
            "local t = {} while true do t[#t + 1] = {} end",
            ("fuel", Some("the memory is used up")),
        ),
        (
            "memory-in-coroutine",
            &["--max-memory", "1000000"],
            "coroutine.wrap(function() return ('x'):rep(1 << 30) end)()",
            ("fuel", Some("the memory is used up")),
        ),
        (
            "memory-from-the-start",
            &["--max-memory", "1"],
            "return ('x'):rep(1000)",
            ("fuel", Some("the memory is used up")),
        ),
        ("deadline", &["--deadline", "50"], "while true do end", ("deadline", Some("the time is up"))),
        (
            "call-depth",
            &[],
            "local function deeper() return 1 + deeper() end deeper()",
            ("call_depth", Some("calls nested too deep")),
        ),
        (
            "call-depth-in-c",
            &[],
            "local function deeper() return (('x'):gsub('x', deeper)) end deeper()",
            ("call_depth", Some("calls nested too deep")),
        ),
        (
            "host-calls",
            &["--max-host-calls", "3"],
            "while true do pcall(print, 1) end",
            ("host_calls", Some("too many host calls")),
        ),
    ];
    for (name, options, text, end) in cases {
        assert_eq!(run_text(name, options, text).end(), *end, "{name}");
    }
}

#[test]
fn the_heap_is_what_lua_says_it_is() {
    let text = "for _ = 1, 5 do collectgarbage() end kept = ('x'):rep(1000000)";
    let ran = run_text("heap", &[], text);
    let heap = ran.heap();
    assert!(heap["collections"].as_u64() >= Some(6), "five by the script and one at its end: {heap}");
    assert!((1_000_000..2_000_000).contains(&heap["live_bytes"].as_u64().expect("bytes")), "{heap}");
    assert!(heap["object_count"].is_null() && heap["pause_ns"].is_null() && heap["peak_bytes"].is_null(), "{heap}");
    assert_eq!(ran.count("heap_collected"), 0, "Lua counts no objects");
    let ran = run_text("heap-after-fuel", &["--max-instructions", "50000"], "while true do end");
    assert!(ran.heap()["live_bytes"].is_u64(), "a run that was stopped has figures, too");
}

#[test]
fn nothing_leads_around_the_host() {
    let text = "
        for _, name in ipairs { 'io', 'os', 'debug', 'package', 'require', 'dofile', 'loadfile', 'load', 'warn' } do
            assert(_G[name] == nil, name)
        end
        assert(not pcall(setmetatable, {}, { __gc = print }))
        assert(getmetatable(files) == false and getmetatable(files.open('access.log')) == false)
    ";
    assert_eq!(run_text("around", &[], text).end(), ("success", None));
}

#[test]
fn a_redacted_trace_keeps_no_value() {
    let text = r#"
        local secret = files.read("secret.txt")
        local store = kv.open(secret, { user = secret, password = secret })
        store:put(secret, secret .. "\xff")
        print({ secret_field = { secret } }, { secret }, store:keys(""))
        pcall(files.read, secret)
        pcall(function() return files[secret] end)
        pcall(function() return store[secret] end)
        error(secret, 0)
    "#;
    let run = |name: &str, options: &[&str]| {
        let scratch = ScratchDir::new(name);
        let script = scratch.path().join("test.lua");
        fs::write(&script, text).expect("a script");
        fs::write(scratch.path().join("secret.txt"), "the-combination").expect("a file");
        let directory = scratch.path().to_str().expect("a Unicode path");
        LUA.run(&scratch, &[options, &["--files", directory]].concat(), &script, &["an-argument"], "")
    };
    let secrets = ["the-combination", "secret_field", "an-argument", "secret.txt"];

    let full = run("lua-full", &[]);
    for secret in secrets {
        assert!(full.trace.contains(secret), "a full trace holds {secret}");
    }
    assert_eq!(full.end(), ("error", Some("the-combination")));
    let redacted = run("lua-redacted", &["--redacted"]);
    for secret in secrets {
        assert!(!redacted.trace.contains(secret), "a redacted trace holds {secret}");
    }
    assert_eq!(redacted.host_calls().count(), full.host_calls().count());
    let types: Vec<_> = redacted.calls_of("console", "print").map(|call| &call["args"]).collect();
    assert_eq!(
        *types[0],
        json!([
            {"type": "redacted", "of": "Table"},
            {"type": "redacted", "of": "Array"},
            {"type": "redacted", "of": "Array"},
        ])
    );
    let opened = redacted.calls_of("kv", "open").next().expect("a call");
    assert_eq!(opened["outcome"], json!({"kind": "value", "value": {"type": "redacted", "of": "Store"}}));
    assert_eq!(redacted.end(), ("error", None));
}

#[test]
fn no_other_end_quotes_a_value_in_a_redacted_trace() {
    for (name, fault) in [
        ("quoted-assertion", "assert(false, secret)"),
        ("quoted-type", "local t = setmetatable({}, { __name = secret }) return t + 1"),
        ("quoted-key", "local t = {} t[secret].x = 1"),
        ("quoted-option", "collectgarbage(secret)"),
        ("quoted-operation", "files[secret]()"),
        ("quoted-path", "files.read(secret)"),
        ("quoted-argument", "files.read({ secret })"),
    ] {
        let ran = run_text(name, &["--redacted"], &format!("local secret = 'the-' .. 'combination' {fault}"));
        assert_ne!(ran.end().0, "success", "{name}");
        assert!(!ran.trace.contains("the-combination"), "{name}: {:?}", ran.end());
    }
}

#[test]
fn the_command_line_is_checked() {
    let run = |args: &[&Path]| Command::new(LUA.executable()).args(args).output().expect("the example runs");
    let output = run(&[Path::new("--deny"), Path::new("everything")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("files.read"));
    assert_eq!(run(&[Path::new("no-such-script.lua")]).status.code(), Some(1));

    let scratch = ScratchDir::new("lua-not-a-script");
    for (name, text) in [("syntax.lua", &b"local = 1"[..]), ("bytecode.lua", b"\x1bLua")] {
        let script = scratch.path().join(name);
        fs::write(&script, text).expect("a file");
        let trace = scratch.path().join("run.jsonl");
        let output = run(&[Path::new("--trace"), &trace, &script]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(!trace.exists(), "{name} was not run");
    }
}
