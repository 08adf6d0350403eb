//! Test-only counter of the bytes that the read side examines. It proves that reading is linear, which timing cannot.

/// Counts bytes that are examined or copied beyond the constant work of a step.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn count_examined(_bytes: usize) {}

#[cfg(test)]
pub(crate) fn count_examined(bytes: usize) {
    tests::EXAMINED.set(tests::EXAMINED.get() + bytes);
}

/// Returns the number of bytes, or of other elements, that `work` examines.
#[cfg(test)]
pub(crate) fn examined_by(work: impl FnOnce()) -> usize {
    tests::EXAMINED.set(0);
    work();
    tests::EXAMINED.get()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::{self, Read};

    use crate::decode::Decoder;
    use crate::event::TraceEvent;
    use crate::reader::TraceReader;

    thread_local! {
        pub(super) static EXAMINED: Cell<usize> = const { Cell::new(0) };
    }

    const LEN: usize = if cfg!(miri) { 1 << 12 } else { 1 << 20 };

    /// The most times that a byte may be examined: by the search for the newline, the check of UTF-8 and the parser,
    /// each on every path.
    const MOST_TIMES: usize = 32;

    #[track_caller]
    fn assert_linear(len: usize, work: impl FnOnce()) {
        let examined = super::examined_by(work);
        assert!(examined >= len / 4, "the counter works: {examined} of {len} bytes examined");
        assert!(examined <= MOST_TIMES * len + 4096, "{examined} examinations of {len} bytes");
    }

    #[track_caller]
    fn assert_line_linear(line: &str) {
        assert_linear(line.len(), || drop(Decoder::new().decode_event(line.as_bytes())));
        assert_linear(line.len(), || drop(Decoder::new().decode_event_slowly(line.as_bytes())));
    }

    /// A source that returns at most this many bytes at a time.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(buffer.len());
            self.0.read(&mut buffer[..most])
        }
    }

    const HEADER: &str =
        r#"{"event":"trace_header","version":4,"backend":"vm","values":"full","entry":"main","args":[]}"#;

    fn entry_enter(module: &str) -> String {
        format!(r#"{{"event":"entry_enter","module":"{module}","function":"f"}}"#)
    }

    /// What has come of a line is not looked at again for each piece of it that comes.
    #[test]
    fn a_long_line_in_small_pieces() {
        let trace = format!("{HEADER}\n{}\n", entry_enter(&"x".repeat(LEN)));
        assert_linear(trace.len(), || {
            let mut reader = TraceReader::new(Pieces(trace.as_bytes(), 64));
            assert!(matches!(reader.next_event(), Ok(Some(TraceEvent::EntryEnter { .. }))));
        });
    }

    #[test]
    fn a_long_stream_without_a_newline() {
        let trace = format!("{HEADER}\n{}", "x".repeat(LEN));
        for limit in [0, 1 << 10, LEN / 2] {
            assert_linear(trace.len(), || {
                let mut reader =
                    TraceReader::new(Pieces(trace.as_bytes(), 64)).with_line_limit(limit.max(HEADER.len()));
                assert!(reader.next_event().is_err());
            });
        }
    }

    #[test]
    fn lines_full_of_one_thing() {
        let call = r#"{"event":"host_call","task":0,"module":"m","op":"o","capability":"c","wait_ns":1,"granted":true,"args":["#;
        let float = format!(r#"{call}{{"type":"float","value":"#);
        let called = r#"],"outcome":null}"#;
        for (before, unit, after) in [
            (r#"{"event":"entry_enter","module":""#, r"\\", r#"","function":"f"}"#),
            (r#"{"module":""#, r"\u005c", r#"","function":"f","event":"entry_enter"}"#),
            (r#"{"event":"entry_enter","module":""#, r#"\""#, ""),
            (r#"{"event":"task_cancelled","id":"#, "1", "}"),
            (&format!("{float}0."), "0", &format!("1}}{called}")),
            (&format!("{float}1e-"), "9", &format!("}}{called}")),
            ("{", " ", r#""event":"task_cancelled","id":7}"#),
            (r#"{"id":["#, "[", r#","event":"task_cancelled"}"#),
            (r#"{"id":["#, r#"{"a":["#, r#","event":"task_cancelled"}"#),
            (r#"{"id":{"#, r#""k":0,"#, r#""k":0},"event":"task_cancelled"}"#),
            (call, r#"{"type":"unit"},"#, &format!(r#"{{"type":"unit"}}{called}"#)),
            (call, r#"{"value": 1, "type": "int"}, "#, &format!(r#"{{"type":"unit"}}{called}"#)),
        ] {
            for len in [LEN / 8, LEN] {
                assert_line_linear(&format!("{before}{}{after}", unit.repeat(len / unit.len())));
            }
        }
    }

    /// Objects that say last what they are, nested as deep as they may, are looked through once and not once for each
    /// level.
    #[test]
    fn deep_nesting_with_the_keys_reversed() {
        let leaf = format!(r#"{{"value":"{}","type":"string"}}"#, "x".repeat(LEN / 2));
        for (open, close) in [
            (r#"{"items":["#, r#"],"type":"array"}"#),
            (r#"{"items":["#, r#"],"\u0074ype":"array"}"#),
            (r#"{"it\u0065ms":["#, r#"],"typ\u0065":"array"}"#),
            (r#"{"payload":["#, r#"],"case":"","name":"","type":"enum"}"#),
            (r#"{"fields":[{"value":"#, r#","name":""}],"name":"","type":"struct"}"#),
            // These are refused, but not before it was looked for what they are.
            (r#"{"items":["#, r#"],"kind":"value","type":"array"}"#),
            (r#"{"items":["#, r#"],"type":"nope","type":"array"}"#),
            (r#"{"items":["#, r#"],"kind":"array"}"#),
            (r#"{"items":["#, r#"]}"#),
            (r#"{"items":["#, r#"],"type":7}"#),
        ] {
            for depth in [1, 10, 126] {
                let value = format!("{}{leaf}{}", open.repeat(depth), close.repeat(depth));
                assert_line_linear(&format!(
                    r#"{{"args":[{value}],"task":0,"module":"","op":"","capability":"","wait_ns":5,"granted":true,"outcome":null,"event":"host_call"}}"#
                ));
            }
        }
    }

    /// Many objects beside each other that say last what they are, in objects that do the same.
    #[test]
    fn broad_nesting_with_the_keys_reversed() {
        let item = r#"{"fields":[{"value":{"of":"","type":"redacted"},"name":""}],"name":"","type":"struct"}"#;
        let items = vec![item; LEN / item.len()].join(",");
        assert_line_linear(&format!(
            r#"{{"args":[{{"items":[{items}],"type":"array"}}],"task":0,"module":"","op":"","capability":"","wait_ns":5,"granted":true,"outcome":null,"event":"host_call"}}"#
        ));
    }
}
