//! The routes: the answer for each path.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::{explain, failed, kill, overview, settings, statements};
use crate::assets;
use crate::connection::Service;
use crate::guard::Guard;
use crate::metrics;
use crate::request::{Head, Method};
use crate::response::{Response, Status};
use crate::sampler::Sampler;
use crate::source::Source;

/// Greatest length in seconds of a requested history, and its greatest number of points.
const HISTORY_SECONDS: u64 = 86_400;
const HISTORY_POINTS: usize = 1_440;

/// The routes of all connections.
pub(crate) struct Routes {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) sampler: Arc<Sampler>,
    pub(crate) guard: Guard,
    pub(crate) metrics_digests: usize,
}

impl Service for Routes {
    fn admit(&self, head: &Head) -> Result<bool, Response> {
        self.guard.admit(head)?;
        let is_asset = head.method != Method::Post && assets::find(&head.path).is_some();
        match self.guard.authorize(head) {
            Ok(()) => Ok(true),
            // The page's own files need no token, but a request for them must not have a body.
            Err(_) if is_asset && head.body_length == 0 => Ok(false),
            Err(refused) => Err(refused),
        }
    }

    fn answer(&self, head: &Head, body: &[u8]) -> Response {
        self.try_answer(head, body)
            .unwrap_or_else(|refused| refused)
    }
}

impl Routes {
    fn try_answer(&self, head: &Head, body: &[u8]) -> Result<Response, Response> {
        let is_read = head.method != Method::Post;
        if is_read && let Some(asset) = assets::find(&head.path) {
            return Ok(asset);
        }
        let source = &*self.source;
        let json = |value: Value| Ok(Response::json(&value));
        match (&*head.path, is_read) {
            ("/metrics", true) => Ok(metrics::response(source, self.metrics_digests)),
            ("/api/overview", true) => json(overview::overview(source, &self.sampler)),
            ("/api/history", true) => {
                let number = |name| head.parameter(name).and_then(|it| it.parse::<u64>().ok());
                let seconds = number("seconds").unwrap_or(300).min(HISTORY_SECONDS);
                let points = number("points").and_then(|it| usize::try_from(it).ok());
                let points = points.unwrap_or(300).min(HISTORY_POINTS);
                json(overview::history(&self.sampler, seconds, points))
            }
            ("/api/statements", true) => {
                json(statements::statements(source, head.parameter("order")))
            }
            ("/api/statement", true) => Ok(statements::statement(source, head.parameter("digest"))),
            ("/api/databases", true) => json(overview::databases(source)),
            ("/api/settings", true) => json(settings::settings(source)),
            ("/api/findings", true) => Ok(match source.findings() {
                Ok(report) => Response::json(&json!({ "report": report })),
                Err(error) => failed(&error),
            }),
            ("/api/explain", false) => Ok(explain::explain(source, body)),
            ("/api/kill", false) => Ok(kill::kill(source, body)),
            _ => Err(Response::error(Status::NotFound, "there is nothing here")),
        }
    }
}
