//! Ends a statement, a connection or a temporary table.

use serde_json::{Value, json};

use super::failed;
use crate::response::{Response, Status};
use crate::source::{Session, Source};

/// `POST /api/kill`: `{"what": "statement" | "connection" | "temporary_table", "id": …}`
pub(crate) fn kill(source: &dyn Source, body: &[u8]) -> Response {
    let Ok(asked) = serde_json::from_slice::<Value>(body) else {
        return Response::error(Status::BadRequest, "the body is no JSON");
    };
    let what = match asked.get("what").and_then(Value::as_str) {
        Some("statement") => "QUERY ",
        Some("connection") => "",
        Some("temporary_table") => "TEMPORARY TABLE ",
        _ => {
            return Response::error(
                Status::BadRequest,
                "`what` is statement, connection or temporary_table",
            );
        }
    };
    let Some(id) = asked.get("id").and_then(Value::as_u64) else {
        return Response::error(Status::BadRequest, "`id` is a number");
    };
    let statement = format!("KILL {what}{id}");
    match source.run(Session::Asked, &[&statement]) {
        Ok(_) => Response::json(&json!({ "done": statement })),
        Err(error) => failed(&error),
    }
}
