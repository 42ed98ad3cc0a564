//! Configuration of instrumentation: performance_schema's `setup_consumers` and `setup_instruments`.
//!
//! Each switch is an atomic that a statement reads when it ends. Whether stages are timed, which costs a running
//! statement some time, depends on several switches and is cached as one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use mayfly_types::Stage;

use crate::status::{COUNTERS, Counter};

/// Consumer of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Consumer {
    StagesCurrent,
    StagesHistory,
    StagesHistoryLong,
    StatementsCurrent,
    StatementsHistory,
    StatementsHistoryLong,
    GlobalInstrumentation,
    ThreadInstrumentation,
    StatementsDigest,
}

/// Every consumer with its name and its initial state, in the order of `setup_consumers`.
pub(crate) const CONSUMERS: &[(Consumer, &str, bool)] = &[
    (Consumer::StagesCurrent, "events_stages_current", false),
    (Consumer::StagesHistory, "events_stages_history", false),
    (
        Consumer::StagesHistoryLong,
        "events_stages_history_long",
        false,
    ),
    (
        Consumer::StatementsCurrent,
        "events_statements_current",
        true,
    ),
    (
        Consumer::StatementsHistory,
        "events_statements_history",
        true,
    ),
    (
        Consumer::StatementsHistoryLong,
        "events_statements_history_long",
        false,
    ),
    (
        Consumer::GlobalInstrumentation,
        "global_instrumentation",
        true,
    ),
    (
        Consumer::ThreadInstrumentation,
        "thread_instrumentation",
        true,
    ),
    (Consumer::StatementsDigest, "statements_digest", true),
];

const WORDS: usize = (COUNTERS.len() + Stage::ALL.len()).div_ceil(64);

/// Producer of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instrument {
    /// Statements of a kind, by its counter.
    Statement(Counter),
    /// A stage.
    Stage(Stage),
}

impl Instrument {
    #[inline]
    fn position(self) -> usize {
        match self {
            Self::Statement(counter) => counter as usize,
            Self::Stage(stage) => COUNTERS.len() + stage as usize,
        }
    }

    /// All instruments: the kinds of statements are those of `Com_…`.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let statements = COUNTERS.iter().filter(|(_, name)| name.starts_with("Com_"));
        let statements = statements.map(|(counter, _)| Self::Statement(*counter));
        let stages = Stage::ALL.iter().map(|stage| Self::Stage(*stage));
        stages.chain(statements)
    }

    /// Its name in `setup_instruments`.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Statement(counter) => event_name(Some(counter)),
            Self::Stage(stage) => stage_event_name(stage),
        }
    }
}

/// The event name of a kind of statements; `command` is `None` for texts with a syntax error.
pub(crate) fn event_name(command: Option<Counter>) -> String {
    let name = command.map(|counter| COUNTERS[counter as usize].1);
    let kind = name.and_then(|name| name.strip_prefix("Com_"));
    format!("statement/sql/{}", kind.unwrap_or("error"))
}

/// The event name of a stage.
pub(crate) fn stage_event_name(stage: Stage) -> String {
    format!("stage/sql/{}", stage.name())
}

/// The switches of `setup_consumers` and `setup_instruments`.
#[derive(Debug)]
pub(crate) struct Setup {
    consumers: [AtomicBool; CONSUMERS.len()],
    /// A bit for each [`Instrument`].
    instruments: [AtomicU64; WORDS],
    times_stages: AtomicBool,
}

impl Setup {
    /// The initial configuration; empty if nothing is instrumented.
    pub(super) fn new() -> Self {
        let setup = Self {
            consumers: [const { AtomicBool::new(false) }; CONSUMERS.len()],
            instruments: [const { AtomicU64::new(0) }; WORDS],
            times_stages: AtomicBool::new(false),
        };
        for (consumer, _, is_on) in CONSUMERS {
            setup.set_consumer(*consumer, *is_on);
        }
        for instrument in Instrument::all() {
            let is_statement = matches!(instrument, Instrument::Statement(_));
            setup.set_instrument(instrument, is_statement);
        }
        setup
    }

    /// Whether a consumer is on.
    #[inline]
    pub(crate) fn consumes(&self, consumer: Consumer) -> bool {
        self.consumers[consumer as usize].load(Ordering::Relaxed)
    }

    /// Turns a consumer on or off.
    pub(crate) fn set_consumer(&self, consumer: Consumer, is_on: bool) {
        self.consumers[consumer as usize].store(is_on, Ordering::Relaxed);
        self.note_stages();
    }

    /// Whether an instrument is on.
    #[inline]
    pub(crate) fn instruments(&self, instrument: Instrument) -> bool {
        let position = instrument.position();
        let word = &self.instruments[position / 64];
        word.load(Ordering::Relaxed) >> (position % 64) & 1 == 1
    }

    /// Turns an instrument on or off.
    pub(crate) fn set_instrument(&self, instrument: Instrument, is_on: bool) {
        let position = instrument.position();
        let (word, bit) = (&self.instruments[position / 64], 1 << (position % 64));
        if is_on {
            word.fetch_or(bit, Ordering::Relaxed);
        } else {
            word.fetch_and(!bit, Ordering::Relaxed);
        }
        self.note_stages();
    }

    fn note_stages(&self) {
        let mut stages = Stage::ALL.iter();
        let is_any = stages.any(|stage| self.instruments(Instrument::Stage(*stage)));
        let is_on = is_any && self.consumes(Consumer::GlobalInstrumentation);
        self.times_stages.store(is_on, Ordering::Relaxed);
    }

    /// Whether the stages of statements are timed.
    #[inline]
    pub(crate) fn times_stages(&self) -> bool {
        self.times_stages.load(Ordering::Relaxed)
    }

    /// Whether statements of a kind make events.
    #[inline]
    pub(crate) fn sees(&self, command: Option<Counter>) -> bool {
        self.consumes(Consumer::GlobalInstrumentation)
            && command.is_none_or(|counter| self.instruments(Instrument::Statement(counter)))
    }

    /// Whether a consumer keeps events of threads.
    #[inline]
    pub(crate) fn keeps(&self, consumer: Consumer) -> bool {
        self.consumes(Consumer::ThreadInstrumentation) && self.consumes(consumer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_switch_is_one_of_its_own() {
        let setup = Setup::new();
        for (position, (consumer, name, is_on)) in CONSUMERS.iter().enumerate() {
            assert_eq!(
                (*consumer as usize, setup.consumes(*consumer)),
                (position, *is_on),
                "{name}"
            );
        }
        let mut names: Vec<String> = Instrument::all().map(Instrument::name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(setup.sees(Some(Counter::ComSelect)) && !setup.times_stages());
        setup.set_instrument(Instrument::Statement(Counter::ComSelect), false);
        assert!(!setup.sees(Some(Counter::ComSelect)) && setup.sees(Some(Counter::ComInsert)));
        setup.set_instrument(Instrument::Stage(Stage::SortingResult), true);
        assert!(setup.times_stages() && !setup.instruments(Instrument::Stage(Stage::Executing)));
        setup.set_consumer(Consumer::GlobalInstrumentation, false);
        assert!(!setup.times_stages() && !setup.sees(None));
    }
}
