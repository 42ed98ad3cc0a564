//! Profiles of a session's last statements: SHOW PROFILE, `profiling` and `profiling_history_size`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use mayfly_types::stage::StageSpan;

/// The profile of a statement.
#[derive(Debug)]
pub(crate) struct Profile {
    /// Number of the profile, from 1 in each session.
    pub(crate) id: u64,
    pub(crate) text: Arc<str>,
    pub(crate) stages: Vec<StageSpan>,
}

impl Profile {
    /// The duration of the statement.
    pub(crate) fn duration(&self) -> Duration {
        self.stages.iter().map(|span| span.duration).sum()
    }
}

/// Profiles of a session's last statements.
#[derive(Debug, Default)]
pub(crate) struct SessionProfiles {
    last_id: u64,
    kept: VecDeque<Arc<Profile>>,
    /// Whether the running statement shows profiles, and so gets none.
    pub(crate) is_discarded: bool,
}

impl SessionProfiles {
    /// Bytes of a statement's text that a profile keeps.
    const TEXT_BYTES: usize = 300;

    /// Adds the profile of a statement that has ended, within `profiling_history_size`.
    pub(super) fn add(&mut self, text: &Arc<str>, stages: Vec<StageSpan>, most: usize) {
        if std::mem::take(&mut self.is_discarded) {
            return;
        }
        self.last_id += 1;
        let kept = text.floor_char_boundary(Self::TEXT_BYTES.min(text.len()));
        let text = if text.len() == kept {
            Arc::clone(text)
        } else {
            Arc::from(&text[..kept])
        };
        let id = self.last_id;
        self.kept.push_back(Arc::new(Profile { id, text, stages }));
        self.keep(most);
    }

    /// Drops the oldest profiles beyond `most`.
    fn keep(&mut self, most: usize) {
        let surplus = self.kept.len().saturating_sub(most);
        self.kept.drain(..surplus);
    }

    /// The last profiles, at most `most`, the oldest first.
    pub(crate) fn last(&self, most: usize) -> impl Iterator<Item = &Arc<Profile>> {
        self.kept.iter().skip(self.kept.len().saturating_sub(most))
    }

    /// The number of the last profile.
    pub(crate) fn last_id(&self) -> u64 {
        self.last_id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_statements_are_kept_but_for_those_that_show_profiles() {
        let mut profiles = SessionProfiles::default();
        for text in ["a", "b", "c"] {
            profiles.add(&Arc::from(text), Vec::new(), 2);
        }
        profiles.is_discarded = true;
        profiles.add(&Arc::from("SHOW PROFILE"), Vec::new(), 2);
        let texts = |profiles: &SessionProfiles| -> Vec<(u64, String)> {
            let all = profiles.last(usize::MAX);
            all.map(|profile| (profile.id, profile.text.to_string()))
                .collect()
        };
        assert_eq!(texts(&profiles), [(2, "b".to_owned()), (3, "c".to_owned())]);
        profiles.add(&Arc::from("é".repeat(200)), Vec::new(), 1);
        assert_eq!(texts(&profiles), [(4, "é".repeat(150))]);
    }
}
