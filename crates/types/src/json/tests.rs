//! Documents and paths, compared with what MySQL does with them.

use std::cmp::Ordering;

use arrow_buffer::i256;
use proptest::prelude::*;

use super::*;
use crate::convert::testing::check_table;

/// Undoes the escapes of the table's file.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                other => other.unwrap(),
            },
            other => other,
        });
    }
    out
}

fn normalized(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    match append_normalized(&mut out, text.as_bytes()) {
        Ok(()) => Ok(out),
        Err(JsonError::Syntax { message, position }) => Err(format!("!{position} {message}")),
        Err(JsonError::TooDeep) => Err(format!(
            "!{}",
            JsonError::TooDeep.in_argument(1, "f").message()
        )),
    }
}

/// JSON_EXTRACT
fn extract(document: &[u8], path: &str) -> String {
    let path = match JsonPath::parse(path.as_bytes()) {
        Ok(path) => path,
        Err(error) => {
            let message = error.message().trim_end_matches('.');
            let position = message.rsplit(' ').next().unwrap();
            return format!("!{position}");
        }
    };
    let mut found = Vec::new();
    path.find(document, &mut found);
    assert_eq!(path.find_first(document), found.first().copied());
    let found: Vec<String> = found
        .iter()
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect();
    match found.as_slice() {
        [] => "NULL".to_owned(),
        [only] if !path.has_wildcard() => only.clone(),
        all => format!("[{}]", all.join(", ")),
    }
}

fn run(kind: &str, first: &str, second: &str) -> String {
    let document = |text: &str| normalized(text).unwrap();
    match kind {
        "path" => extract(&document(first), second),
        "bad" => extract(&document("[1,{\"a\":1}]"), first),
        "text" => {
            normalized(first).map_or_else(|error| error, |text| String::from_utf8(text).unwrap())
        }
        "cmp" => {
            let (a, b) = (document(first), document(second));
            let order = compare(&a, &b);
            assert_eq!(compare(&b, &a), order.reverse());
            let (mut key, mut other) = (Vec::new(), Vec::new());
            append_sort_key(&a, &mut key);
            append_sort_key(&b, &mut other);
            assert_eq!(key.cmp(&other), order, "{first} {second}");
            let json = crate::CollationId::JSON;
            assert_eq!(json.compare(&a, &b), order);
            assert_eq!(json.equals(&a, &b), order.is_eq());
            assert_eq!(json.hash64(&a, 7) == json.hash64(&b, 7), order.is_eq());
            (order as i8).to_string()
        }
        "type" => {
            let text = document(first);
            let depth = parse_normalized(&text).unwrap().depth();
            format!("{} {} {depth}", text::type_name(&text), text::length(&text))
        }
        other => panic!("kind {other}"),
    }
}

#[test]
fn documents_as_mysql() {
    check_table(include_str!("mysql.txt"), |line| {
        let fields: Vec<String> = line.split(" ~ ").map(unescape).collect();
        let actual = run(&fields[0], &fields[1], &fields[2]);
        let is_same = actual == fields[3];
        if is_same { Vec::new() } else { vec![actual] }
    });
}

#[test]
fn decimals_keep_their_kind() {
    for (text, expected) in [("1.50", "DECIMAL"), ("1.5", "DOUBLE"), ("100.0", "DOUBLE")] {
        assert_eq!(text::type_name(text.as_bytes()), expected, "{text}");
        let again = parse_normalized(text.as_bytes()).unwrap().to_text();
        assert_eq!(displayed(&again), text.as_bytes());
        assert_eq!(text::type_name(&again), expected, "{text}");
    }
    assert_eq!(text::type_name(b"1.5\x01"), "DECIMAL");
    assert_eq!(compare(b"1.50", b"1.5"), Ordering::Equal);
    assert_eq!(compare(b"1.51", b"1.5"), Ordering::Greater);
}

#[test]
fn paths_lead_into_trees() {
    let mut document = parse(br#"{"a": [1, {"b": 2}]}"#).unwrap();
    let path = JsonPath::parse(b"$.a[last].b").unwrap();
    *path.find_mut(&mut document).unwrap() = Json::Bool(true);
    assert_eq!(document.to_text(), br#"{"a": [1, {"b": true}]}"#);
    assert!(
        JsonPath::parse(b"$.x")
            .unwrap()
            .find_mut(&mut document)
            .is_none()
    );
    let (parent, leg) = path.split_last().unwrap();
    assert_eq!(
        parent.find_first(&document.to_text()),
        Some(br#"{"b": true}"#.as_slice())
    );
    assert!(matches!(leg, path::Leg::Member { key, .. } if key == "b"));
}

/// Scalars that have a tag behind their text.
fn tagged() -> impl Strategy<Value = Json> {
    let tags = [
        TypeTag::Date,
        TypeTag::Time,
        TypeTag::DateTime,
        TypeTag::Blob,
        TypeTag::Bit,
        TypeTag::Timestamp,
    ];
    prop_oneof![
        (any::<i64>(), 0_u8..30)
            .prop_map(|(digits, scale)| { Json::Decimal(Decimal::new(i256::from(digits), scale)) }),
        (0..=i64::MAX as u64).prop_map(Json::UInt),
        (any::<String>(), prop::sample::select(tags.to_vec()))
            .prop_map(|(text, tag)| Json::Typed(text, tag)),
    ]
}

fn any_json() -> impl Strategy<Value = Json> {
    nested(plain())
}

fn plain() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(Json::Int),
        (i64::MAX as u64 + 1..).prop_map(Json::UInt),
        (-1e300..1e300_f64).prop_map(Json::Double),
        any::<String>().prop_map(Json::String),
    ]
}

fn nested(leaf: impl Strategy<Value = Json> + 'static) -> impl Strategy<Value = Json> {
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::Array),
            prop::collection::vec((any::<String>(), inner), 0..5)
                .prop_map(|members| Json::Object(JsonObject::of(members))),
        ]
    })
}

proptest! {
    #[test]
    fn trees_survive_their_text(document in any_json()) {
        let text = document.to_text();
        prop_assert_eq!(&parse_normalized(&text).unwrap(), &document);
        prop_assert_eq!(parse(&text).unwrap().to_text(), text);
    }

    #[test]
    fn tags_survive_and_are_not_displayed(document in nested(prop_oneof![plain(), tagged()])) {
        let text = document.to_text();
        prop_assert_eq!(&parse_normalized(&text).unwrap(), &document);
        let shown = displayed(&text);
        prop_assert!(shown.iter().all(|byte| *byte >= 0x20));
        prop_assert_eq!(compare(&text, &text), Ordering::Equal);
        // What users write has no tags.
        prop_assert!(parse(&shown).is_ok());
        prop_assert_eq!(parse(&text).is_err(), shown.len() < text.len());
    }

    #[test]
    fn text_is_read_in_place_as_the_tree_is(document in nested(prop_oneof![plain(), tagged()])) {
        let text = document.to_text();
        match &document {
            Json::Array(elements) => {
                let found: Vec<Vec<u8>> = text::elements(&text).map(<[u8]>::to_vec).collect();
                let expected: Vec<Vec<u8>> = elements.iter().map(Json::to_text).collect();
                prop_assert_eq!(found, expected);
            }
            Json::Object(object) => {
                let found: Vec<(Vec<u8>, Vec<u8>)> = text::members(&text)
                    .map(|(key, value)| (text::unquote(key).into_owned(), value.to_vec()))
                    .collect();
                let expected: Vec<(Vec<u8>, Vec<u8>)> = object
                    .members()
                    .iter()
                    .map(|(key, value)| (key.clone().into_bytes(), value.to_text()))
                    .collect();
                prop_assert_eq!(found, expected);
            }
            Json::String(string) | Json::Typed(string, _) => {
                let read = text::unquote(&text).into_owned();
                prop_assert_eq!(read, string.as_bytes());
            }
            _ => {}
        }
    }

    #[test]
    fn sort_keys_order_as_documents_do(a in any_json(), b in any_json()) {
        let (a, b) = (a.to_text(), b.to_text());
        let (mut key, mut other) = (Vec::new(), Vec::new());
        append_sort_key(&a, &mut key);
        append_sort_key(&b, &mut other);
        prop_assert_eq!(key.cmp(&other), compare(&a, &b));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = parse(&bytes);
        let _ = JsonPath::parse(&bytes);
        let _ = scalar_of(&bytes);
        let _ = compare(&bytes, b"[1]");
        text::elements(&bytes).for_each(drop);
        text::members(&bytes).for_each(drop);
        append_sort_key(&bytes, &mut Vec::new());
    }
}
