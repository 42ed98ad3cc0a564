//! The mode of the terminal between two prompts.
//!
//! The editor restores the terminal's mode after each line. The usual canonical mode would change input that arrives
//! while a statement runs: characters that end or erase lines are interpreted, and input beyond a few KiB may be
//! dropped. In the mode that is set here bytes stay as they are, and a full buffer makes the sender wait (termios(3),
//! non-canonical mode). Ctrl-C still ends the statement.

use rustix::termios::{InputModes, LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGTERM};
use signal_hook::iterator::Signals;

/// Terminals that the editor reads line by line.
const LINE_BY_LINE: [&str; 3] = ["dumb", "cons25", "emacs"];

/// The terminal's mode for the shell; dropping it restores the previous mode.
#[derive(Debug)]
pub(super) struct TerminalMode {
    before: Termios,
    between: Termios,
}

impl TerminalMode {
    /// Sets the mode; `None` where it cannot be set, or is not wanted.
    pub(super) fn set() -> Option<Self> {
        let terminal = std::env::var("TERM").unwrap_or_default();
        if LINE_BY_LINE.contains(&terminal.to_ascii_lowercase().as_str()) {
            return None;
        }
        let before = tcgetattr(std::io::stdin()).ok()?;
        let mut between = before.clone();
        between.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN;
        between.input_modes -= InputModes::ICRNL | InputModes::INLCR | InputModes::IXON;
        restore_when_ended(before.clone());
        let mode = Self { before, between };
        mode.apply();
        Some(mode)
    }

    /// Sets the mode again, since the shell's parent changes it when the shell is stopped and continued.
    pub(super) fn apply(&self) {
        // A terminal that is gone needs no mode.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.between);
    }
}

impl Drop for TerminalMode {
    fn drop(&mut self) {
        // A terminal that is gone needs no mode.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// Restores the terminal when a signal ends the shell.
fn restore_when_ended(before: Termios) {
    let Ok(mut signals) = Signals::new([SIGHUP, SIGTERM]) else {
        return;
    };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            // Ends the bracketed paste mode of the editor; errors of a terminal that is gone are ignored. A running
            // statement may have locked standard output.
            let _ = rustix::io::write(std::io::stdout(), b"\x1b[?2004l");
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &before);
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// Whether there is unread input.
pub(super) fn has_pending_input() -> bool {
    rustix::io::ioctl_fionread(std::io::stdin()).is_ok_and(|bytes| bytes > 0)
}
