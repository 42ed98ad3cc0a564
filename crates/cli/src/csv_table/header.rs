//! Header of a CSV file: whether its first row names the columns, and the names of the columns.

use super::column_type::ColumnType;

/// Greatest number of characters of a column's name.
const NAME_CHARACTERS: usize = 64;

/// Whether the first row is a header. It is if one of its values does not fit the type of the rows below, unless that
/// is text; or if all is text, and the first row looks like identifiers.
pub(super) fn is_header(first: &[String], below: &[ColumnType]) -> bool {
    let differs = |(name, column): (&String, &ColumnType)| {
        let is_other = !column.is_text() && !name.is_empty();
        is_other && column.join(ColumnType::of(name.as_bytes())).is_text()
    };
    if first.iter().zip(below).any(differs) {
        return true;
    }
    let identifier = |name: &String| {
        let mut characters = name.trim().chars();
        let begins = characters
            .next()
            .is_some_and(|c| c.is_alphabetic() || c == '_');
        begins && characters.all(|c| c.is_alphanumeric() || "_ -.\n".contains(c))
    };
    below.iter().all(|column| column.is_text()) && first.iter().all(identifier)
}

/// Distinct names of the columns: from the header, or `column1` and so on.
pub(super) fn names(header: Option<&[String]>, width: usize) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(width);
    for number in 1..=width {
        let given = header.and_then(|header| header.get(number - 1));
        let words: Vec<&str> = given.map_or(Vec::new(), |name| name.split_whitespace().collect());
        let name = match words.as_slice() {
            [] => format!("column{number}"),
            words => words.join(" "),
        };
        let is_taken = |name: &str| {
            names
                .iter()
                .any(|it| it.to_lowercase() == name.to_lowercase())
        };
        let numbered = |count: usize| match count {
            1 => shortened(&name, ""),
            _ => shortened(&name, &format!("_{count}")),
        };
        let unique = (1..).map(numbered).find(|name| !is_taken(name));
        names.extend(unique);
    }
    names
}

/// A name with an ending, cut to the greatest length.
fn shortened(name: &str, ending: &str) -> String {
    let kept = name.chars().take(NAME_CHARACTERS - ending.len());
    kept.collect::<String>().trim_end().to_owned() + ending
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_name_of_its_own() {
        let names = |header: &[&str]| {
            let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
            names(Some(&header), header.len())
        };
        assert_eq!(
            names(&["id", "", "ID", "2024", " a\n b ", "id_2"]),
            ["id", "column2", "ID_2", "2024", "a b", "id_2_2"]
        );
        let long = "x".repeat(70);
        let shortened = names(&[&long, &long]);
        assert_eq!(shortened[0], "x".repeat(64));
        assert_eq!(shortened[1], "x".repeat(62) + "_2");
        assert_eq!(super::names(None, 2), ["column1", "column2"]);
    }
}
