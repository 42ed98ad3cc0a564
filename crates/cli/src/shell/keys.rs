//! What Enter and Tab do, which depends on whether they were typed or pasted.
//!
//! A terminal without bracketed paste sends a paste as if it were typed. A person typing means by Tab a completion, and by
//! Enter, in a statement that goes on, one line more of it, so that all of its lines can be edited. A paste means a tab, and
//! each of its lines is taken for itself, so that a paste of any length costs no more than its length.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustyline::{
    Cmd, ConditionalEventHandler, Event, EventContext, EventHandler, KeyCode, KeyEvent, Modifiers,
    RepeatCount,
};

use super::terminal::has_pending_input;
use crate::statements::{Ending, Place, ending};

/// What stands before the first line of a statement.
pub(super) const PROMPT: &str = "mayfly> ";
/// What stands before the others.
pub(super) const CONTINUATION_PROMPT: &str = "     -> ";
/// What the lines of a statement begin with that were typed behind its first one; it is shown as the prompt.
pub(super) const INDENTATION: &str = "        ";

/// Nobody types two characters within this time.
const TYPING_TIME: Duration = Duration::from_millis(15);

/// What is known of the text that is being typed.
#[derive(Debug)]
pub(super) struct Typing {
    begun: Instant,
    /// When the last character was typed, in microseconds since then.
    last: AtomicU64,
    /// Lines of the statement were taken already.
    is_within: AtomicBool,
    delimiter: Mutex<Vec<u8>>,
}

impl Typing {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            begun: Instant::now(),
            last: AtomicU64::new(0),
            is_within: AtomicBool::new(false),
            delimiter: Mutex::new(Vec::new()),
        })
    }

    /// A line is asked for at a place of the text.
    pub(super) fn ask(&self, place: Place<'_>) {
        self.is_within.store(place.is_within, Ordering::Relaxed);
        let mut delimiter = self
            .delimiter
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if *delimiter != place.delimiter {
            *delimiter = place.delimiter.to_vec();
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// A character was typed.
    pub(super) fn typed(&self) {
        self.last.store(self.now(), Ordering::Relaxed);
    }

    /// Whether what is typed comes from no person.
    fn is_pasted(&self) -> bool {
        let passed = self.now().saturating_sub(self.last.load(Ordering::Relaxed));
        u128::from(passed) < TYPING_TIME.as_micros() || has_pending_input()
    }

    /// The keys, and what they do.
    pub(super) fn bindings(self: &Arc<Self>) -> [(KeyEvent, EventHandler); 4] {
        let enter = || EventHandler::Conditional(Box::new(Enter(Arc::clone(self))));
        let control = |key| KeyEvent(KeyCode::Char(key), Modifiers::CTRL);
        let tab = EventHandler::Conditional(Box::new(Tab(Arc::clone(self))));
        [
            (KeyEvent(KeyCode::Enter, Modifiers::NONE), enter()),
            (control('J'), enter()),
            (control('M'), enter()),
            (KeyEvent(KeyCode::Tab, Modifiers::NONE), tab),
        ]
    }
}

/// Enter: takes the text, or adds a line to it.
struct Enter(Arc<Typing>);

impl ConditionalEventHandler for Enter {
    fn handle(
        &self,
        _: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let typing = &self.0;
        if typing.is_within.load(Ordering::Relaxed) || typing.is_pasted() {
            return Some(Cmd::AcceptLine);
        }
        let delimiter = typing
            .delimiter
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Some(match ending(context.line(), &delimiter) {
            Ending::Complete => Cmd::AcceptLine,
            Ending::Statement => Cmd::Insert(1, format!("\n{INDENTATION}")),
            // Blanks would be a part of the quoted text.
            Ending::Quoted => Cmd::Insert(1, "\n".to_owned()),
        })
    }
}

/// Tab: completes the word before the cursor; in a paste, and behind no word, it is a tab.
struct Tab(Arc<Typing>);

impl ConditionalEventHandler for Tab {
    fn handle(
        &self,
        _: &Event,
        count: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let before = context.line().get(..context.pos()).unwrap_or_default();
        let is_behind_word = before.chars().next_back().is_some_and(is_word);
        let is_tab = !is_behind_word || self.0.is_pasted();
        self.0.typed();
        // SelfInsert would be taken for a repetition of what was inserted last.
        is_tab.then(|| Cmd::Insert(count, "\t".to_owned()))
    }
}

/// Whether a character may be in a word that is completed.
pub(super) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}
