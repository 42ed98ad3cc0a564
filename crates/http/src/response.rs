//! Answers, with the headers that keep a browser from being used against the server.

use std::borrow::Cow;

use serde_json::json;

/// Headers of a browser's protections: scripts and styles are loaded from this server alone and none are inline; no
/// other page shows this one in a frame; no text is interpreted as HTML by accident.
const SECURITY_HEADERS: &str = "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
trusted-types 'none'\r\n\
X-Content-Type-Options: nosniff\r\n\
X-Frame-Options: DENY\r\n\
Referrer-Policy: no-referrer\r\n\
Cross-Origin-Opener-Policy: same-origin\r\n\
Cross-Origin-Resource-Policy: same-origin\r\n\
Permissions-Policy: camera=(), geolocation=(), microphone=()\r\n\
Cache-Control: no-store\r\n";

/// Status of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    BodyTooLarge,
    UnsupportedMediaType,
    /// The statement was executed and returned an error.
    StatementFailed,
    HeadTooLarge,
    NotImplemented,
    Busy,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::Unauthorized => "401 Unauthorized",
            Self::Forbidden => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::RequestTimeout => "408 Request Timeout",
            Self::BodyTooLarge => "413 Content Too Large",
            Self::UnsupportedMediaType => "415 Unsupported Media Type",
            Self::StatementFailed => "422 Unprocessable Content",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::NotImplemented => "501 Not Implemented",
            Self::Busy => "503 Service Unavailable",
        }
    }

    /// Whether the rest of the connection cannot be read, because the end of this request is not known.
    pub(crate) fn ends_connection(self) -> bool {
        matches!(
            self,
            Self::BadRequest
                | Self::MethodNotAllowed
                | Self::RequestTimeout
                | Self::BodyTooLarge
                | Self::HeadTooLarge
                | Self::NotImplemented
                | Self::Busy
        )
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub(crate) status: Status,
    kind: &'static str,
    pub(crate) body: Cow<'static, [u8]>,
}

impl Response {
    pub(crate) fn new(kind: &'static str, body: impl Into<Cow<'static, [u8]>>) -> Self {
        Self {
            status: Status::Ok,
            kind,
            body: body.into(),
        }
    }

    pub(crate) fn json(value: &serde_json::Value) -> Self {
        Self::new("application/json", value.to_string().into_bytes())
    }

    pub(crate) fn with_status(mut self, status: Status) -> Self {
        self.status = status;
        self
    }

    /// An error as JSON, with a readable text.
    pub(crate) fn error(status: Status, message: &str) -> Self {
        let body = json!({ "error": { "message": message } });
        Self::json(&body).with_status(status)
    }

    /// The bytes to send.
    pub(crate) fn to_bytes(&self, with_body: bool, keeps_alive: bool) -> Vec<u8> {
        let mut head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: {}\r\n{SECURITY_HEADERS}",
            self.status.line(),
            self.kind,
            self.body.len(),
            if keeps_alive { "keep-alive" } else { "close" },
        );
        match self.status {
            Status::Unauthorized => head.push_str("WWW-Authenticate: Bearer\r\n"),
            Status::MethodNotAllowed => head.push_str("Allow: GET, HEAD, POST\r\n"),
            _ => {}
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        if with_body {
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }
}
