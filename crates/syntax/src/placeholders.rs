//! Text of a prepared statement with values in the place of its `?`, as logs show it.

use crate::ParseOptions;
use crate::lexer::lex_statement;
use crate::lexer::token::Kind;

/// The text with each `?` replaced by what `write` appends for its index.
pub fn with_parameters(
    text: &str,
    options: &ParseOptions,
    write: &mut dyn FnMut(usize, &mut String),
) -> String {
    let mut shown = String::with_capacity(text.len());
    let (mut copied, mut index) = (0, 0);
    for token in &lex_statement(text, 0, options).tokens {
        if token.kind != Kind::Parameter {
            continue;
        }
        shown.push_str(text.get(copied..token.start as usize).unwrap_or(""));
        write(index, &mut shown);
        index += 1;
        copied = token.end as usize;
    }
    shown.push_str(text.get(copied..).unwrap_or(""));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_for_placeholders_alone() {
        let options = ParseOptions::MYSQL_DEFAULT;
        let shown = |text| {
            with_parameters(text, &options, &mut |index, out| {
                out.push_str(["'a?'", "2", "NULL"][index]);
            })
        };
        assert_eq!(
            shown("SELECT ?, '?' /* ? */, `?`, ? -- ?\n, ?"),
            "SELECT 'a?', '?' /* ? */, `?`, 2 -- ?\n, NULL"
        );
        assert_eq!(shown("SELECT 1"), "SELECT 1");
    }
}
