//! Actions of Enter and Tab, which depend on whether the keys were typed or pasted.
//!
//! A terminal without bracketed paste sends a paste as if it were typed. When typed, Tab completes a word, and Enter in
//! an unfinished statement adds a line to it, so that all of its lines can be edited. When pasted, Tab is a tab
//! character, and each line is taken separately, so that the cost of a paste is linear in its length.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustyline::{
    Cmd, ConditionalEventHandler, Event, EventContext, EventHandler, KeyCode, KeyEvent, Modifiers,
    RepeatCount,
};

use super::terminal::has_pending_input;
use crate::statements::{Ending, Place, ending};

/// Prompt of the first line of a statement.
pub(super) const PROMPT: &str = "mayfly> ";
/// Prompt of the other lines.
pub(super) const CONTINUATION_PROMPT: &str = "     -> ";
/// Beginning of the typed continuation lines of a statement; it is displayed as the prompt.
pub(super) const INDENTATION: &str = "        ";

/// Least time between two typed characters.
const TYPING_TIME: Duration = Duration::from_millis(15);

/// State of the text that is being typed.
#[derive(Debug)]
pub(super) struct Typing {
    begun: Instant,
    /// Time of the last character, in microseconds since the start.
    last: AtomicU64,
    /// Whether lines of the statement were taken already.
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

    /// Notes that a line is requested at a place of the text.
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

    /// Whether the input comes from a paste.
    fn is_pasted(&self) -> bool {
        let passed = self.now().saturating_sub(self.last.load(Ordering::Relaxed));
        u128::from(passed) < TYPING_TIME.as_micros() || has_pending_input()
    }

    /// The key bindings.
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

/// Action of Enter: takes the text, or adds a line to it.
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

/// Action of Tab: completes the word before the cursor; in a paste, and without a word, it inserts a tab.
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
        let is_tab = !is_behind_word && quoted_path(before).is_none() || self.0.is_pasted();
        self.0.typed();
        // SelfInsert would be taken for a repetition of the last insertion.
        is_tab.then(|| Cmd::Insert(count, "\t".to_owned()))
    }
}

/// The text behind the quote of a text that is still open, if it may be a path.
pub(super) fn quoted_path(before: &str) -> Option<&str> {
    let mut open: Option<usize> = None;
    for (at, character) in before.char_indices() {
        if character == '\'' {
            open = match open {
                None => Some(at + 1),
                Some(_) => None,
            };
        }
    }
    let path = before.get(open?..)?;
    (!path.contains(char::is_whitespace)).then_some(path)
}

/// Whether a character may be in a word that is completed.
pub(super) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}
