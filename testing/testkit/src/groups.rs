//! Lists of test data in text files: a head at the margin, with its items indented by two spaces below it. Lines that
//! begin with `#` are comments.

/// The lists of a file, in its order.
#[derive(Debug)]
pub struct Groups(Vec<(&'static str, Vec<&'static str>)>);

impl Groups {
    /// Reads a file's text.
    ///
    /// # Panics
    /// When an item has no head.
    #[must_use]
    pub fn read(text: &'static str) -> Self {
        let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
        for line in text.lines() {
            if let Some(item) = line.strip_prefix("  ") {
                let group = groups.last_mut().expect("a head is above its items");
                group.1.push(item);
            } else if !line.is_empty() && !line.starts_with('#') {
                groups.push((line, Vec::new()));
            }
        }
        Self(groups)
    }

    /// Heads with their items.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &[&'static str])> {
        self.0.iter().map(|(head, items)| (*head, &items[..]))
    }

    /// The items below a head.
    ///
    /// # Panics
    /// When there is no such head.
    #[must_use]
    pub fn items(&self, head: &str) -> &[&'static str] {
        let found = self.0.iter().find(|(known, _)| *known == head);
        &found.unwrap_or_else(|| panic!("no list {head}")).1
    }
}
