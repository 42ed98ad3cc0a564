//! The rules that the compiler and clippy do not know, each with its reason.
//!
//! Test code is free of the size limit and may print: it is read one test at a time.

use std::path::{Path, PathBuf};

use crate::floors;

/// Lines a file may have, without its tests: what one can hold in mind.
const LINES_MAX: usize = 800;

/// Words that must not be left in the code.
const LEFTOVERS: &[&str] = &[
    "todo!(",
    "unimplemented!(",
    "dbg!(",
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
];

/// Crates that touch the file system; all others get their I/O injected.
const FILE_CRATES: &[&str] = &["memory", "engine", "wire", "cli"];

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

/// Checks everything and prints what is wrong.
pub(crate) fn run() -> Result<(), String> {
    let root = root();
    let mut problems = match floors::check(&root) {
        Ok(problems) => problems,
        Err(error) => vec![error],
    };
    for folder in ["bench", "crates", "testing", "xtask"] {
        for path in rust_files(&root.join(folder)) {
            let name = path
                .strip_prefix(&root)
                .unwrap_or(&path)
                .display()
                .to_string();
            match std::fs::read_to_string(&path) {
                Ok(text) => problems.extend(check(&name, &text)),
                Err(error) => problems.push(format!("{name}: {error}")),
            }
        }
    }
    for problem in &problems {
        eprintln!("{problem}");
    }
    let summary = format!("tidy: {} problems", problems.len());
    if !problems.is_empty() {
        return Err(summary);
    }
    println!("{summary}");
    Ok(())
}

/// The Rust files below a folder, in order.
pub(crate) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory)
            .into_iter()
            .flatten()
            .flatten()
        {
            let path = entry.path();
            if path.is_dir() {
                if !path.ends_with("target") {
                    open.push(path);
                }
            } else if path.extension().is_some_and(|end| end == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// What is wrong with one file.
fn check(name: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if !text.trim_start().starts_with("//!") {
        problems.push(format!("{name}: does not open with `//!`, what it is for"));
    }
    let crate_name = name
        .strip_prefix("crates/")
        .and_then(|rest| rest.split('/').next());
    let is_test = ["/tests/", "/benches/", "/examples/"]
        .iter()
        .any(|part| name.contains(part))
        || name.ends_with("/tests.rs")
        || name.ends_with("/testing.rs");
    let code: Vec<&str> = if is_test {
        Vec::new()
    } else {
        text.lines()
            .take_while(|line| !line.trim_start().starts_with("mod tests {"))
            .collect()
    };
    if code.len() > LINES_MAX {
        problems.push(format!(
            "{name}: {} lines of code, more than {LINES_MAX}: split it",
            code.len()
        ));
    }
    let mut check_line = |number: usize, line: &str| {
        let here = format!("{name}:{}", number + 1);
        // The list of leftovers names them all.
        if name != "xtask/src/tidy.rs" {
            for word in LEFTOVERS.iter().filter(|word| line.contains(**word)) {
                problems.push(format!("{here}: `{word}` left behind"));
            }
        }
        let Some(crate_name) = crate_name else { return };
        if line.trim_start().starts_with("//") {
            return;
        }
        if crate_name != "cli" && PRINTS.iter().any(|word| line.contains(word)) {
            problems.push(format!("{here}: only the `cli` crate prints"));
        }
        if !FILE_CRATES.contains(&crate_name)
            && ["std::fs", "File::open(", "File::create(", "OpenOptions"]
                .iter()
                .any(|word| line.replace("EnvOpenOptions", "").contains(word))
        {
            problems.push(format!(
                "{here}: file access below the engine belongs to `memory`"
            ));
        }
    };
    for (number, line) in code.iter().enumerate() {
        check_line(number, line);
    }
    problems
}

/// Macros that write to the terminal.
const PRINTS: &[&str] = &["println!(", "eprintln!(", "print!(", "eprint!("];

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_clean_file_is_clean() {
        assert!(check("crates/types/src/a.rs", "//! What it is.\nfn main() {}\n").is_empty());
    }

    #[test]
    fn each_rule_bites() {
        for (file, text, count) in [
            ("crates/types/src/a.rs", "fn main() {}", 1),
            ("crates/types/src/a.rs", "//! A.\nfn f() { todo!() }", 1),
            ("crates/types/src/a.rs", "//! A.\nprintln!(\"x\");", 1),
            ("crates/cli/src/a.rs", "//! A.\nprintln!(\"x\");", 0),
            ("crates/types/src/a.rs", "//! A.\nuse std::fs;", 1),
            ("crates/memory/src/a.rs", "//! A.\nuse std::fs;", 0),
        ] {
            assert_eq!(check(file, text).len(), count, "{file}: {text}");
        }
        let long = format!("//! A.\n{}", "\n".repeat(900));
        assert_eq!(check("crates/types/src/a.rs", &long).len(), 1);
    }

    #[test]
    fn tests_may_be_long_and_print() {
        let long = format!(
            "//! A.\n#[cfg(test)]\nmod tests {{\nprintln!(\"x\");{}",
            "\n".repeat(900)
        );
        assert!(check("crates/types/src/a.rs", &long).is_empty());
        assert!(
            check(
                "crates/types/tests/a.rs",
                &format!("//! A.\n{}", "\n".repeat(900))
            )
            .is_empty()
        );
    }
}
