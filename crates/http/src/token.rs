//! The access token of a browser or Prometheus: its holder can see and end everything that the account can.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// Least number of characters of a token, so that it cannot be guessed.
const LENGTH_MIN: usize = 16;

/// The digest of a token; the token itself is not stored.
#[derive(Debug, Clone)]
pub struct Token([u8; 32]);

impl Token {
    /// A new random text of 128 bits.
    pub fn random_text() -> Result<String, String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| format!("no random bytes: {error}"))?;
        Ok(HEXLOWER.encode(&bytes))
    }

    /// The token of a text, which must be valid in a header.
    pub fn new(text: &str) -> Result<Self, String> {
        if text.len() < LENGTH_MIN || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!(
                "a token is {LENGTH_MIN} or more letters, digits and signs without spaces"
            ));
        }
        Ok(Self(digest(text.as_bytes())))
    }

    /// Whether a text is this token, in constant time: it compares every byte of two digests.
    pub(crate) fn is(&self, text: &[u8]) -> bool {
        let pairs = self.0.iter().zip(digest(text));
        let difference = pairs.fold(0, |sum, (own, other)| sum | (own ^ other));
        std::hint::black_box(difference) == 0
    }
}

fn digest(text: &[u8]) -> [u8; 32] {
    Sha256::digest(text).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_itself_is_the_token() {
        let token = Token::new("0123456789abcdef").expect("long enough");
        assert!(token.is(b"0123456789abcdef"));
        for other in [
            "",
            "0123456789abcdeF",
            "0123456789abcde",
            "0123456789abcdef ",
        ] {
            assert!(!token.is(other.as_bytes()), "{other}");
        }
        for bad in ["", "short", "0123456789 abcdef", "0123456789abcdé"] {
            assert!(Token::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn random_texts_are_tokens_and_differ() {
        let (one, other) = (Token::random_text(), Token::random_text());
        let (one, other) = (one.expect("bytes"), other.expect("bytes"));
        assert_ne!(one, other);
        assert!(Token::new(&one).expect("a token").is(one.as_bytes()));
    }
}
