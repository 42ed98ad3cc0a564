//! Text of names and expressions as MySQL prints them in `SHOW CREATE` and in messages.

/// A name in backticks, with backticks inside doubled.
pub fn quoted_identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A string literal in single quotes, escaped as `SHOW CREATE TABLE` does it.
pub fn quoted_string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    for character in text.chars() {
        match character {
            '\'' => quoted.push_str("''"),
            '\\' => quoted.push_str("\\\\"),
            '\0' => quoted.push_str("\\0"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            other => quoted.push(other),
        }
    }
    quoted.push('\'');
    quoted
}
