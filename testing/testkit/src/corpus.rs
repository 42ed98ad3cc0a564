//! Finds the golden files and their configurations in the repository.

use std::path::{Path, PathBuf};

/// The root of the repository this kit was built from.
#[must_use]
pub fn root() -> PathBuf {
    let kit = Path::new(env!("CARGO_MANIFEST_DIR"));
    kit.ancestors().nth(2).unwrap_or(kit).to_path_buf()
}

/// Every file below `tests/<folder>` whose name ends in `extension`, in order of path.
#[must_use]
pub fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join("tests").join(folder)];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory)
            .into_iter()
            .flatten()
            .flatten()
        {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A file's short name: `area/topic`.
#[must_use]
pub fn short_name(path: &Path) -> String {
    path.strip_prefix(root().join("tests/slt"))
        .unwrap_or(path)
        .with_extension("")
        .display()
        .to_string()
}

/// The need of a file that changes accounts or global variables: the external servers, whose sessions others use at the
/// same time, do not meet it.
pub const OWN_SERVER: &str = "own-server";

/// What a golden file needs of the configuration it runs under: the words of its first line,
/// `# needs: transactions, views`, if it has one.
///
/// # Errors
/// When the file cannot be read.
pub fn needs(path: &Path) -> std::io::Result<Vec<String>> {
    header(path, "# needs: ")
}

/// The configurations that a golden file is about, by name, and that no draw leaves out for it: the words of its first
/// line, `# always: all_rewrites`, or of its second one.
///
/// # Errors
/// When the file cannot be read.
pub fn always(path: &Path) -> std::io::Result<Vec<String>> {
    header(path, "# always: ")
}

/// The words of a line with this beginning, one of a file's first two.
fn header(path: &Path, beginning: &str) -> std::io::Result<Vec<String>> {
    let text = std::fs::read_to_string(path)?;
    let mut lines = text.lines().take(2);
    let words = lines.find_map(|line| line.strip_prefix(beginning));
    let words = words.into_iter().flat_map(|words| words.split(", "));
    Ok(words.map(str::to_owned).collect())
}
