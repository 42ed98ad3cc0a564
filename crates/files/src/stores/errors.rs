//! Errors of stores: what the server answered and what to do, never a credential.
//!
//! The library's texts have the URL of the request, whose query may be a signature, and the server's document, which may have
//! the name of a key: of these the message has the status and the document's code and message alone.

use std::error::Error as StdError;

use mayfly_engine::{Error, url_scheme};
use object_store::Error as StoreError;

use crate::guard::damaged;

/// Longest text of a server in a message.
const TEXT_MAX: usize = 300;

/// 1105: an error of a request, with the URL of the object.
pub(super) fn failed(url: &str, error: &StoreError) -> Error {
    damaged(url, what(url, error))
}

/// What has gone wrong with the object of a URL.
pub(super) fn what(url: &str, error: &StoreError) -> String {
    match error {
        StoreError::NotFound { .. } => "there is no such object".to_owned(),
        StoreError::Precondition { .. } | StoreError::NotModified { .. } => {
            "it has changed while it is read".to_owned()
        }
        StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => {
            format!("{}; {}", answer(error), remedy(url))
        }
        StoreError::Generic { .. } if has_no_credentials(error) => {
            format!("{}; {}", answer(error), remedy(url))
        }
        _ => answer(error),
    }
}

/// Whether the library looked for credentials at the service of a machine in a cloud.
fn has_no_credentials(error: &StoreError) -> bool {
    let text = error.to_string();
    text.contains("169.254.169.254") || text.contains("credential") || text.contains("metadata")
}

fn remedy(url: &str) -> &'static str {
    match url_scheme(url) {
        Some("s3" | "s3a") => {
            "credentials are those of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, of AWS_PROFILE or of the machine, \
             the region that of AWS_REGION; public objects are read with anonymous => true"
        }
        Some("gs" | "gcs") => {
            "credentials are those of GOOGLE_APPLICATION_CREDENTIALS or of the machine; public objects are read with \
             anonymous => true"
        }
        Some("http" | "https") => "the server wants to know who asks",
        _ => {
            "credentials are those of AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN; \
             public objects are read with anonymous => true"
        }
    }
}

/// The server's answer, or the reason why there is none.
fn answer(error: &StoreError) -> String {
    let text = error.to_string();
    if let Some((_, behind)) = text.split_once("status code: ") {
        let (status, document) = behind.split_once(':').unwrap_or((behind, ""));
        let element = |name: &str| {
            let (_, behind) = document.split_once(&format!("<{name}>"))?;
            Some(behind.split_once("</")?.0)
        };
        let parts: Vec<&str> = ["Code", "Message"]
            .into_iter()
            .filter_map(element)
            .collect();
        return match parts.is_empty() {
            true => format!("HTTP {status}"),
            false => format!("HTTP {status} ({})", shortened(&parts.join(": "))),
        };
    }
    // The innermost reason: a name that cannot be resolved, a refused connection.
    let mut reason: &dyn StdError = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    shortened(&without_queries(&reason.to_string()))
}

/// A text in which URLs have no query.
fn without_queries(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let (mut in_url, mut in_query) = (false, false);
    for (at, character) in text.char_indices() {
        in_url |= text[at..].starts_with("://");
        if character.is_whitespace() || "\"'<>()".contains(character) {
            (in_url, in_query) = (false, false);
        }
        in_query |= in_url && character == '?';
        if !in_query {
            kept.push(character);
        }
    }
    kept
}

fn shortened(text: &str) -> String {
    let mut characters = text.chars();
    let kept: String = characters.by_ref().take(TEXT_MAX).collect();
    match characters.next() {
        Some(_) => kept + "…",
        None => kept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(text: &str) -> StoreError {
        StoreError::Generic {
            store: "S3",
            source: text.to_owned().into(),
        }
    }

    #[test]
    fn messages_have_the_answer_and_no_credential() {
        let url = "https://host/a.csv?sig=secret";
        let answer = "Error performing GET https://host/a.csv?sig=secret in 1ms - Server returned non-2xx status code: \
                      500 Internal Server Error: <Error><Code>Slow</Code><Message>Later</Message><Key>AKIA</Key></Error>";
        let message = failed(url, &generic(answer)).message().to_owned();
        assert_eq!(
            message,
            "file 'https://host/a.csv': HTTP 500 Internal Server Error (Slow: Later)"
        );
        let refused = "error sending request for url (https://host/a.csv?sig=secret): refused";
        let message = failed(url, &generic(refused)).message().to_owned();
        assert_eq!(
            message,
            "file 'https://host/a.csv': error sending request for url (https://host/a.csv): refused"
        );
    }
}
