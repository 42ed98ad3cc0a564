//! Support for the suite's checks: address of the server, the common files, and a named check.

use std::fmt::Debug;
use std::path::Path;
use std::sync::LazyLock;

/// Reason why a check failed, or was skipped.
#[derive(Debug)]
pub enum Problem {
    /// The server lacks the feature that the check is about.
    Skip(String),
    /// The check failed.
    Failed(String),
}

impl From<mysql_async::Error> for Problem {
    fn from(error: mysql_async::Error) -> Self {
        Problem::Failed(error.to_string())
    }
}

impl From<&str> for Problem {
    fn from(text: &str) -> Self {
        Problem::Failed(text.to_owned())
    }
}

/// Result of a check.
pub type Outcome = Result<(), Problem>;

/// `mayfly`, `mysql` or `mariadb`.
pub static SERVER: LazyLock<String> = LazyLock::new(|| env("ROUND_SERVER"));

/// A variable of the environment; empty if it is not set.
pub fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// The suite's own database.
pub fn database() -> String {
    env("ROUND_DATABASE")
}

/// A check that failed.
pub fn fail(text: impl Into<String>) -> Outcome {
    Err(Problem::Failed(text.into()))
}

/// Skips the check unless the condition holds.
pub fn needs(condition: bool, reason: &str) -> Outcome {
    if condition { Ok(()) } else { Err(Problem::Skip(reason.into())) }
}

/// Fails unless both are equal.
pub fn equal<T: PartialEq + Debug>(got: T, expected: T, what: &str) -> Outcome {
    if got == expected {
        return Ok(());
    }
    let short = |text: String| text.chars().take(300).collect::<String>();
    fail(format!("{what}: got {}, expected {}", short(format!("{got:?}")), short(format!("{expected:?}"))))
}

/// A common file.
pub fn common(name: &str) -> String {
    std::fs::read_to_string(Path::new(&env("ROUND_COMMON")).join(name)).expect("a common file")
}

/// The statements of a common SQL file.
pub fn statements(name: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for line in common(name).lines().filter(|line| !line.starts_with("--")) {
        let last = all.last_mut().expect("one is there from the start");
        last.push_str(line.strip_suffix(';').unwrap_or(line));
        last.push('\n');
        if line.ends_with(';') {
            all.push(String::new());
        }
    }
    all.retain(|sql| !sql.trim().is_empty());
    all
}

/// The lines of a common file of tab-separated values.
pub fn rows_of(name: &str) -> Vec<Vec<String>> {
    common(name).lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// A value of `common/values.tsv`: `None` for NULL, or its bytes.
pub fn value_of(text: &str) -> Option<Vec<u8>> {
    if text == "\\N" {
        return None;
    }
    if let Some(digits) = text.strip_prefix("0x") {
        let byte = |i| u8::from_str_radix(&digits[i..i + 2], 16).expect("hexadecimal digits");
        return Some((0..digits.len()).step_by(2).map(byte).collect());
    }
    Some(text.replace("\\t", "\t").replace("\\n", "\n").replace("\\\\", "\\").into_bytes())
}

/// Runs checks and counts what fails.
#[derive(Default)]
pub struct Round {
    /// Number of failed checks.
    pub failed: usize,
}

impl Round {
    /// Runs a check and prints its result.
    pub async fn check<F: Future<Output = Outcome>>(&mut self, name: &str, work: impl FnOnce() -> F) {
        if !name.contains(&env("ROUND_CHECK")) {
            return;
        }
        match work().await {
            Ok(()) => println!("ok {name}"),
            Err(Problem::Skip(reason)) => println!("skip {name}: {reason}"),
            Err(Problem::Failed(text)) => {
                self.failed += 1;
                println!("FAIL {name}: {}", text.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
    }
}
