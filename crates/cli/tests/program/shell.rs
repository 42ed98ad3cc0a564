//! The interactive shell on its own terminal: no typed or pasted input is lost, whatever statement runs. `setsid` gives
//! the shell the terminal on which Ctrl-C is typed.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// Greatest time of any step.
const PATIENCE: Duration = Duration::from_secs(300);
/// The rows of a large paste.
const ROWS: u64 = 10_000;

/// Output shown by a terminal, and whether it is closed.
#[derive(Default)]
struct Screen {
    shown: Mutex<(String, bool)>,
    changed: Condvar,
}

/// A shell on a terminal, and the terminal's other end.
pub(super) struct Shell {
    process: Child,
    terminal: File,
    screen: Arc<Screen>,
    /// Number of bytes shown that were expected already.
    seen: usize,
}

impl Shell {
    fn start(home: &Path) -> Self {
        Self::start_with(home, &[])
    }

    /// A shell with these arguments.
    pub(super) fn start_with(home: &Path, arguments: &[&str]) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let size = Winsize {
            ws_row: 24,
            ws_col: 200,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&terminal, size).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let open = || {
            let path = name.to_str().unwrap();
            Stdio::from(File::options().read(true).write(true).open(path).unwrap())
        };
        let process = Command::new("setsid")
            .args(["--ctty", env!("CARGO_BIN_EXE_mayfly")])
            .args(arguments)
            .current_dir(home)
            .env("HOME", home)
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .env_remove("VISUAL")
            .env("EDITOR", "sed -i s/before/after/")
            .stdin(open())
            .stdout(open())
            .stderr(open())
            .spawn()
            .unwrap();
        let terminal = File::from(terminal);
        let screen = Arc::new(Screen::default());
        let (mut output, watched) = (terminal.try_clone().unwrap(), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut bytes = [0; 1 << 16];
            // The end of a terminal whose other end is closed is an error.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]);
                watched.shown.lock().unwrap().0.push_str(&text);
                watched.changed.notify_all();
            }
            watched.shown.lock().unwrap().1 = true;
            watched.changed.notify_all();
        });
        Self {
            process,
            terminal,
            screen,
            seen: 0,
        }
    }

    /// Types a text, as fast as the terminal takes it.
    pub(super) fn send(&mut self, text: &str) {
        self.terminal.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until a text is shown behind the last expected one, and returns the output before it.
    pub(super) fn expect(&mut self, text: &str) -> String {
        let shown = self.screen.shown.lock().unwrap();
        let seen = self.seen;
        let is_missing = |shown: &mut (String, bool)| !shown.1 && !shown.0[seen..].contains(text);
        let waited = self
            .screen
            .changed
            .wait_timeout_while(shown, PATIENCE, is_missing);
        let (shown, _) = waited.unwrap();
        let rest = &shown.0[seen..];
        let Some(at) = rest.find(text) else {
            let end: String = rest.chars().rev().take(2000).collect();
            panic!(
                "no {text:?} at the end of {:?}",
                end.chars().rev().collect::<String>()
            );
        };
        self.seen += at + text.len();
        rest[..at].to_owned()
    }

    pub(super) fn ends(mut self) {
        self.send("exit\r");
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // The process has ended, unless the test has failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn inserts() -> String {
    let mut text = String::new();
    for row in 0..ROWS {
        let _ = write!(
            text,
            "INSERT INTO pasted VALUES ({row}, 'some text\tfor line {row}');\r"
        );
    }
    text
}

/// Checks the pasted rows, as the shell counts them.
fn assert_rows(shell: &mut Shell) {
    shell.send("SELECT CONCAT('rows=', COUNT(*), ' sum=', SUM(i), ' tabs=', SUM(s LIKE '%\\t%')) r FROM pasted;\r");
    shell.expect(&format!(
        "rows={ROWS} sum={} tabs={ROWS}",
        ROWS * (ROWS - 1) / 2
    ));
}

const CREATE: &str = "CREATE TABLE pasted (i INT, s VARCHAR(60));\r";

/// While the first statement runs, the terminal's buffer is full.
#[test]
fn a_paste_that_looks_typed() {
    let home = tempfile::tempdir().unwrap();
    let mut shell = Shell::start(home.path());
    shell.expect("mayfly> ");
    let text = format!("{CREATE}SELECT SLEEP(1);\r{}", inserts());
    shell.send(&text);
    assert_rows(&mut shell);
    shell.ends();
}

#[test]
fn a_bracketed_paste() {
    let home = tempfile::tempdir().unwrap();
    let mut shell = Shell::start(home.path());
    shell.expect("mayfly> ");
    let text = format!("\x1b[200~{CREATE}{}\x1b[201~\r", inserts());
    shell.send(&text);
    assert_rows(&mut shell);
    shell.ends();
}

/// One statement of as many lines, as if it were typed, with tabs and a text of several lines, and a command behind it.
#[test]
fn a_long_statement() {
    let home = tempfile::tempdir().unwrap();
    let mut shell = Shell::start(home.path());
    shell.expect("mayfly> ");
    let mut text = format!("{CREATE}use test\rINSERT INTO pasted\rVALUES\r");
    for row in 1..ROWS {
        let _ = write!(text, "\t({row}, 'a\tb'),\r");
    }
    text.push_str("(0, 'a\rb\tc');\r");
    shell.send(&text);
    assert_rows(&mut shell);
    shell.send("SELECT HEX(s) h FROM pasted WHERE i = 0;\r");
    shell.expect("610A620963");
    shell.ends();
}

/// Words are completed, statements of several lines are edited and found again, and Ctrl-C ends what runs.
#[test]
fn typing() {
    let home = tempfile::tempdir().unwrap();
    let mut shell = Shell::start(home.path());
    let pause = || std::thread::sleep(Duration::from_millis(50));
    shell.expect("mayfly> ");
    shell.send("CREATE TABLE completed (first_column INT, second_column INT);\r");
    shell.expect("Query OK");
    shell.expect("mayfly> ");
    // A user presses Tab and Enter a moment after the last character.
    shell.send("SELECT COUNT(first_c");
    pause();
    shell.send("\t");
    shell.expect("first_column ");
    shell.send(") n");
    pause();
    shell.send("\r");
    shell.expect("     -> ");
    shell.send("FROM compl");
    pause();
    shell.send("\t");
    shell.expect("completed ");
    // Up to the first line, and a column more there.
    shell.send("\x1b[A\x1b[F, 41 + 1 m\x1b[B\x1b[F;");
    pause();
    shell.send("\r");
    shell.expect("| n | m  |");
    shell.expect("mayfly> ");
    // Ctrl-R finds it again, with all of its lines.
    shell.send("\x12first_col");
    shell.expect(" completed ;");
    pause();
    shell.send("\r");
    shell.expect("| n | m  |");
    shell.expect("mayfly> ");
    // Ctrl-C discards the input, and so does `\c`.
    shell.send("SELECT 1 FROM nosuch\x03");
    shell.expect("mayfly> ");
    shell.send("SELECT 2 FROM nosuch \\c\r");
    shell.expect("mayfly> ");
    shell.send("SELECT COUNT(*) FROM information_schema.COLUMNS a, information_schema.COLUMNS b, information_schema.COLUMNS c WHERE CONCAT(a.TABLE_NAME, b.TABLE_NAME, c.TABLE_NAME) = 'x';\r");
    // The statement runs when the bar is there.
    shell.expect("rows read");
    shell.send("\x03");
    shell.expect("interrupted");
    shell.expect("mayfly> ");
    shell.send("SELECT 6 * 7 answer;\r");
    shell.expect("|     42 |");
    shell.ends();
    let history = std::fs::read_to_string(home.path().join(".mayfly_history")).unwrap();
    assert!(history.contains("SELECT 6 * 7 answer;\n"), "{history}");
    assert!(history.contains("completed ;\n"), "{history}");
}

/// A statement that fails does not keep those behind it from running.
#[test]
fn errors_in_a_paste() {
    let home = tempfile::tempdir().unwrap();
    let mut shell = Shell::start(home.path());
    shell.expect("mayfly> ");
    shell.send("\x1b[200~SELECT nosuch;\rSELECT 6 * 7 answer;\rsource nosuch.sql\rSELECT 7 * 7 square\\G\x1b[201~\r");
    shell.expect("ERROR 1054");
    shell.expect("|     42 |");
    shell.expect("nosuch.sql: ");
    shell.expect("square: 49");
    shell.ends();
}

/// The terminal is line by line again behind a shell that was ended, at its prompt or by a signal.
#[test]
fn the_terminal_is_given_back() {
    for is_killed in [false, true] {
        let home = tempfile::tempdir().unwrap();
        let mut shell = Shell::start(home.path());
        // The other end of a terminal has its own modes.
        let modes = |shell: &Shell| tcgetattr(&shell.terminal).unwrap().local_modes;
        let lines = LocalModes::ICANON | LocalModes::ECHO;
        shell.expect("mayfly> ");
        assert!(!modes(&shell).intersects(lines));
        if is_killed {
            let process = Pid::from_child(&shell.process);
            kill_process(process, Signal::TERM).unwrap();
        } else {
            shell.send("\x04");
        }
        let status = shell.process.wait().unwrap();
        assert_eq!(status.success(), !is_killed);
        assert!(modes(&shell).contains(lines));
    }
}

/// A shell at its prompt.
fn at_prompt(home: &Path) -> Shell {
    let mut shell = Shell::start(home);
    shell.expect("mayfly> ");
    shell
}

/// Sends a line, and returns what is shown until a text of its answer.
pub(super) fn answer(shell: &mut Shell, line: &str, expected: &str) -> String {
    shell.send(&format!("{line}\r"));
    let shown = shell.expect(expected);
    shell.expect("mayfly> ");
    shown
}

#[test]
fn commands_of_the_shell() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name).display().to_string();
    let mut shell = at_prompt(home.path());
    let shell = &mut shell;
    answer(
        shell,
        "CREATE TABLE sales (town VARCHAR(20), amount DECIMAL(9,2), KEY (town));",
        "Query OK",
    );
    answer(
        shell,
        "INSERT INTO sales VALUES ('Bonn', 2.5), ('Ulm', 10);",
        "2 rows affected",
    );
    answer(shell, "\\d", "| sales");
    let described = answer(shell, "\\d sales", "| sales |");
    assert!(described.contains("decimal(9,2)"), "{described}");
    answer(shell, "\\s", "current user: ");
    answer(shell, "\\! echo $((6 * 7)); echo done", "42\r\ndone");
    answer(shell, "\\timing off", "\n");
    let untimed = answer(shell, "SELECT 1;", "1 row in set");
    assert!(!untimed.contains(" sec)"));
    answer(shell, "\\timing on", "\n");
    answer(shell, "SELECT 1;", "1 row in set (0.");
    for (format, expected) in [
        ("csv", "Bonn,2.50"),
        ("jsonl", "{\"town\": \"Bonn\", \"amount\": 2.50}"),
        ("markdown", "| Bonn | 2.50 |"),
        ("html", "<TD>Bonn</TD><TD>2.50</TD>"),
        ("vertical", "town: Bonn"),
    ] {
        answer(shell, &format!("\\format {format}"), "\n");
        answer(shell, "SELECT * FROM sales;", expected);
    }
    answer(
        shell,
        "\\format nosuch",
        "there is no format nosuch; there are table, vertical",
    );
    answer(shell, "\\format table", "\n");
    answer(shell, "SELECT * FROM sales;", "| Ulm  |  10.00 |");
    answer(shell, "\\plot", "Ulm");
    answer(shell, &format!("\\plot {}", path("plot.svg")), "\n");
    assert!(
        std::fs::read_to_string(path("plot.svg"))
            .unwrap()
            .contains("Bonn")
    );
    answer(shell, &format!("\\tee {}", path("copy.txt")), "\n");
    answer(shell, "SELECT 'copied' c;", "| copied |");
    answer(shell, "\\notee", "\n");
    answer(shell, "SELECT 'later' c;", "| later |");
    let copy = std::fs::read_to_string(path("copy.txt")).unwrap();
    assert!(
        copy.contains("| copied |\n") && copy.contains("1 row in set") && !copy.contains("later"),
        "{copy}"
    );
    answer(shell, "\\pager tr a-z A-Z", "PAGER set to");
    answer(shell, "SELECT 'through' c;", "| THROUGH |");
    answer(shell, "\\nopager", "\n");
    answer(shell, "SELECT 'through' c;", "| through |");
    // A script runs no programs.
    std::fs::write(path("script.sql"), "\\! echo $((6 * 7))\n").unwrap();
    answer(
        shell,
        &format!("source {}", path("script.sql")),
        "this command is for the interactive shell",
    );
}

#[test]
fn an_editor_changes_the_last_statement() {
    let home = tempfile::tempdir().unwrap();
    let mut shell = at_prompt(home.path());
    answer(&mut shell, "\\! true", "\n");
    answer(&mut shell, "SELECT 'before' c;", "| before |");
    answer(&mut shell, "\\e", "| after |");
}

#[test]
fn large_results_and_errors() {
    let home = tempfile::tempdir().unwrap();
    let mut shell = at_prompt(home.path());
    let shell = &mut shell;
    let numbers = "WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i FROM n;";
    let shown = answer(
        shell,
        numbers,
        "The first 1000 of 2000 rows; \\maxrows 0 shows all.",
    );
    assert!(shown.contains("| 1000 |") && !shown.contains("| 1001 |"));
    answer(shell, "\\maxrows 0", "\n");
    answer(shell, numbers, "| 2000 |");
    let wide = answer(
        shell,
        "SELECT REPEAT('x', 500) a, 'y' b;",
        "Values that end in … are cut",
    );
    let mut rows = wide.lines().filter(|line| line.starts_with(['|', '+']));
    assert!(rows.all(|row| row.chars().count() <= 200), "{wide}");
    answer(shell, "SELECT 'a\\nb' c;", "| a\\nb |");
    answer(shell, "CREATE TABLE sales (amount INT);", "Query OK");
    answer(
        shell,
        "SELECT amuont FROM sales;",
        "       ^ did you mean amount?",
    );
    answer(
        shell,
        "SELECT grup_concat(amount) FROM sales;",
        "did you mean group_concat?",
    );
    answer(
        shell,
        "SELECT amount FROM FROM sales;",
        "\n                     ^",
    );
}
