//! Collations against MySQL's results, and against themselves: comparison, sort keys, equality keys
//! and hashes agree.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;
use crate::convert::testing::shown_hexadecimal;

fn sort_key(collation: CollationId, text: &[u8]) -> Vec<u8> {
    let mut key = Vec::new();
    collation.append_sort_key(text, &mut key);
    key
}

fn equality_key(collation: CollationId, text: &[u8]) -> Vec<u8> {
    let mut key = Vec::new();
    collation.append_equality_key(text, &mut key);
    key
}

fn shown_sort_key(collation: CollationId, text: &str) -> String {
    shown_hexadecimal(&sort_key(collation, text.as_bytes()))
}

#[test]
fn weights_as_mysql() {
    // HEX(WEIGHT_STRING(x COLLATE c)) of MySQL.
    let ai_ci = CollationId::UTF8MB4_0900_AI_CI;
    for (text, expected) in [
        ("abz ABZ", "1C471C601F2102091C471C601F21"),
        ("09~_", "1C3D1C4606200 20B".replace(' ', "").as_str()),
        ("😀ßæ", "15FB1E711E711C471CAA"),
        ("é漢", "1CAAFB40EF22"),
        ("가각", "3BF53C733BF53C733CD1"),
    ] {
        assert_eq!(shown_sort_key(ai_ci, text), expected, "{text}");
    }
    assert_eq!(
        shown_sort_key(CollationId::UTF8MB4_0900_AS_CS, "aé"),
        "1C471CAA00000020002000240000000200020002"
    );
}

#[test]
fn equal_and_different() {
    let check = |collation: &str, a: &str, b: &str, expected: Ordering| {
        let id = CollationId::by_name(collation).unwrap();
        assert_eq!(
            id.compare(a.as_bytes(), b.as_bytes()),
            expected,
            "{collation} {a:?} {b:?}"
        );
        assert_eq!(
            id.equals(a.as_bytes(), b.as_bytes()),
            expected == Ordering::Equal
        );
    };
    use Ordering::{Equal, Greater, Less};
    for (collation, a, b, expected) in [
        ("utf8mb4_0900_ai_ci", "straße", "STRASSE", Equal),
        ("utf8mb4_0900_ai_ci", "résumé", "RESUME", Equal),
        ("utf8mb4_0900_ai_ci", "a", "a ", Less),
        ("utf8mb4_0900_ai_ci", "a\0b", "ab", Equal),
        ("utf8mb4_0900_ai_ci", "_", "-", Less),
        ("utf8mb4_0900_ai_ci", "a_b", "aab", Less),
        ("utf8mb4_0900_ai_ci", "ﬁ", "fi", Equal),
        ("utf8mb4_0900_ai_ci", "é", "e\u{301}", Equal),
        ("utf8mb4_0900_as_ci", "a", "A", Equal),
        ("utf8mb4_0900_as_ci", "a", "á", Less),
        ("utf8mb4_0900_as_cs", "a", "A", Less),
        ("utf8mb4_0900_as_cs", "K", "\u{212A}", Equal),
        ("utf8mb4_0900_bin", "a", "a ", Less),
        ("utf8mb4_bin", "a", "a ", Equal),
        ("utf8mb4_bin", "a", "a\t", Greater),
        ("utf8mb4_general_ci", "ß", "s", Equal),
        ("utf8mb4_general_ci", "a  ", "A", Equal),
        ("utf8mb4_general_ci", "😀", "🎈", Equal),
        ("utf8mb4_unicode_ci", "ß", "ss ", Equal),
        ("latin1_swedish_ci", "ü", "Y", Equal),
        ("latin1_swedish_ci", "Ö", "z", Greater),
        ("latin1_bin", "€", "é", Less),
        ("utf8mb4_unicode_ci", "æ", "ae", Greater),
        ("utf8mb4_unicode_ci", "😀", "🎈", Equal),
        ("utf8mb4_unicode_520_ci", "æ", "ae", Equal),
        ("utf8mb4_unicode_520_ci", "😀", "🎈", Greater),
        ("utf8mb4_spanish_ci", "ñ", "n", Greater),
        ("utf8mb4_spanish_ci", "ch", "cz", Less),
        ("utf8mb4_spanish2_ci", "ch", "cz", Greater),
        ("utf8mb4_turkish_ci", "I", "i", Less),
        ("utf8mb4_german2_ci", "ä", "AE", Equal),
        ("utf8mb3_swedish_ci", "ö", "z", Greater),
        ("utf8mb4_danish_ci", "aa", "å", Equal),
        ("utf8mb4_general_nopad_ci", "a", "A ", Less),
        ("utf8mb4_uca1400_ai_ci", "résumé ", "RESUME", Equal),
        ("utf8mb4_uca1400_nopad_ai_ci", "a ", "A", Greater),
        ("utf8mb4_uca1400_as_ci", "a", "á", Less),
        ("utf8mb4_uca1400_as_ci", "a", "A ", Equal),
        ("utf8mb4_uca1400_ai_cs", "a", "á", Equal),
        ("utf8mb4_uca1400_ai_cs", "a", "A", Less),
        ("utf8mb4_uca1400_as_cs", "a ", "a", Equal),
        ("latin1_german2_ci", "ß", "SS", Equal),
        ("latin1_general_cs", "a", "A", Greater),
        ("latin2_general_ci", "ł", "Ł", Equal),
        ("cp1251_general_ci", "я", "Я", Equal),
        ("cp1251_ukrainian_ci", "и", "і", Less),
        ("latin7_general_cs", "a", "b", Less),
        ("latin5_turkish_ci", "I", "i", Less),
        ("sjis_japanese_ci", "a日", "A日", Equal),
        ("gbk_chinese_ci", "阿", "中", Less),
        ("utf16_unicode_ci", "a", "Á ", Equal),
        ("ucs2_bin", "a", "A", Greater),
        ("binary", "a", "A", Greater),
    ] {
        check(collation, a, b, expected);
        check(collation, b, a, expected.reverse());
    }
}

#[test]
fn names() {
    for row in COLLATIONS {
        assert_eq!(CollationId::by_name(row.name), Some(row.id));
        assert_eq!(row.id.collation(), row);
    }
    assert_eq!(
        CollationId::by_name("UTF8_general_ci"),
        Some(CollationId::UTF8MB3_GENERAL_CI)
    );
    assert_eq!(CollationId::by_name("nothing"), None);
}

#[test]
fn coercibility() {
    let mix = |collation, level| CollationMix::new(collation, level);
    let column = mix(CollationId::UTF8MB4_GENERAL_CI, Coercibility::Implicit);
    let other = mix(CollationId::UTF8MB4_0900_AI_CI, Coercibility::Implicit);
    let literal = mix(CollationId::UTF8MB4_0900_AI_CI, Coercibility::Coercible);
    let explicit = mix(CollationId::UTF8MB4_BIN, Coercibility::Explicit);
    let latin1 = mix(CollationId::LATIN1_SWEDISH_CI, Coercibility::Implicit);
    let blob = mix(CollationId::BINARY, Coercibility::Implicit);
    let check = |operands: &[CollationMix<'_>], expected| {
        let result = aggregate_collations(operands, "=", true);
        assert_eq!(result.map(|mix| mix.collation).ok(), expected);
    };
    check(&[column, literal], Some(CollationId::UTF8MB4_GENERAL_CI));
    check(&[literal, explicit], Some(CollationId::UTF8MB4_BIN));
    check(&[column, latin1], Some(CollationId::UTF8MB4_GENERAL_CI));
    check(&[latin1, literal], Some(CollationId::LATIN1_SWEDISH_CI));
    check(&[column, blob], Some(CollationId::BINARY));
    check(&[column, other], None);
    let error = aggregate_collations(&[column, other], "=", true).unwrap_err();
    assert_eq!(
        error.to_string(),
        "ERROR 1267 (HY000): Illegal mix of collations (utf8mb4_general_ci,IMPLICIT) and \
         (utf8mb4_0900_ai_ci,IMPLICIT) for operation '='"
    );
    let concat = aggregate_collations(&[column, other], "concat", false).unwrap();
    assert_eq!(concat.coercibility, Coercibility::None);
    assert_eq!(concat.collation, CollationId::UTF8MB4_BIN);
    let bytes = mix(CollationId::UTF8MB4_BIN, Coercibility::Implicit);
    let codes = mix(CollationId::UTF8MB4_0900_BIN, Coercibility::Implicit);
    for operands in [&[bytes, codes][..], &[codes, column, bytes]] {
        assert!(aggregate_collations(operands, "concat", false).is_err());
    }
    check(&[bytes, codes, explicit], Some(CollationId::UTF8MB4_BIN));
    let literals = [CollationId::UTF8MB4_BIN, CollationId::UTF8MB4_0900_BIN];
    let [by_bytes, by_codes] = literals.map(|id| mix(id, Coercibility::Coercible));
    check(&[by_bytes, by_codes], None);
    check(
        &[by_bytes, by_codes, column],
        Some(CollationId::UTF8MB4_GENERAL_CI),
    );
}

#[test]
fn letters_of_several_characters() {
    let rest = |collation: &str, text: &'static str| {
        let collation = CollationId::by_name(collation).unwrap();
        collation.without_begun_letter(text.as_bytes())
    };
    assert_eq!(rest("utf8mb4_spanish2_ci", "bcl"), b"b");
    assert_eq!(rest("utf8mb4_danish_ci", "a"), b"");
    assert_eq!(rest("utf8mb4_spanish_ci", "bcl"), b"bcl");
    assert_eq!(rest("utf8mb4_0900_ai_ci", "l"), b"l");
}

#[test]
fn the_first_and_the_last_character() {
    for row in COLLATIONS {
        let (collation, charset) = (row.id, row.charset);
        if collation == CollationId::BINARY {
            continue;
        }
        let (mut first, mut last) = ([0; 4], [0; 4]);
        let first = collation
            .first_character()
            .encode_utf8(&mut first)
            .as_bytes();
        let last = collation.last_character().encode_utf8(&mut last).as_bytes();
        let points = (0..0x1_0000).chain((0x1_0000..0x11_0000).step_by(251));
        for point in points.filter_map(char::from_u32) {
            if !charset.holds(u32::from(point)) {
                continue;
            }
            let mut buffer = [0; 4];
            let text = point.encode_utf8(&mut buffer).as_bytes();
            let name = row.name;
            assert!(
                collation.compare(text, last).is_le(),
                "{name}: {point:?} is behind the last"
            );
            // Without PAD SPACE nothing is before the shorter value.
            assert!(
                !row.pad_space || collation.compare(text, first).is_ge(),
                "{name}: {point:?} is before the first"
            );
        }
    }
}

/// Plain characters, the letters that languages reorder or contract, and all pairs of some of them.
fn letters_and_pairs() -> Vec<String> {
    let plain = (' '..='~').chain("\t\0éåäæçğİıöøßšüžłñ·ŀ\u{301}漢😀".chars());
    let mut texts: Vec<String> = plain.map(String::from).collect();
    let some: Vec<char> = " aAcChHdDžŽlL·jJnNiIıyYuUvVsß".chars().collect();
    for first in &some {
        texts.extend(some.iter().map(|second| format!("{first}{second}")));
    }
    texts.push(String::new());
    texts
}

#[test]
fn order_keys_and_hashes_agree_in_every_collation() {
    let texts = letters_and_pairs();
    for row in COLLATIONS {
        let (collation, name) = (row.id, row.name);
        let held = |text: &&String| text.chars().all(|c| row.charset.holds(u32::from(c)));
        let mut texts: Vec<&[u8]> = texts.iter().filter(held).map(|t| t.as_bytes()).collect();
        texts.sort_by(|a, b| collation.compare(a, b));
        let equality_key = |text: &[u8]| equality_key(collation, text);
        let mut known = std::collections::HashSet::new();
        known.extend(texts.first().map(|text| equality_key(text)));
        for pair in texts.windows(2) {
            let [a, b] = [pair[0], pair[1]];
            let shown = || format!("{name}: {:?}", [a, b].map(String::from_utf8_lossy));
            let order = collation.compare(a, b);
            assert_ne!(order, Ordering::Greater, "{}", shown());
            assert_eq!(collation.compare(b, a), order.reverse(), "{}", shown());
            let by_key = sort_key(collation, a).cmp(&sort_key(collation, b));
            assert_eq!(by_key, order, "{}", shown());
            let is_equal = order.is_eq();
            assert_eq!(collation.equals(a, b), is_equal, "{}", shown());
            assert_eq!(collation.equals(b, a), is_equal, "{}", shown());
            let key = equality_key(b);
            assert_eq!(equality_key(a) == key, is_equal, "{}", shown());
            // A value that differs from its neighbour is equal to no value before it.
            assert_eq!(known.insert(key), !is_equal, "{}", shown());
            let hashes_agree = collation.hash64(a, 7) == collation.hash64(b, 7);
            assert_eq!(hashes_agree, is_equal, "{}", shown());
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof![
            4 => proptest::char::range('a', 'c'),
            4 => proptest::char::range('A', 'C'),
            3 => Just(' '),
            1 => Just('\t'),
            1 => Just('\0'),
            1 => Just('\u{301}'),
            1 => Just('é'),
            1 => Just('ß'),
            1 => Just('s'),
            1 => Just('l'),
            1 => Just('·'),
            1 => Just('ö'),
            1 => Just(']'),
            1 => Just('😀'),
            1 => Just('漢'),
        ],
        0..20,
    )
    .prop_map(|characters| characters.into_iter().collect())
}

proptest! {
    #[test]
    fn everything_agrees(a in text(), b in text(), bytes: Vec<u8>) {
        for row in COLLATIONS {
            let collation = row.id;
            for (a, b) in [(a.as_bytes(), b.as_bytes()), (a.as_bytes(), &bytes[..])] {
                let order = collation.compare(a, b);
                let key = |value: &[u8]| sort_key(collation, value);
                let equality_key = |value: &[u8]| equality_key(collation, value);
                prop_assert_eq!(key(a).cmp(&key(b)), order, "{}", collation.name());
                prop_assert_eq!(collation.compare(b, a), order.reverse());
                let start = |value: &[u8]| {
                    let mut start = [0; 4];
                    let known = value.len().min(4);
                    start[..known].copy_from_slice(&value[..known]);
                    u32::from_le_bytes(start)
                };
                if let Some(head) = collation.collation().sort_key_head(a) {
                    prop_assert_eq!(&head.to_be_bytes()[..], &key(a)[..16]);
                }
                let decided = collation.collation().compare_starts(start(a), start(b));
                prop_assert_eq!(decided.unwrap_or(order), order, "{}", collation.name());
                let equal = order == Ordering::Equal;
                prop_assert_eq!(collation.equals(a, b), equal, "{}", collation.name());
                prop_assert_eq!(equality_key(a) == equality_key(b), equal, "{}", collation.name());
                if equal {
                    prop_assert_eq!(collation.hash64(a, 7), collation.hash64(b, 7));
                } else {
                    prop_assert_ne!(collation.hash64(a, 7), collation.hash64(b, 7));
                }
            }
        }
    }
}
