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
    let tests = root().join("tests");
    let folders = ["slt", "slt-next"].map(|folder| tests.join(folder));
    folders
        .iter()
        .find_map(|folder| path.strip_prefix(folder).ok())
        .unwrap_or(path)
        .with_extension("")
        .display()
        .to_string()
}
