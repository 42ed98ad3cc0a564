//! The progress of a script or of a file that is loaded: a bar on standard error, if that is a terminal and the load
//! takes long enough.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Time after which a script gets a bar.
const SHOWN_AFTER: Duration = Duration::from_millis(500);
/// Interval at which the bar's clock advances while a statement runs.
const TICK: Duration = Duration::from_millis(200);

/// The progress bar of a script, removed when it is dropped.
#[derive(Debug)]
pub(crate) struct LoadProgress {
    /// The bar, once it is shown.
    bar: OnceLock<ProgressBar>,
    name: String,
    length: Option<u64>,
    begun: Option<Instant>,
}

impl LoadProgress {
    /// Progress of a script with a name and a length in bytes, where they are known.
    pub(crate) fn of_source(name: Option<&str>, length: Option<u64>) -> Self {
        Self {
            bar: OnceLock::new(),
            name: name.unwrap_or_default().to_owned(),
            length,
            begun: Some(Instant::now()),
        }
    }

    /// Progress without a bar.
    pub(crate) fn hidden() -> Self {
        let mut hidden = Self::of_source(None, None);
        hidden.begun = None;
        hidden
    }

    /// Sets the number of processed bytes.
    pub(crate) fn reached(&self, bytes: u64) {
        match (self.bar.get(), self.begun) {
            (None, Some(begun)) if begun.elapsed() > SHOWN_AFTER => {
                self.bar.get_or_init(|| self.make_bar()).set_position(bytes);
            }
            (Some(bar), _) => bar.set_position(bytes),
            _ => {}
        }
    }

    fn make_bar(&self) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(self.length, ProgressDrawTarget::stderr());
        let template = match self.length {
            Some(_) => {
                "{msg}{spinner} [{elapsed}] {wide_bar} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left"
            }
            None => "{msg}{spinner} [{elapsed}] {bytes}, {bytes_per_sec}",
        };
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        if !self.name.is_empty() {
            bar.set_message(format!("{} ", self.name));
        }
        bar.enable_steady_tick(TICK);
        bar
    }

    /// Whether there is a bar.
    pub(crate) fn is_shown(&self) -> bool {
        self.bar.get().is_some()
    }

    /// Prints something in the place of the bar.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        match self.bar.get() {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

impl Drop for LoadProgress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
