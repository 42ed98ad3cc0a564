//! Words and signs for the composition of invalid statements.

use crate::groups::Groups;

/// The words of `words.txt`.
#[must_use]
pub fn words() -> Vec<String> {
    let lists = Groups::read(include_str!("words.txt"));
    let words = lists.items("words").iter();
    words.map(|word| word.replace("\\0", "\0")).collect()
}
