//! Access control of requests: the page's own browser window, and clients that show the token.
//!
//! A page of another site must not be able to send requests in the name of a user who has this page open, or who merely
//! runs a server. Three checks prevent it. `Host` must be an address or a name that is known to be this server's: a
//! foreign name that resolves to this server (DNS rebinding) is refused. `Origin` and `Sec-Fetch-Site`, where a browser
//! sends them, must be this server's own. And the token is in a header, which no browser adds by itself.

use std::net::IpAddr;

use crate::request::{Head, Method};
use crate::response::{Response, Status};
use crate::token::Token;

/// Checks of the head of a request.
#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) token: Option<Token>,
    /// Names of this server other than `localhost`.
    pub(crate) names: Vec<String>,
}

impl Guard {
    /// Refuses a request that comes neither from this server's page nor from a program.
    pub(crate) fn admit(&self, head: &Head) -> Result<(), Response> {
        let refused = |text: &str| Response::error(Status::Forbidden, text);
        let host = head.header("host").unwrap_or_default();
        if !self.is_own(host) {
            return Err(refused(
                "this server is not known by that name: use its address, or start it with --http-name",
            ));
        }
        let is_same_site = match head.header_bytes("sec-fetch-site") {
            // `none`: the user typed the address.
            Some(site) => matches!(site, b"same-origin" | b"none"),
            None => true,
        };
        let is_same_origin = match head.header("origin") {
            Some(origin) => ["http://", "https://"]
                .iter()
                .filter_map(|scheme| origin.strip_prefix(scheme))
                .any(|it| it.eq_ignore_ascii_case(host)),
            None => head.header_bytes("origin").is_none(),
        };
        if !is_same_site || !is_same_origin {
            return Err(refused("another site's page asks"));
        }
        let kind = head.header("content-type").unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if head.method == Method::Post && !kind.eq_ignore_ascii_case("application/json") {
            return Err(Response::error(
                Status::UnsupportedMediaType,
                "Content-Type is application/json",
            ));
        }
        Ok(())
    }

    /// Refuses a request without the token.
    pub(crate) fn authorize(&self, head: &Head) -> Result<(), Response> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        let shown = head.header_bytes("authorization").and_then(|value| {
            let (scheme, text) = value.split_at_checked(b"Bearer ".len())?;
            scheme.eq_ignore_ascii_case(b"Bearer ").then_some(text)
        });
        if shown.is_some_and(|text| token.is(text.trim_ascii())) {
            return Ok(());
        }
        Err(Response::error(
            Status::Unauthorized,
            "the token is missing or wrong: it stands in the address that the server printed at its start",
        ))
    }

    /// Whether `Host` names this server: an IP address, which DNS rebinding cannot use, or one of its names.
    fn is_own(&self, host: &str) -> bool {
        if let Some(rest) = host.strip_prefix('[') {
            let address = rest.split(']').next().unwrap_or_default();
            return address.parse::<IpAddr>().is_ok();
        }
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        name.parse::<IpAddr>().is_ok()
            || name.eq_ignore_ascii_case("localhost")
            || self.names.iter().any(|own| own.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Parsed;

    fn head(headers: &str) -> Head {
        let text = format!("GET /api/overview HTTP/1.1\r\n{headers}\r\n");
        match Head::parse(text.as_bytes(), 0) {
            Ok(Parsed::Head(head, _)) => head,
            _ => panic!("{text}"),
        }
    }

    fn guard() -> Guard {
        Guard {
            token: Some(Token::new("0123456789abcdef").expect("a token")),
            names: vec!["db.example".to_owned()],
        }
    }

    #[test]
    fn a_foreign_name_or_page_is_refused() {
        let ok = |headers: &str| guard().admit(&head(headers)).is_ok();
        for host in [
            "127.0.0.1",
            "localhost:8080",
            "[::1]:80",
            "10.1.2.3:9",
            "DB.example:80",
        ] {
            assert!(ok(&format!("Host: {host}\r\n")), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "[evil]",
            "",
        ] {
            assert!(!ok(&format!("Host: {host}\r\n")), "{host}");
        }
        let with = |more: &str| ok(&format!("Host: localhost:80\r\n{more}\r\n"));
        assert!(with("Origin: http://localhost:80"));
        assert!(!with("Origin: http://localhost:81"));
        assert!(!with("Origin: null"));
        assert!(!with("Origin: http://evil.example"));
        assert!(!with("Origin: \u{e9}\u{e9}"));
        assert!(with("Sec-Fetch-Site: same-origin"));
        assert!(with("Sec-Fetch-Site: none"));
        assert!(!with("Sec-Fetch-Site: same-site"));
        assert!(!with("Sec-Fetch-Site: cross-site"));
    }

    #[test]
    fn the_token_is_asked_for() {
        let ok = |more: &str| {
            guard()
                .authorize(&head(&format!("Host: a\r\n{more}")))
                .is_ok()
        };
        assert!(ok("Authorization: Bearer 0123456789abcdef\r\n"));
        assert!(ok("authorization: bearer 0123456789abcdef\r\n"));
        assert!(!ok(""));
        assert!(!ok("Authorization: Bearer\r\n"));
        assert!(!ok("Authorization: Bearer 0123456789abcdeF\r\n"));
        assert!(!ok("Authorization: Basic 0123456789abcdef\r\n"));
        assert!(!ok("Authorization: \u{e9}\r\n"));
    }
}
