//! Form of values in golden files: one line per row, columns separated by tabs.
//!
//! The form must survive an editor and a diff, so bytes that are not printable are escaped: `\t`, `
//! `, `\r`, `\0`, `\\`, and `\xNN` for bytes that are not UTF-8 or would vanish at an end of a
//! line. NULL is `NULL`; the empty string is `(empty)`.

/// A value in the form of golden files.
#[must_use]
pub fn escape(value: Option<&[u8]>) -> String {
    let Some(bytes) = value else {
        return "NULL".to_owned();
    };
    if bytes.is_empty() {
        return "(empty)".to_owned();
    }
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\t' => out.push_str("\\t"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\0' => out.push_str("\\0"),
                '\\' => out.push_str("\\\\"),
                c if c.is_control() => {
                    let mut buffer = [0; 4];
                    for byte in c.encode_utf8(&mut buffer).bytes() {
                        out.push_str(&format!("\\x{byte:02x}"));
                    }
                }
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    if out.starts_with(' ') {
        out.replace_range(0..1, "\\x20");
    }
    if out.ends_with(' ') {
        out.replace_range(out.len() - 1.., "\\x20");
    }
    out
}

/// The values of a row, separated by tabs.
#[must_use]
pub fn line<V: AsRef<[u8]>>(row: &[Option<V>]) -> String {
    let cells = row
        .iter()
        .map(|value| escape(value.as_ref().map(AsRef::as_ref)));
    cells.collect::<Vec<_>>().join("\t")
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn values_survive_a_line_of_text() {
        assert_eq!(escape(None), "NULL");
        assert_eq!(escape(Some(b"")), "(empty)");
        assert_eq!(escape(Some(b" a b ")), "\\x20a b\\x20");
        assert_eq!(escape(Some(b" ")), "\\x20");
        assert_eq!(escape(Some(b"a\tb\nc\\d\0")), "a\\tb\\nc\\\\d\\0");
        assert_eq!(escape(Some(b"\xffM\x01")), "\\xffM\\x01");
        assert_eq!(escape(Some("naïve".as_bytes())), "naïve");
    }
}
