//! The rules that the compiler and clippy do not check, each with its reason.
//!
//! Test code is exempt from the size limit and may print: it is read one test at a time.

use std::path::{Path, PathBuf};

use crate::floors;

/// Greatest number of lines of a file, without its tests.
const LINES_MAX: usize = 800;

/// Words that must not remain in the code.
const LEFTOVERS: &[&str] = &[
    "todo!(",
    "unimplemented!(",
    "dbg!(",
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
];

/// Phrases that name neither the item nor its parameters, where plain technical English does.
const RIDDLES: &[&str] = &[
    concat!("so ", "many"),
    concat!("/// The ", "same"),
    concat!("/// It", " "),
    concat!("/// See the ", "module"),
];

/// Files of the Python package with unsafe code: a result in one object with its connection, structs of C.
const UNSAFE_OF_PYTHON: &[&str] = &["python/src/running.rs", "python/src/capsules.rs"];

/// Rule for words that only some files of `crates/` and `python/` may contain.
struct WordRule {
    words: &'static [&'static str],
    is_allowed_in: fn(&str) -> bool,
    why: &'static str,
}

const WORD_RULES: &[WordRule] = &[
    WordRule {
        words: &["println!(", "eprintln!(", "print!(", "eprint!("],
        is_allowed_in: |file| is_of(file, &["cli"]),
        why: "only the `cli` crate prints",
    },
    WordRule {
        words: &["std::fs", "File::open(", "File::create(", " OpenOptions"],
        is_allowed_in: |file| is_of(file, &["memory", "engine", "files", "wire", "cli"]),
        why: "file access below the engine belongs to `memory`",
    },
    WordRule {
        words: &["unsafe {", "unsafe fn", "unsafe impl"],
        is_allowed_in: |file| {
            is_of(file, &["memory", "storage"]) || UNSAFE_OF_PYTHON.contains(&file)
        },
        why: "unsafe code belongs to `memory` and `storage`",
    },
    WordRule {
        words: &["Cell<", "Mutex<", "RwLock<", "Atomic", "OnceLock<"],
        is_allowed_in: |file| {
            !file.starts_with("crates/plan/src/tree/")
                && !file.starts_with("crates/engine/src/cached_plan/")
        },
        why: "a plan holds no run state",
    },
];

/// Whether a file belongs to one of these crates.
fn is_of(file: &str, crates: &[&str]) -> bool {
    let name = file.split('/').nth(1);
    name.is_some_and(|name| crates.contains(&name))
}

/// Documents whose paths of modules are checked.
const DOCUMENTS: &[&str] = &["ARCHITECTURE.md", "docs/storage.md", "docs/changes.md"];

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

/// Checks all rules and prints violations.
pub(crate) fn run() -> Result<(), String> {
    let root = root();
    let mut problems = match floors::check(&root) {
        Ok(problems) => problems,
        Err(error) => vec![error],
    };
    let mut modules = Vec::new();
    for folder in ["bench", "crates", "python", "testing", "xtask"] {
        for path in rust_files(&root.join(folder)) {
            let name = path
                .strip_prefix(&root)
                .unwrap_or(&path)
                .display()
                .to_string();
            match std::fs::read_to_string(&path) {
                Ok(text) => {
                    problems.extend(check(&name, &text));
                    modules.extend(module_path(&name).map(|path| (path, text)));
                }
                Err(error) => problems.push(format!("{name}: {error}")),
            }
        }
    }
    for name in DOCUMENTS {
        let text = std::fs::read_to_string(root.join(name)).unwrap_or_default();
        let lost = lost_paths(&text, &modules).into_iter();
        problems.extend(lost.map(|path| format!("{name}: `{path}` is no module")));
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

/// Violations in one file.
fn check(name: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if !text.trim_start().starts_with("//!") {
        problems.push(format!("{name}: does not open with `//!`, what it is for"));
    }
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
        // The list of these words contains them all.
        if name != "xtask/src/tidy.rs" {
            for word in LEFTOVERS.iter().filter(|word| line.contains(**word)) {
                problems.push(format!("{here}: `{word}` left behind"));
            }
        }
        for phrase in RIDDLES.iter().filter(|phrase| line.contains(**phrase)) {
            problems.push(format!("{here}: `{phrase}`: say what is meant"));
        }
        let has_rules = name.starts_with("crates/") || name.starts_with("python/");
        if !has_rules || line.trim_start().starts_with("//") {
            return;
        }
        for rule in WORD_RULES.iter().filter(|rule| !(rule.is_allowed_in)(name)) {
            if rule.words.iter().any(|word| line.contains(word)) {
                problems.push(format!("{here}: {}", rule.why));
            }
        }
    };
    for (number, line) in code.iter().enumerate() {
        check_line(number, line);
    }
    problems.extend(unexplained_unsafe(name, &code));
    problems
}

/// Unsafe functions whose documentation lacks the caller's obligations.
fn unexplained_unsafe(name: &str, code: &[&str]) -> Vec<String> {
    let is_of_declaration = |line: &&&str| {
        let line = line.trim_start();
        line.starts_with("///") || line.starts_with("#[")
    };
    let functions = code.iter().enumerate().filter(|(_, line)| {
        let line = line.trim_start();
        !line.starts_with("//") && line.contains(concat!("unsafe", " fn "))
    });
    let unexplained = functions.filter(|(number, _)| {
        let mut above = code[..*number].iter().rev().take_while(is_of_declaration);
        !above.any(|line| line.contains("# Safety"))
    });
    unexplained
        .map(|(number, _)| {
            format!(
                "{name}:{}: no `# Safety` says what the caller promises",
                number + 1
            )
        })
        .collect()
}

/// Paths of modules in a document, such as `storage::base::log`, that do not exist. `modules` are the paths of all
/// modules with their texts.
fn lost_paths(document: &str, modules: &[(String, String)]) -> Vec<String> {
    let is_name = |part: &str| {
        part.chars()
            .all(|letter| letter.is_ascii_lowercase() || letter == '_')
    };
    let ends_with =
        |module: &str, path: &str| module == path || module.ends_with(&format!("::{path}"));
    let leads_somewhere = |path: &&str| {
        let names: Vec<&str> = path.split("::").take_while(|part| is_name(part)).collect();
        let item = names.last().copied().unwrap_or_default();
        let (all, outer) = (names.join("::"), names[..names.len() - 1].join("::"));
        modules.iter().any(|(module, text)| {
            ends_with(module, &all)
                || ends_with(module, &outer) && text.contains(&format!(" {item}"))
        })
    };
    let quoted = document.split('`').skip(1).step_by(2);
    let paths = quoted.filter(|text| {
        text.contains("::") && text.split("::").next().is_some_and(is_name) && !text.contains(' ')
    });
    paths
        .filter(|path| !leads_somewhere(path))
        .map(str::to_owned)
        .collect()
}

/// The path of the module that a file of `crates/` holds: `storage::base::log`.
fn module_path(file: &str) -> Option<String> {
    let (crate_name, rest) = file.strip_prefix("crates/")?.split_once("/src/")?;
    let parts = rest.trim_end_matches(".rs").split('/');
    let parts = parts.filter(|part| !["mod", "lib", "main"].contains(part));
    Some(
        std::iter::once(crate_name)
            .chain(parts)
            .collect::<Vec<_>>()
            .join("::"),
    )
}

#[cfg(test)]
mod tests {
    use super::{check, lost_paths, module_path};

    #[test]
    fn paths_in_documents_lead_to_modules_or_items_in_them() {
        let file = module_path("crates/storage/src/base/mod.rs").expect("it is a module");
        let modules = [(file, "pub fn open() {}".to_owned())];
        let lost = |text: &str| lost_paths(text, &modules);
        assert!(
            lost("`storage::base`, `base::open()` and `storage::base::Table`; `a b::c`").is_empty()
        );
        assert_eq!(lost("`storage::log`"), ["storage::log"]);
    }

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
            (
                "crates/types/src/a.rs",
                concat!("//! A.\n/// Rows, at most so ", "many."),
                1,
            ),
            ("crates/cli/src/a.rs", "//! A.\nprintln!(\"x\");", 0),
            ("crates/types/src/a.rs", "//! A.\nuse std::fs;", 1),
            ("crates/memory/src/a.rs", "//! A.\nuse std::fs;", 0),
            ("crates/exec/src/a.rs", "//! A.\nunsafe { f() }", 1),
            ("crates/storage/src/a.rs", "//! A.\nunsafe { f() }", 0),
            ("python/src/running.rs", "//! A.\nunsafe { f() }", 0),
            ("python/src/cursor.rs", "//! A.\nunsafe { f() }", 1),
            ("crates/storage/src/a.rs", "//! A.\n\nunsafe fn f() {}", 1),
            (
                "crates/storage/src/a.rs",
                "//! A.\n\n/// # Safety\n/// `f` is called once.\n#[inline]\nunsafe fn f() {}",
                0,
            ),
            ("crates/plan/src/tree/a.rs", "//! A.\nx: Cell<u8>,", 1),
            ("crates/plan/src/rules/a.rs", "//! A.\nx: Cell<u8>,", 0),
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
