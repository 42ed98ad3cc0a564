//! LOWER and UPPER. MySQL maps one character to one: `ß` has no capital, `ŉ` stays.

use super::utf8;

fn map_points(text: &[u8], out: &mut Vec<u8>, map: impl Fn(char) -> char) {
    out.reserve(text.len());
    for point in utf8::Points::new(text) {
        match char::from_u32(point) {
            Some(character) => utf8::encode(u32::from(map(character)), out),
            None => utf8::encode(point, out),
        }
    }
}

fn single(mut mapped: impl Iterator<Item = char>, otherwise: char) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => otherwise,
    }
}

/// Appends the text in lower case.
pub fn append_lower(text: &[u8], out: &mut Vec<u8>) {
    if text.is_ascii() {
        let start = out.len();
        out.extend_from_slice(text);
        out[start..].make_ascii_lowercase();
        return;
    }
    map_points(text, out, |character| match character {
        // The only character whose lower case is two, a letter and a dot, of which MySQL keeps
        // the letter.
        'İ' => 'i',
        _ => single(character.to_lowercase(), character),
    });
}

/// Appends the text in upper case.
pub fn append_upper(text: &[u8], out: &mut Vec<u8>) {
    if text.is_ascii() {
        let start = out.len();
        out.extend_from_slice(text);
        out[start..].make_ascii_uppercase();
        return;
    }
    map_points(text, out, |character| {
        single(character.to_uppercase(), character)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_character_for_one() {
        let upper = |text: &str| {
            let mut out = Vec::new();
            append_upper(text.as_bytes(), &mut out);
            String::from_utf8(out).unwrap()
        };
        let lower = |text: &str| {
            let mut out = Vec::new();
            append_lower(text.as_bytes(), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(upper("straße éж"), "STRAßE ÉЖ");
        assert_eq!(lower("ÀÉЖ İ"), "àéж i");
        assert_eq!(lower("ABC"), "abc");
    }
}
