//! Places of cells: `B2`, and areas of them: `B2:D100`, `B:D`, `B2` (from there on).

/// The cells of rows and columns, each counted from 0 and up to the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Area {
    /// The first row and column; none for the first ones that have cells.
    pub(super) first: (Option<u32>, Option<u32>),
    /// The last row and column; none for the last ones that have cells.
    pub(super) last: (Option<u32>, Option<u32>),
}

impl Area {
    /// Reads an area; `None` for other texts.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (first, last) = match text.trim().split_once(':') {
            Some((first, last)) => (place(first)?, place(last)?),
            None => (place(text.trim())?, (None, None)),
        };
        let is_ordered = |first: Option<u32>, last: Option<u32>| match (first, last) {
            (Some(first), Some(last)) => first <= last,
            _ => true,
        };
        let holds = is_ordered(first.0, last.0) && is_ordered(first.1, last.1);
        holds.then_some(Self { first, last })
    }

    /// Whether a cell is in the area.
    pub(super) fn contains(&self, row: u32, column: u32) -> bool {
        let from = |first: Option<u32>, at: u32| first.is_none_or(|first| first <= at);
        let to = |last: Option<u32>, at: u32| last.is_none_or(|last| at <= last);
        from(self.first.0, row)
            && from(self.first.1, column)
            && to(self.last.0, row)
            && to(self.last.1, column)
    }
}

/// The row and the column of a place, of which one may be missing.
fn place(text: &str) -> Option<(Option<u32>, Option<u32>)> {
    let text = text.replace('$', "");
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, digits) = text.split_at(letters);
    if letters.len() > 3 || text.is_empty() || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let column = letters.bytes().fold(0, |column, letter| {
        column * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1
    });
    let row = match digits {
        "" => None,
        digits => Some(digits.parse::<u32>().ok()?.checked_sub(1)?),
    };
    Some((row, column.checked_sub(1)))
}

/// The text of a place.
pub(super) fn name(row: u32, column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        letters.push(b'A' + ((rest - 1) % 26) as u8);
        rest = (rest - 1) / 26;
    }
    letters.reverse();
    format!(
        "{}{}",
        String::from_utf8_lossy(&letters),
        u64::from(row) + 1
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas() {
        let area = |text| Area::parse(text).map(|area| (area.first, area.last));
        let all = (None, None);
        assert_eq!(
            area("B2:D100"),
            Some(((Some(1), Some(1)), (Some(99), Some(3))))
        );
        assert_eq!(area("$b$2"), Some(((Some(1), Some(1)), all)));
        assert_eq!(area("C:AA"), Some(((None, Some(2)), (None, Some(26)))));
        assert_eq!(area("5:7"), Some(((Some(4), None), (Some(6), None))));
        for wrong in [
            "", ":", "B0", "B2:A1", "B2:", "ABCD1", "1B", "B2:C3:D4", "B-2",
        ] {
            assert_eq!(area(wrong), None, "{wrong}");
        }
        for (row, column, text) in [
            (0, 0, "A1"),
            (9, 25, "Z10"),
            (0, 26, "AA1"),
            (1, 16_383, "XFD2"),
        ] {
            assert_eq!(name(row, column), text);
        }
    }
}
