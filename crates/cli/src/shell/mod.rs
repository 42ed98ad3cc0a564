//! The interactive shell: line editing, history, completion, and Ctrl-C that ends the statement
//! and not the shell.

mod completer;
mod history;
mod prompt;

use std::process::ExitCode;

use mayfly_engine::Session;
use reedline::{
    ColumnarMenu, Emacs, KeyCode, KeyModifiers, MenuBuilder, Reedline, ReedlineEvent, ReedlineMenu,
    Signal, ValidationResult, Validator, default_emacs_keybindings,
};

use crate::options::Options;
use crate::run::{Runner, Source, kill_on_interrupt};
use crate::statements;
use completer::{Names, WordCompleter};
use history::PrivateHistory;
use prompt::MayflyPrompt;

const MENU: &str = "completion";

const HELP: &str = "\
Statements end with ; or \\g, or with \\G to show a line per column.
  \\h, help      this text
  \\q, exit      end the shell (also Ctrl-D)
  \\c            forget what was typed (also Ctrl-C)
  \\. FILE       run the statements of a file (also: source FILE)
Tab completes keywords, tables and columns. Ctrl-C during a statement ends the statement.
Temporary tables of running statements: SHOW TEMPORARY TABLES;";

/// Reads and runs statements until the user leaves.
pub(crate) fn interactive(mut session: Session, options: &Options) -> Result<ExitCode, String> {
    kill_on_interrupt(session.kill_handle())?;
    let names = Names::default();
    names.refresh(&mut session);
    let mut editor = editor(&names);
    let mut runner = Runner::interactive(options);
    println!("Mayfly {}. Type \\h for help.\n", env!("CARGO_PKG_VERSION"));
    loop {
        let line = match editor.read_line(&MayflyPrompt) {
            Ok(Signal::Success(line)) => line,
            Ok(Signal::CtrlD) => return Ok(ExitCode::SUCCESS),
            Ok(_) => continue,
            Err(error) => return Err(format!("terminal: {error}")),
        };
        match command(&line) {
            Some(ShellCommand::Quit) => return Ok(ExitCode::SUCCESS),
            Some(ShellCommand::Help) => println!("{HELP}\n"),
            Some(ShellCommand::Clear) => {}
            Some(ShellCommand::Source(path)) => {
                if let Err(error) = runner.file(&mut session, path) {
                    eprintln!("{error}");
                }
            }
            None => {
                let ran = runner.script(&mut session, line.as_bytes(), &Source::default());
                ran.map_err(|error| error.to_string())?;
            }
        }
        names.refresh(&mut session);
    }
}

enum ShellCommand<'l> {
    Quit,
    Help,
    Clear,
    Source(&'l str),
}

fn command(line: &str) -> Option<ShellCommand<'_>> {
    let line = line.trim();
    let word = line.trim_end_matches(';').trim_end();
    if word.ends_with("\\c") {
        return Some(ShellCommand::Clear);
    }
    match word.to_ascii_lowercase().as_str() {
        "\\q" | "exit" | "quit" => return Some(ShellCommand::Quit),
        "\\h" | "\\?" | "?" | "help" => return Some(ShellCommand::Help),
        _ => {}
    }
    let file = word.strip_prefix("\\.").or_else(|| {
        let (first, rest) = word.split_once(char::is_whitespace)?;
        first.eq_ignore_ascii_case("source").then_some(rest)
    })?;
    Some(ShellCommand::Source(file.trim()))
}

/// Enter ends the input once it is a command or its last statement is complete.
struct StatementValidator;

impl Validator for StatementValidator {
    fn validate(&self, line: &str) -> ValidationResult {
        if command(line).is_some() || statements::is_complete(line) {
            ValidationResult::Complete
        } else {
            ValidationResult::Incomplete
        }
    }
}

fn editor(names: &Names) -> Reedline {
    let mut keybindings = default_emacs_keybindings();
    keybindings.add_binding(
        KeyModifiers::NONE,
        KeyCode::Tab,
        ReedlineEvent::UntilFound(vec![
            ReedlineEvent::Menu(MENU.to_owned()),
            ReedlineEvent::MenuNext,
        ]),
    );
    let menu = ReedlineMenu::EngineCompleter(Box::new(ColumnarMenu::default().with_name(MENU)));
    let editor = Reedline::create()
        .with_validator(Box::new(StatementValidator))
        .with_completer(Box::new(WordCompleter::new(names.clone())))
        .with_menu(menu)
        .with_edit_mode(Box::new(Emacs::new(keybindings)));
    match history() {
        Some(history) => editor.with_history(Box::new(history)),
        None => editor,
    }
}

/// The history file in the user's home; without one, history lives as long as the shell.
fn history() -> Option<PrivateHistory> {
    let home = std::env::var_os("HOME")?;
    let path = std::path::PathBuf::from(home).join(".mayfly_history");
    PrivateHistory::open(&path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands() {
        assert!(matches!(command("\\q"), Some(ShellCommand::Quit)));
        assert!(matches!(command("EXIT;"), Some(ShellCommand::Quit)));
        assert!(matches!(command("select 1 \\c"), Some(ShellCommand::Clear)));
        assert!(matches!(
            command("source a b.sql"),
            Some(ShellCommand::Source("a b.sql"))
        ));
        assert!(matches!(
            command("\\. x.sql;"),
            Some(ShellCommand::Source("x.sql"))
        ));
        assert!(command("select 1;").is_none());
    }
}
