//! Patterns of paths: `*` and `?` match within a name, `[a-z]` and `[!a-z]` one character, `**` any directories.

/// Characters of patterns.
pub(super) const WILD: [char; 3] = ['*', '?', '['];

/// Whether the names of a path match the parts of a pattern; names that begin with a point match no part that does not.
pub(super) fn matches_all(parts: &[&str], names: &[&str]) -> bool {
    let is_hidden = |name: &str, part: &str| name.starts_with('.') && !part.starts_with('.');
    // Whether the parts so far match the first names, for each number of them.
    let mut matched = vec![false; names.len() + 1];
    matched[0] = true;
    for part in parts {
        if *part == "**" {
            for (at, name) in names.iter().enumerate() {
                matched[at + 1] |= matched[at] && !is_hidden(name, part);
            }
            continue;
        }
        for (at, name) in names.iter().enumerate().rev() {
            let is_match = || !is_hidden(name, part) && matches(part.as_bytes(), name.as_bytes());
            matched[at + 1] = matched[at] && is_match();
        }
        matched[0] = false;
    }
    matched[names.len()]
}

/// Whether a name matches a part of a pattern. Each `*` first matches nothing, and then more where the rest does not match.
pub(super) fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut star) = ((0, 0), None);
    while at.1 < name.len() {
        let (pattern_at, name_at) = at;
        let next = match pattern.get(pattern_at) {
            Some(b'*') => {
                star = Some((pattern_at, name_at));
                Some((pattern_at + 1, name_at))
            }
            Some(b'?') => Some((pattern_at + 1, name_at + character_length(name[name_at]))),
            Some(b'[') => match in_class(&pattern[pattern_at + 1..], name[name_at]) {
                Some((true, length)) => Some((pattern_at + 1 + length, name_at + 1)),
                Some((false, _)) => None,
                None => (name[name_at] == b'[').then_some((pattern_at + 1, name_at + 1)),
            },
            Some(byte) if *byte == name[name_at] => Some((pattern_at + 1, name_at + 1)),
            _ => None,
        };
        at = match (next, star) {
            (Some(next), _) => next,
            (None, Some((pattern_at, name_at))) => {
                star = Some((pattern_at, name_at + 1));
                (pattern_at + 1, name_at + 1)
            }
            (None, None) => return false,
        };
    }
    pattern
        .get(at.0..)
        .is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

fn character_length(first: u8) -> usize {
    match first {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}

/// Whether a byte is in the class behind `[`, and the length of the class with its `]`; `None` without one.
fn in_class(class: &[u8], byte: u8) -> Option<(bool, usize)> {
    let negated = class.first() == Some(&b'!');
    let start = usize::from(negated);
    let end = start + 1 + class.get(start + 1..)?.iter().position(|it| *it == b']')?;
    let (mut at, mut found) = (start, false);
    while at < end {
        if at + 2 < end && class[at + 1] == b'-' {
            found |= (class[at]..=class[at + 2]).contains(&byte);
            at += 3;
        } else {
            found |= class[at] == byte;
            at += 1;
        }
    }
    Some((found != negated, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, is_match) in [
            ("*", "a.csv", true),
            ("*.csv", "a.csv", true),
            ("*.csv", "a.csv.gz", false),
            ("a*b*c", "a12b3bc", true),
            ("a*b*c", "a12b3b", false),
            ("?.csv", "é.csv", true),
            ("?.csv", "ab.csv", false),
            ("y[0-9].csv", "y7.csv", true),
            ("y[!0-9].csv", "y7.csv", false),
            ("y[]a].csv", "y].csv", true),
            ("y[.csv", "y[.csv", true),
            ("", "a", false),
            ("**", "abc", true),
        ] {
            assert_eq!(
                matches(pattern.as_bytes(), name.as_bytes()),
                is_match,
                "{pattern} {name}"
            );
        }
    }

    #[test]
    fn patterns_of_paths() {
        for (pattern, path, is_match) in [
            ("*.csv", "a.csv", true),
            ("*.csv", "d/a.csv", false),
            ("d/*.csv", "d/a.csv", true),
            ("**/*.csv", "a.csv", true),
            ("**/*.csv", "d/e/a.csv", true),
            ("**/*.csv", "d/.e/a.csv", false),
            ("d/**", "d/e/a", true),
            ("**/e/**/a", "d/e/a", true),
            ("**/e/**/a", "e/d/d/a", true),
            ("**/e/**/a", "d/a", false),
            ("*", ".a", false),
            (".*", ".a", true),
        ] {
            let parts: Vec<&str> = pattern.split('/').collect();
            let names: Vec<&str> = path.split('/').collect();
            assert_eq!(matches_all(&parts, &names), is_match, "{pattern} {path}");
        }
        // In time that grows with both, not with the ways to divide them.
        assert!(!matches_all(&["**"; 64], &[".a"; 64]));
        assert!(!matches_all(
            &[&["**"; 63][..], &["b"]].concat(),
            &["a"; 64]
        ));
    }
}
