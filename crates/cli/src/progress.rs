//! The progress of a statement: a bar on standard error while it runs, if it runs long enough.

use std::sync::mpsc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mayfly_engine::ProgressHandle;

/// Time after which a statement gets a progress bar.
const PROGRESS_BAR_AFTER: Duration = Duration::from_millis(500);

/// The style of a bar where the end is known, of a count where it is not.
fn progress_style(is_bounded: bool) -> ProgressStyle {
    let template = if is_bounded {
        "{msg}{spinner} [{elapsed}] {wide_bar} {human_pos}/{human_len} rows read"
    } else {
        "{msg}{spinner} [{elapsed}] {human_pos} rows read"
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A progress bar on standard error, drawn by a separate thread until this is dropped.
pub(crate) struct Progress {
    ended: mpsc::Sender<()>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Progress {
    /// The progress of the statement that a session runs next, perhaps with the name of a file.
    pub(crate) fn watch(handle: ProgressHandle, name: Option<&str>) -> Self {
        let (ended, wait) = mpsc::channel();
        let message = name.map_or(String::new(), |name| format!("{name} "));
        let thread = std::thread::spawn(move || {
            if wait.recv_timeout(PROGRESS_BAR_AFTER) != Err(mpsc::RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
            bar.set_message(message);
            let mut is_bounded = None;
            while wait.recv_timeout(Duration::from_millis(100))
                == Err(mpsc::RecvTimeoutError::Timeout)
            {
                let (read, expected) = (handle.rows_read(), handle.rows_expected());
                if is_bounded != Some(expected > 0) {
                    is_bounded = Some(expected > 0);
                    bar.set_style(progress_style(expected > 0));
                }
                bar.set_length(expected.max(read));
                bar.set_position(read);
                bar.tick();
            }
            bar.finish_and_clear();
        });
        Self {
            ended,
            thread: Some(thread),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        // The thread may have ended already; both outcomes are fine.
        let _ = self.ended.send(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
