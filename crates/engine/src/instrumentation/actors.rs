//! performance_schema's `setup_actors`: which sessions are instrumented, decided when a session begins.

use parking_lot::RwLock;

/// (user, host) pattern of sessions, and whether they are instrumented and have a history. `%` is any user or host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Actor {
    pub(crate) host: String,
    pub(crate) user: String,
    pub(crate) is_enabled: bool,
    pub(crate) has_history: bool,
}

const ANY: &str = "%";

impl Actor {
    fn any() -> Self {
        Self {
            host: ANY.to_owned(),
            user: ANY.to_owned(),
            is_enabled: true,
            has_history: true,
        }
    }

    /// Specificity of the match with an account; the user counts more than the host.
    fn fits(&self, user: &str, host: &str) -> Option<u8> {
        let fit = |pattern: &str, name: &str| match pattern {
            ANY => Some(0),
            _ => (pattern == name).then_some(1),
        };
        Some(2 * fit(&self.user, user)? + fit(&self.host, host)?)
    }
}

/// The rows of `setup_actors`.
#[derive(Debug)]
pub(crate) struct Actors(RwLock<Vec<Actor>>);

impl Default for Actors {
    fn default() -> Self {
        Self(RwLock::new(vec![Actor::any()]))
    }
}

impl Actors {
    /// All actors.
    pub(crate) fn all(&self) -> Vec<Actor> {
        self.0.read().clone()
    }

    /// Adds an actor; false when there is one for the same user and host.
    pub(crate) fn add(&self, actor: Actor) -> bool {
        let mut actors = self.0.write();
        let is_same = |known: &Actor| (&known.user, &known.host) == (&actor.user, &actor.host);
        if actors.iter().any(is_same) {
            return false;
        }
        actors.push(actor);
        true
    }

    /// Changes the actor of a user and a host.
    pub(crate) fn change(&self, user: &str, host: &str, change: impl FnOnce(&mut Actor)) {
        let mut actors = self.0.write();
        let mut known = actors.iter_mut();
        if let Some(actor) = known.find(|known| known.user == user && known.host == host) {
            change(actor);
        }
    }

    /// Removes the actor of a user and a host.
    pub(crate) fn remove(&self, user: &str, host: &str) {
        let mut actors = self.0.write();
        actors.retain(|known| known.user != user || known.host != host);
    }

    /// Removes all actors (TRUNCATE).
    pub(crate) fn clear(&self) {
        self.0.write().clear();
    }

    /// Whether an account's session is instrumented, and has a history.
    pub(crate) fn sees(&self, user: &str, host: &str) -> (bool, bool) {
        let actors = self.0.read();
        let fitting = actors.iter();
        let fitting = fitting.filter_map(|actor| Some((actor.fits(user, host)?, actor)));
        let best = fitting.max_by_key(|(fit, _)| *fit);
        best.map_or((false, false), |(_, actor)| {
            (actor.is_enabled, actor.has_history)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_actor_that_fits_best_decides() {
        let actors = Actors::default();
        assert_eq!(actors.sees("u", "h"), (true, true));
        let actor = |user: &str, host: &str, is_enabled, has_history| Actor {
            host: host.to_owned(),
            user: user.to_owned(),
            is_enabled,
            has_history,
        };
        assert!(actors.add(actor("%", "h", false, true)));
        assert!(actors.add(actor("u", "%", true, false)));
        assert!(!actors.add(actor("u", "%", true, true)));
        assert_eq!(actors.sees("u", "h"), (true, false));
        assert_eq!(actors.sees("v", "h"), (false, true));
        assert!(actors.add(actor("u", "h", false, false)));
        assert_eq!(actors.sees("u", "h"), (false, false));
        actors.remove("u", "h");
        actors.change("u", "%", |actor| actor.has_history = true);
        assert_eq!(actors.sees("u", "h"), (true, true));
        actors.clear();
        assert_eq!(actors.sees("u", "h"), (false, false));
    }
}
