//! However a line is spelt, as long as it is JSON with the same meaning, it is read as the same event.
#![allow(clippy::unwrap_used, reason = "a test fails where one of its helpers does")]

mod reading;

use cove_trace::decode::Decoder;
use cove_trace::owned::OwnedEvent;
use reading::corpus::{self, CANCELLED, HEADER};
use reading::json::{Node, Token, parse_valid};
use reading::respell::{Variation, escapes, respell};
use reading::rng::Rng;
use reading::seen::{Seen, read_all};

fn decode(line: &str) -> OwnedEvent {
    match Decoder::new().decode_event(line.as_bytes()) {
        Ok(event) => OwnedEvent::from(&event),
        Err(error) => panic!("{line}\n{error} at {}", error.offset()),
    }
}

#[test]
fn the_canonical_spelling_means_what_it_says() {
    for (line, expected) in corpus::events() {
        assert_eq!(decode(&line), expected, "{line}");
    }
    for (line, expected) in corpus::headers() {
        assert_eq!(Decoder::new().decode_header(line.as_bytes()), Ok(expected));
    }
    let all: Vec<_> = corpus::events().into_iter().map(|(_, event)| Seen::Event(event)).collect();
    let seen = read_all(corpus::trace().as_bytes());
    assert_eq!(seen[1..], all);
}

/// Lines that differ from the canonical one in one way, and in all ways at once.
#[test]
fn key_order_white_space_escapes_and_floats() {
    const SPELLINGS: usize = 60;
    let none = Variation::NONE;
    let mut rng = Rng::new(1);
    for variation in [
        Variation { key_order: true, ..none },
        Variation { white_space: true, ..none },
        Variation { escapes: true, ..none },
        Variation { floats: true, ..none },
        Variation::ALL,
    ] {
        for (line, expected) in corpus::events() {
            let root = parse_valid(&line);
            for _ in 0..SPELLINGS {
                let spelling = respell(&root, variation, &mut rng);
                assert_eq!(decode(&spelling), expected, "{spelling}");
            }
        }
        for (line, expected) in corpus::headers() {
            let root = parse_valid(line);
            for _ in 0..SPELLINGS {
                let spelling = respell(&root, variation, &mut rng);
                assert_eq!(Decoder::new().decode_header(spelling.as_bytes()).as_ref(), Ok(&expected), "{spelling}");
            }
        }
    }
}

#[test]
fn every_order_of_up_to_six_keys() {
    for (line, expected) in corpus::events() {
        let root = parse_valid(&line);
        for object in root.all() {
            let members: Vec<_> =
                object.members().iter().map(|m| &line[m.quote..m.value.as_ref().unwrap().end]).collect();
            if !matches!(object.token, Token::Object(..)) || members.len() > 6 {
                continue;
            }
            permute(&mut members.clone(), 0, &mut |order| {
                let spelling = format!("{}{}{}", &line[..=object.start], order.join(","), &line[object.end - 1..]);
                assert_eq!(decode(&spelling), expected, "{spelling}");
            });
        }
    }
    let (line, expected) = &corpus::headers()[1];
    let root = parse_valid(line);
    let mut members: Vec<_> = root.members().iter().map(|m| &line[m.quote..m.value.as_ref().unwrap().end]).collect();
    permute(&mut members, 0, &mut |order| {
        let spelling = format!("{{{}}}", order.join(","));
        assert_eq!(Decoder::new().decode_header(spelling.as_bytes()).as_ref(), Ok(expected), "{spelling}");
    });
}

fn permute<'t>(items: &mut Vec<&'t str>, from: usize, each: &mut dyn FnMut(&[&'t str])) {
    if from == items.len() {
        return each(items);
    }
    for index in from..items.len() {
        items.swap(from, index);
        permute(items, from + 1, each);
        items.swap(from, index);
    }
}

/// White space of one sort at each border between two tokens, alone and everywhere.
#[test]
fn white_space_at_every_border() {
    for (line, expected) in corpus::events() {
        let borders = borders(&parse_valid(&line), &line);
        for space in [" ", "\t", "\r", " \t\r \t\r", &" ".repeat(1000)] {
            for border in &borders {
                let spelling = format!("{}{space}{}", &line[..*border], &line[*border..]);
                assert_eq!(decode(&spelling), expected, "{spelling}");
            }
            let mut everywhere = line.clone();
            for border in borders.iter().rev() {
                everywhere.insert_str(*border, space);
            }
            assert_eq!(decode(&everywhere), expected, "{everywhere}");
        }
    }
    // A value can stand alone, where a newline does not end the line.
    let spelling = "\n{\n\"type\"\n:\n\"int\"\n,\n\"value\"\n:\n7\n}\n";
    let mut decoder = Decoder::new();
    let value = decoder.decode_value(spelling.as_bytes()).unwrap();
    assert!(matches!(value, cove_trace::RecordedValue::Int(7)));
}

/// Where two tokens meet.
fn borders(root: &Node, line: &str) -> Vec<usize> {
    let mut borders = Vec::new();
    for node in root.all() {
        borders.extend([node.start, node.end]);
        if let Token::Object(members, _) = &node.token {
            // Before and after the brace, the key, the colon.
            borders.extend([node.start + 1, node.end - 1]);
            borders.extend(members.iter().flat_map(|m| {
                let value = m.value.as_ref().unwrap().start;
                [m.quote, value - 1]
            }));
        }
        if let Token::Array(..) = &node.token {
            borders.extend([node.start + 1, node.end - 1]);
        }
    }
    borders.sort_unstable();
    borders.dedup();
    assert!(borders.iter().all(|border| line.is_char_boundary(*border)));
    borders
}

#[test]
fn every_escape_of_every_character() {
    let mut rng = Rng::new(2);
    let chars =
        (0..0x3000).chain(0xd000..0x1_0100).chain((0x1_0000..0x11_0000).step_by(251)).filter_map(char::from_u32);
    for char in chars {
        for escape in escapes(char, &mut rng) {
            let line = format!(r#"{{"event":"entry_enter","module":"{escape}","function":"a{escape}b{escape}"}}"#);
            let expected = OwnedEvent::EntryEnter { module: char.to_string(), function: format!("a{char}b{char}") };
            assert_eq!(decode(&line), expected, "{line}");
        }
    }
}

/// Names and keys are compared by what they mean.
#[test]
fn escapes_in_keys_and_names() {
    for (spelling, expected) in [
        (r#"{"\u0065vent":"task_cancelled","id":7}"#, CANCELLED),
        (r#"{"event":"\u0074ask_cancelle\u0064","\u0069\u0064":7}"#, CANCELLED),
        (r#"{"i\u0064":7,"\u0065\u0076\u0065\u006e\u0074":"task\u005fcancelled"}"#, CANCELLED),
        (
            r#"{"event":"run_ended","outcome":"\u0073uccess","message":null}"#,
            r#"{"event":"run_ended","outcome":"success","message":null}"#,
        ),
    ] {
        assert_eq!(decode(spelling), decode(expected));
    }
    let value = |text: &str| {
        OwnedEvent::from(&Decoder::new().decode_event(
        format!(r#"{{"event":"host_call","task":0,"module":"","op":"","capability":"","wait_ns":5,"granted":true,"args":[],"outcome":{{"kind":"value","value":{text}}}}}"#).as_bytes(),
    ).unwrap())
    };
    let expected = value(
        r#"{"type":"array","items":[{"type":"struct","name":"/","fields":[{"name":"/","value":{"type":"unit"}}]}]}"#,
    );
    for text in [
        r#"{"\u0074ype":"\u0061rray","it\u0065ms":[{"typ\u0065":"struct","name":"\/","fields":[{"name":"\u002f","value":{"type":"unit"}}]}]}"#,
        r#"{"items":[{"fields":[{"value":{"\u0074\u0079\u0070\u0065":"uni\u0074"},"name":"\u002F"}],"name":"/","typ\u0065":"struct"}],"\u0074ype":"array"}"#,
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
    let header = r#"{"\u0065vent":"trace\u005fheader","\u0076ersion":4,"backend":"v\u006d","values":"\u0066ull","entry":"main\u002ecove","args":[]}"#;
    assert_eq!(Decoder::new().decode_header(header.as_bytes()).unwrap(), corpus::headers()[0].1);
}

/// Any float can be spelt in many ways, all of which are the same bits.
#[test]
fn floats_shifted_against_their_exponents() {
    let mut rng = Rng::new(3);
    for _ in 0..2_000 {
        let float = f64::from_bits(rng.next());
        if !float.is_finite() {
            continue;
        }
        let line = format!(
            r#"{{"event":"host_call","task":0,"module":"","op":"","capability":"","wait_ns":5,"granted":true,"args":[{{"type":"float","value":{float:e}}}],"outcome":null}}"#
        );
        let root = parse_valid(&line);
        let spelling = respell(&root, Variation { floats: true, ..Variation::NONE }, &mut rng);
        let event = decode(&spelling);
        assert_eq!(event, decode(&line), "{spelling}");
        let OwnedEvent::HostCall(call) = &event else { unreachable!() };
        assert!(
            matches!(call.args[..], [cove_trace::owned::OwnedValue::Float(found)] if found.to_bits() == float.to_bits())
        );
    }
}

/// Line ends, blank lines and a missing last newline make no difference.
#[test]
fn line_ends_and_blank_lines() {
    let lines: Vec<String> =
        std::iter::once(HEADER.to_owned()).chain(corpus::events().into_iter().map(|(line, _)| line)).collect();
    let expected = read_all((lines.join("\n") + "\n").as_bytes());
    for end in ["\r\n", "\n\n", "\r\r\n", " \n", "\t \r\n\r\n \n\t\n", "\n \t\r\n"] {
        for (before, after) in [("", end), ("", ""), (end, end), (end, ""), (" \t", "\r"), ("\r", " ")] {
            let trace = format!("{before}{}{after}", lines.join(end));
            assert_eq!(read_all(trace.as_bytes()), expected);
        }
    }
}
