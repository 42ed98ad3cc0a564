//! Scripts of two or three sessions, step by step: results and lock waits.
//!
//! `tests/isolation/*.script`:
//!
//! ```text
//! # What the script shows.
//! a> BEGIN
//! ok
//! a> UPDATE t SET v = 2 WHERE id = 1
//! changed 1
//! b> UPDATE t SET v = 3 WHERE id = 1
//! blocks
//! a> COMMIT
//! ok
//! b<
//! changed 1
//! ```
//!
//! `b> …` gives session `b` a statement, `b<` takes the answer of the one that blocked, and `b.`
//! ends the session. The indented lines below say what comes: `ok`, `changed <rows>`, `no rows`,
//! rows (columns divided by ` | `), `error <number>`, or `blocks`. A statement blocks when no
//! answer comes in a short time. No statement may be given while an answer has come that nobody
//! took, so that the script shows what set a session free.
//!
//! `only mariadb mysql (<slug>)` above a step leaves it out elsewhere; the slug has a row in
//! COMPAT.md. Expected results come from MariaDB, written by [`complete`].

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use sqllogictest::{DB, DBOutput};

use crate::column::ColumnKind;

/// Result of a statement in the form of scripts.
pub type Outcome = Vec<String>;

/// Time without an answer after which a statement counts as blocked.
const BLOCKED_AFTER: Duration = Duration::from_millis(400);

/// Greatest time of an answer that must come; longer than any lock wait of a script.
const PATIENCE: Duration = Duration::from_secs(30);

/// A script.
#[derive(Debug, Clone)]
pub struct Script {
    steps: Vec<Step>,
    /// Comments behind the last step.
    tail: Vec<String>,
}

/// One step of a session.
#[derive(Debug, Clone)]
struct Step {
    /// Comments and empty lines above.
    head: Vec<String>,
    only: Option<Only>,
    line: usize,
    session: String,
    action: Action,
    expected: Outcome,
}

#[derive(Debug, Clone)]
struct Only {
    labels: Vec<String>,
    slug: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Action {
    Run(String),
    Answer,
    End,
}

impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Run(sql) => write!(f, "> {sql}"),
            Self::Answer => f.write_str("<"),
            Self::End => f.write_str("."),
        }
    }
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// A text that names the invalid line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut steps: Vec<Step> = Vec::new();
        let mut head = Vec::new();
        let mut only = None;
        for (index, line) in text.lines().enumerate() {
            let wrong = |what: &str| format!("line {}: {what}: {line}", index + 1);
            if line.is_empty() || line.starts_with('#') {
                head.push(line.to_owned());
            } else if let Some(expected) = line.strip_prefix("  ") {
                let step = steps.last_mut().ok_or_else(|| wrong("no step above"))?;
                step.expected.push(expected.to_owned());
            } else if let Some(rest) = line.strip_prefix("only ") {
                let (labels, slug) = rest
                    .strip_suffix(')')
                    .and_then(|rest| rest.split_once(" ("))
                    .ok_or_else(|| wrong("no (reason)"))?;
                only = Some(Only {
                    labels: labels.split_whitespace().map(str::to_owned).collect(),
                    slug: slug.to_owned(),
                });
            } else {
                let end = line
                    .find(|c: char| !c.is_ascii_alphanumeric())
                    .ok_or_else(|| wrong("no step"))?;
                let (session, rest) = line.split_at(end);
                let action = match rest {
                    "<" => Action::Answer,
                    "." => Action::End,
                    _ => Action::Run(
                        rest.strip_prefix("> ")
                            .ok_or_else(|| wrong("no step"))?
                            .to_owned(),
                    ),
                };
                steps.push(Step {
                    head: std::mem::take(&mut head),
                    only: only.take(),
                    line: index + 1,
                    session: session.to_owned(),
                    action,
                    expected: Vec::new(),
                });
            }
        }
        Ok(Self { steps, tail: head })
    }

    fn write(&self, outcomes: &[Option<Outcome>]) -> String {
        let mut out = String::new();
        for (step, outcome) in self.steps.iter().zip(outcomes) {
            for line in &step.head {
                let _ = writeln!(out, "{line}");
            }
            if let Some(Only { labels, slug }) = &step.only {
                let _ = writeln!(out, "only {} ({slug})", labels.join(" "));
            }
            let _ = writeln!(out, "{}{}", step.session, step.action);
            for line in outcome.as_ref().unwrap_or(&step.expected) {
                let _ = writeln!(out, "  {line}");
            }
        }
        for line in &self.tail {
            let _ = writeln!(out, "{line}");
        }
        out
    }
}

/// Runs `script` on sessions that `connect` opens, which `label` names, and compares each step.
///
/// # Errors The first step with another result than in the script.
pub fn check<D>(
    script: &Script,
    label: &str,
    connect: impl FnMut() -> Result<D, String>,
) -> Result<(), String>
where
    D: DB<ColumnType = ColumnKind> + Send + 'static,
{
    let mut run = Run::new(connect);
    for step in script.steps.iter().filter(|step| step.runs_on(label)) {
        let blocks = step.expected == ["blocks"];
        let time = if blocks { BLOCKED_AFTER } else { PATIENCE };
        let actual = run.step(step, time)?;
        if actual != step.expected {
            return Err(surprise(step, &actual, &run.waiting()));
        }
    }
    run.finish()
}

/// Runs `script` as [`check`] does and returns its text with the actual results.
///
/// # Errors
/// A step that is invalid there: an answer that no session waits for, or one that is not taken.
pub fn complete<D>(
    script: &Script,
    label: &str,
    connect: impl FnMut() -> Result<D, String>,
) -> Result<String, String>
where
    D: DB<ColumnType = ColumnKind> + Send + 'static,
{
    let mut run = Run::new(connect);
    let mut outcomes = Vec::new();
    for step in &script.steps {
        outcomes.push(if step.runs_on(label) {
            let answers = step.action == Action::Answer;
            let time = if answers { PATIENCE } else { BLOCKED_AFTER * 2 };
            Some(run.step(step, time)?)
        } else {
            None
        });
    }
    run.finish()?;
    Ok(script.write(&outcomes))
}

fn surprise(step: &Step, actual: &[String], waiting: &[&str]) -> String {
    let mut text = format!("{}  gives\n", step.show());
    for line in actual {
        let _ = writeln!(text, "    {line}");
    }
    let _ = write!(text, "  while these wait: {waiting:?}");
    text
}

impl Step {
    fn runs_on(&self, label: &str) -> bool {
        let named = |only: &Only| only.labels.iter().any(|name| name == label);
        self.only.as_ref().is_none_or(named)
    }

    fn show(&self) -> String {
        let mut text = format!("line {}: {}{}\n", self.line, self.session, self.action);
        for line in &self.expected {
            let _ = writeln!(text, "    {line}");
        }
        text
    }
}

/// A session on a separate thread, so that a blocked statement does not block the script.
struct Worker {
    statements: Sender<String>,
    answers: Receiver<Outcome>,
    thread: JoinHandle<()>,
    /// Whether a statement has no answer yet.
    waits: bool,
    /// An answer that came before it was asked for.
    early: Option<Outcome>,
}

impl Worker {
    fn new<D>(mut session: D) -> Self
    where
        D: DB<ColumnType = ColumnKind> + Send + 'static,
    {
        let (statements, inbox) = channel::<String>();
        let (outbox, answers) = channel();
        let thread = std::thread::spawn(move || {
            while let Ok(sql) = inbox.recv() {
                let outcome = outcome(&sql, session.run(&sql));
                if outbox.send(outcome).is_err() {
                    break;
                }
            }
            session.shutdown();
        });
        Self {
            statements,
            answers,
            thread,
            waits: false,
            early: None,
        }
    }

    fn answer(&mut self, time: Duration) -> Outcome {
        let answer = match self.early.take() {
            Some(answer) => Ok(answer),
            None => self.answers.recv_timeout(time),
        };
        match answer {
            Ok(outcome) => {
                self.waits = false;
                outcome
            }
            Err(RecvTimeoutError::Timeout) => vec!["blocks".to_owned()],
            Err(RecvTimeoutError::Disconnected) => vec!["panic".to_owned()],
        }
    }

    /// Whether a statement that waited has its answer.
    fn has_answer(&mut self) -> bool {
        if self.waits && self.early.is_none() {
            self.early = self.answers.try_recv().ok();
        }
        self.early.is_some()
    }
}

struct Run<F> {
    connect: F,
    workers: BTreeMap<String, Worker>,
}

impl<D, F> Run<F>
where
    D: DB<ColumnType = ColumnKind> + Send + 'static,
    F: FnMut() -> Result<D, String>,
{
    fn new(connect: F) -> Self {
        Self {
            connect,
            workers: BTreeMap::new(),
        }
    }

    fn step(&mut self, step: &Step, time: Duration) -> Result<Outcome, String> {
        let name = &step.session;
        if step.action != Action::Answer {
            for (other, worker) in &mut self.workers {
                if worker.has_answer() {
                    return Err(format!(
                        "{}  before it, {other} has the answer {:?}",
                        step.show(),
                        worker.early
                    ));
                }
            }
        }
        if let Action::Run(_) = &step.action
            && !self.workers.contains_key(name)
        {
            let session = (self.connect)()?;
            self.workers.insert(name.clone(), Worker::new(session));
        }
        let worker = self.workers.get_mut(name);
        let worker = worker.ok_or_else(|| format!("{}  there is no {name}", step.show()))?;
        match &step.action {
            Action::Run(_) | Action::End if worker.waits => {
                Err(format!("{}  {name} still waits", step.show()))
            }
            Action::Run(sql) => {
                worker.waits = true;
                if worker.statements.send(sql.clone()).is_err() {
                    return Err(format!("{}  {name} has ended", step.show()));
                }
                Ok(worker.answer(time))
            }
            Action::Answer if worker.waits => Ok(worker.answer(time)),
            Action::Answer => Err(format!("{}  {name} waits for nothing", step.show())),
            Action::End => {
                if let Some(Worker {
                    statements, thread, ..
                }) = self.workers.remove(name)
                {
                    drop(statements);
                    thread.join().map_err(|_| format!("{name} panicked"))?;
                }
                Ok(Vec::new())
            }
        }
    }

    fn waiting(&self) -> Vec<&str> {
        let workers = self.workers.iter().filter(|(_, worker)| worker.waits);
        workers.map(|(name, _)| name.as_str()).collect()
    }

    fn finish(&mut self) -> Result<(), String> {
        match self.waiting().as_slice() {
            [] => Ok(()),
            names => Err(format!("at the end, these still wait: {names:?}")),
        }
    }
}

impl<F> Drop for Run<F> {
    /// Ends every session; blocked ones continue when the others end.
    fn drop(&mut self) {
        let workers = std::mem::take(&mut self.workers).into_values();
        let threads: Vec<_> = workers.map(|worker| worker.thread).collect();
        for thread in threads {
            // A panic was reported as an answer already.
            let _ = thread.join();
        }
    }
}

fn outcome<E: std::fmt::Display>(sql: &str, result: Result<DBOutput<ColumnKind>, E>) -> Outcome {
    let first = sql.split_whitespace().next().unwrap_or_default();
    let changes = ["insert", "update", "delete", "replace"];
    match result {
        Ok(DBOutput::StatementComplete(count)) => {
            let shown = changes.iter().any(|word| first.eq_ignore_ascii_case(word));
            vec![if shown {
                format!("changed {count}")
            } else {
                "ok".to_owned()
            }]
        }
        Ok(DBOutput::Rows { rows, .. }) if rows.is_empty() => vec!["no rows".to_owned()],
        Ok(DBOutput::Rows { rows, .. }) => rows.iter().map(|row| row.join(" | ")).collect(),
        Ok(_) => vec!["ok".to_owned()],
        Err(error) => {
            let text = error.to_string();
            let number = text.split_whitespace().nth(1).unwrap_or(&text);
            vec![format!("error {number}")]
        }
    }
}
