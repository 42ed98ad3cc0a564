//! Parses requests: bytes of any client into a request, or into the answer that refuses it.
//!
//! RFC 9112 is followed strictly where two parsers could disagree about the same bytes: a request with two lengths, a
//! length that is not a number, or a transfer coding ends the connection.

use crate::response::{Response, Status};

/// Greatest number of headers of a request.
const HEADERS_MAX: usize = 64;

/// Method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Post,
}

/// The part of a request before its body.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) method: Method,
    /// The path without the query.
    pub(crate) path: String,
    /// The query, behind the question mark.
    pub(crate) query: String,
    headers: Vec<(String, Vec<u8>)>,
    pub(crate) body_length: usize,
    /// Whether the client wants to send more requests on this connection.
    pub(crate) keeps_alive: bool,
    /// Whether it waits for `100 Continue` before it sends the body.
    pub(crate) expects_continue: bool,
}

/// Result of parsing the beginning of a buffer.
pub(crate) enum Parsed {
    /// The head is incomplete.
    Partial,
    /// A head, and its length in bytes.
    Head(Head, usize),
}

impl Head {
    /// Reads the head at the beginning of a buffer.
    pub(crate) fn parse(buffer: &[u8], body_max: usize) -> Result<Parsed, Response> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut request = httparse::Request::new(&mut headers);
        let length = match request.parse(buffer) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(Parsed::Partial),
            Err(httparse::Error::TooManyHeaders) => {
                return Err(Response::error(Status::HeadTooLarge, "too many headers"));
            }
            Err(error) => {
                let text = format!("this is no request of HTTP/1.1: {error}");
                return Err(Response::error(Status::BadRequest, &text));
            }
        };
        let bad = |text| Response::error(Status::BadRequest, text);
        let method = match request.method {
            Some("GET") => Method::Get,
            Some("HEAD") => Method::Head,
            Some("POST") => Method::Post,
            _ => {
                return Err(Response::error(
                    Status::MethodNotAllowed,
                    "GET, HEAD or POST",
                ));
            }
        };
        let target = request.path.unwrap_or_default();
        if !target.starts_with('/') {
            return Err(bad("the target is a path"));
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let is_newer = request.version == Some(1);
        let headers = request.headers.iter();
        let head = Self {
            method,
            path: path.to_owned(),
            query: query.to_owned(),
            headers: headers
                .map(|header| (header.name.to_ascii_lowercase(), header.value.to_vec()))
                .collect(),
            body_length: 0,
            keeps_alive: is_newer,
            expects_continue: false,
        };
        Ok(Parsed::Head(head.with_framing(is_newer, body_max)?, length))
    }

    fn with_framing(mut self, is_newer: bool, body_max: usize) -> Result<Self, Response> {
        let bad = |text| Response::error(Status::BadRequest, text);
        if self.all("transfer-encoding").next().is_some() {
            return Err(Response::error(
                Status::NotImplemented,
                "a body has a Content-Length",
            ));
        }
        if self.all("content-length").count() > 1 {
            return Err(bad("two lengths"));
        }
        if let Some(length) = self.header("content-length") {
            // `parse` alone would take a plus sign.
            let is_number = !length.is_empty() && length.bytes().all(|it| it.is_ascii_digit());
            if !is_number {
                return Err(bad("Content-Length is no number"));
            }
            let length = length.parse().ok().filter(|length| *length <= body_max);
            self.body_length = length.ok_or_else(|| {
                Response::error(Status::BodyTooLarge, &format!("at most {body_max} bytes"))
            })?;
        }
        if self.all("host").count() != 1 {
            return Err(bad("one Host"));
        }
        let connection = self.header("connection").unwrap_or_default();
        let says = |word: &str| {
            let mut words = connection.split(',');
            words.any(|it| it.trim().eq_ignore_ascii_case(word))
        };
        self.keeps_alive = !says("close") && (is_newer || says("keep-alive"));
        let expects = self.header("expect").unwrap_or_default();
        self.expects_continue = is_newer && expects.eq_ignore_ascii_case("100-continue");
        Ok(self)
    }

    fn all<'h>(&'h self, name: &'h str) -> impl Iterator<Item = &'h [u8]> {
        let headers = self.headers.iter().filter(move |(it, _)| it == name);
        headers.map(|(_, value)| value.as_slice())
    }

    /// A header's value as bytes; the name is in small letters.
    pub(crate) fn header_bytes(&self, name: &str) -> Option<&[u8]> {
        let mut found = self.headers.iter().filter(|(it, _)| it == name);
        found.next().map(|(_, value)| value.as_slice())
    }

    /// A header's value if it is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let value = std::str::from_utf8(self.header_bytes(name)?).ok()?;
        Some(value.trim())
    }

    /// The value of a parameter of the query, undecoded.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let mut pairs = self
            .query
            .split('&')
            .filter_map(|pair| pair.split_once('='));
        pairs.find(|(it, _)| *it == name).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Head, Status> {
        match Head::parse(text.as_bytes(), 100) {
            Ok(Parsed::Head(head, length)) => {
                assert_eq!(length, text.len());
                Ok(head)
            }
            Ok(Parsed::Partial) => panic!("{text:?} is whole"),
            Err(response) => Err(response.status),
        }
    }

    #[test]
    fn a_request_is_read() {
        let head = parsed(
            "POST /api/x?a=1&b=two&a=3 HTTP/1.1\r\nHost: localhost:80\r\nX-Y:  z \r\nContent-Length: 5\r\n\r\n",
        );
        let head = head.expect("a request");
        assert_eq!(head.method, Method::Post);
        assert_eq!((&*head.path, &*head.query), ("/api/x", "a=1&b=two&a=3"));
        assert_eq!(head.parameter("a"), Some("1"));
        assert_eq!(head.parameter("b"), Some("two"));
        assert_eq!(head.parameter("c"), None);
        assert_eq!(head.header("x-y"), Some("z"));
        assert_eq!(head.body_length, 5);
        assert!(head.keeps_alive);
    }

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        for (text, status) in [
            ("GET / HTTP/1.1\r\n\r\n", Status::BadRequest),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                Status::BadRequest,
            ),
            (
                "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
                Status::BadRequest,
            ),
            (
                "PUT / HTTP/1.1\r\nHost: a\r\n\r\n",
                Status::MethodNotAllowed,
            ),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", Status::BadRequest),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
                Status::BadRequest,
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n",
                Status::BadRequest,
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n",
                Status::BodyTooLarge,
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
                Status::BodyTooLarge,
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
                Status::NotImplemented,
            ),
        ] {
            assert_eq!(parsed(text).map(|_| ()), Err(status), "{text:?}");
        }
        let many = format!(
            "GET / HTTP/1.1\r\nHost: a\r\n{}\r\n",
            "X: y\r\n".repeat(HEADERS_MAX)
        );
        assert_eq!(parsed(&many).map(|_| ()), Err(Status::HeadTooLarge));
    }

    #[test]
    fn connections_are_kept_as_the_version_says() {
        for (text, keeps) in [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", true),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n",
                false,
            ),
            ("GET / HTTP/1.0\r\nHost: a\r\n\r\n", false),
            (
                "GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
                true,
            ),
        ] {
            assert_eq!(
                parsed(text).expect("a request").keeps_alive,
                keeps,
                "{text:?}"
            );
        }
    }
}
