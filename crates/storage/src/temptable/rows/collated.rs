//! Hashing and equality of string keys of a collation that is not bytewise.
//!
//! Nearly all strings that are grouped are plain ASCII, and most collations treat those byte by byte: equal when equal
//! after lower-casing (or, in a `_bin` collation with PAD SPACE, when equal). They are hashed and compared eight bytes
//! at a time without a buffer. Where a collation differs from that ([`PlainText::Weighed`]), every string is read by
//! its weights.
//!
//! A string with any other byte is converted to its *equality key* first, in which a character that is equal to an
//! ASCII letter is that letter. So `Ä` in an accent-insensitive collation hashes like `a`: both use one function.

use mayfly_types::CollationId;
use mayfly_types::collation::PlainText;

use super::hash_keys::{HashKeys, Words};
use super::layout::View;
use crate::temptable::spec::KeyMode;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
const SPACES: u64 = 0x2020_2020_2020_2020;

/// Lower-cases the ASCII letters of a word whose bytes are all below 0x80.
#[inline(always)]
fn lower(word: u64) -> u64 {
    let from_a = word.wrapping_add(ONES * (0x80 - b'A' as u64));
    let after_z = word.wrapping_add(ONES * (0x7F - b'Z' as u64));
    word | (from_a & !after_z & HIGH) >> 2
}

/// Nonzero if any byte is outside `0x20 ..= 0x7E`.
#[inline(always)]
fn not_plain(word: u64) -> u64 {
    (word.wrapping_add(ONES) | word | word.wrapping_sub(SPACES) & !word) & HIGH
}

/// Clears in each byte the bit in which the cases of a letter differ. Other characters lose it too, so that a few
/// unequal ones collide: cheaper than testing which bytes are letters.
#[inline(always)]
fn caseless(word: u64) -> u64 {
    word & !SPACES
}

/// Word transformation that ignores case (with `FOLD`) and notes whether all bytes were plain ASCII.
#[derive(Clone, Copy)]
struct Plain<const FOLD: bool> {
    others: u64,
}

/// Word transformation that ignores the case of equality keys.
#[derive(Clone, Copy)]
struct Caseless;

impl Words for Caseless {
    #[inline(always)]
    fn word(&mut self, word: u64) -> u64 {
        caseless(word)
    }
}

impl<const FOLD: bool> Words for Plain<FOLD> {
    #[inline(always)]
    fn word(&mut self, word: u64) -> u64 {
        self.others |= not_plain(word);
        if FOLD { caseless(word) } else { word }
    }
}

/// Hashing and equality of the keys of one collation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CollatedKeys {
    collation: CollationId,
    pad_space: bool,
    fold_case: bool,
    /// Whether every string needs the slow path: JSON documents, in which numbers with different digits can be equal,
    /// and collations in which letters are equal to others.
    always_slow: bool,
    keys: HashKeys,
}

impl CollatedKeys {
    /// Keys of a key mode; `None` when bytes are compared.
    pub(crate) fn of(mode: KeyMode) -> Option<Self> {
        let KeyMode::Collated(collation) = mode else {
            return None;
        };
        if collation.is_bytewise_equality() {
            return None;
        }
        let plain_text = collation.plain_text();
        Some(Self {
            collation,
            pad_space: collation.collation().pad_space,
            fold_case: plain_text == PlainText::CaseInsensitive,
            always_slow: plain_text == PlainText::Weighed,
            keys: HashKeys::of_process(),
        })
    }

    /// The hash of a string of at most 12 bytes.
    #[inline(always)]
    pub(super) fn hash_inline(&self, view: View) -> u64 {
        if self.always_slow {
            return self.hash_slow(view.inline_bytes());
        }
        let length = view.length();
        let first = (view.0 >> 32) as u64;
        let second = (view.0 >> 96) as u64;
        let present = |bytes: u32| {
            if bytes >= 8 {
                u64::MAX
            } else {
                (1_u64 << (bytes * 8)) - 1
            }
        };
        let pad = |word: u64, bytes: u32| word | SPACES & !present(bytes);
        let others =
            not_plain(pad(first, length)) | not_plain(pad(second, length.saturating_sub(8)));
        let last = match length {
            0 => 0,
            1..=8 => first >> (8 * (length - 1)),
            _ => second >> (8 * (length - 9)),
        };
        if others != 0 || self.pad_space && last == u64::from(b' ') {
            return self.hash_slow(view.inline_bytes());
        }
        if !self.fold_case {
            return self.keys.hash_inline(view.0);
        }
        let (first, second) = (caseless(first), caseless(second));
        let text = u128::from(first) << 32 | u128::from(second) << 96;
        self.keys.hash_inline(u128::from(length) | text)
    }

    /// The hash of a string of more than 12 bytes. Not inlined, so that the hash of a short string can be where rows
    /// are hashed in a loop.
    #[inline(never)]
    pub(super) fn hash_long(&self, bytes: &[u8]) -> u64 {
        if self.always_slow || self.pad_space && bytes.last() == Some(&b' ') {
            return self.hash_slow(bytes);
        }
        let (hash, others) = if self.fold_case {
            let mut words = Plain::<true> { others: 0 };
            (self.keys.hash_long(bytes, &mut words), words.others)
        } else {
            let mut words = Plain::<false> { others: 0 };
            (self.keys.hash_long(bytes, &mut words), words.others)
        };
        if others == 0 {
            hash
        } else {
            self.hash_slow(bytes)
        }
    }

    #[cold]
    fn hash_slow(&self, bytes: &[u8]) -> u64 {
        let mut key = Vec::with_capacity(bytes.len() * 2);
        self.collation.append_equality_key(bytes, &mut key);
        if self.fold_case {
            self.keys.hash_words(&key, &mut Caseless)
        } else {
            self.keys.hash_bytes(&key)
        }
    }

    /// Whether two strings are equal.
    pub(super) fn equal(&self, a: &[u8], b: &[u8]) -> bool {
        if a == b {
            return true;
        }
        if a.len() == b.len() && self.fold_case {
            let mut others = 0;
            let mut differ = 0;
            let (a_words, b_words) = (a.chunks_exact(8), b.chunks_exact(8));
            let (a_rest, b_rest) = (a_words.remainder(), b_words.remainder());
            for (a, b) in a_words.zip(b_words) {
                let a = u64::from_le_bytes(a.try_into().expect("eight bytes"));
                let b = u64::from_le_bytes(b.try_into().expect("eight bytes"));
                others |= not_plain(a) | not_plain(b);
                differ |= lower(a) ^ lower(b);
            }
            let rest_plain = |rest: &[u8]| rest.iter().all(|byte| (0x20..=0x7E).contains(byte));
            let plain = others == 0 && rest_plain(a_rest) && rest_plain(b_rest);
            let ends_in_space = a.last() == Some(&b' ') || b.last() == Some(&b' ');
            if plain && !(self.pad_space && ends_in_space) {
                return differ == 0 && a_rest.eq_ignore_ascii_case(b_rest);
            }
        }
        self.collation.equals(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(text: &[u8]) -> View {
        let mut bytes = [0; 16];
        bytes[0] = text.len() as u8;
        bytes[4..4 + text.len()].copy_from_slice(text);
        View(u128::from_le_bytes(bytes))
    }

    fn hash(keys: CollatedKeys, text: &str) -> u64 {
        let bytes = text.as_bytes();
        if bytes.len() <= 12 {
            keys.hash_inline(view(bytes))
        } else {
            keys.hash_long(bytes)
        }
    }

    #[test]
    fn words_are_lowered_and_checked() {
        let word = |text: &[u8; 8]| u64::from_le_bytes(*text);
        assert_eq!(lower(word(b"AZaz@[`{")), word(b"azaz@[`{"));
        for byte in 0..=255_u8 {
            let mut bytes = *b"abcdefgh";
            bytes[3] = byte;
            assert_eq!(
                not_plain(word(&bytes)) == 0,
                (0x20..=0x7E).contains(&byte),
                "{byte}"
            );
        }
    }

    #[test]
    fn every_collation_finds_what_is_equal() {
        let short = [
            "a", "A", "b", "i", "I", "ı", "y", "Y", "aa", "aA", "AA", "å", "ch", "cH", "c", "u",
            "U", "v", "V", "j", "J", "é", "e", "a ", "ss", "ß", "1", "1.0", "",
        ];
        // Repeated, so that the strings are longer than an inline view.
        let long = short.map(|text| format!("plain text {text}"));
        let texts: Vec<&str> = short
            .into_iter()
            .chain(long.iter().map(String::as_str))
            .collect();
        for row in mayfly_types::collation::COLLATIONS {
            let Some(keys) = CollatedKeys::of(KeyMode::Collated(row.id)) else {
                continue;
            };
            for a in &texts {
                for b in &texts {
                    let is_equal = row.id.compare(a.as_bytes(), b.as_bytes()).is_eq();
                    let found = keys.equal(a.as_bytes(), b.as_bytes());
                    assert_eq!(found, is_equal, "{}: {a:?}, {b:?}", row.name);
                    if is_equal {
                        assert_eq!(hash(keys, a), hash(keys, b), "{}: {a:?}, {b:?}", row.name);
                    }
                }
            }
        }
        let json = CollatedKeys::of(KeyMode::Collated(CollationId::JSON)).unwrap();
        assert!(!json.equal(b"\"a\"", b"\"A\"") && json.equal(b"1", b"1.0"));
    }

    #[test]
    fn equal_strings_hash_alike() {
        let insensitive =
            CollatedKeys::of(KeyMode::Collated(CollationId::UTF8MB4_0900_AI_CI)).unwrap();
        let padded = CollatedKeys::of(KeyMode::Collated(CollationId::UTF8MB4_GENERAL_CI)).unwrap();
        let pairs = [
            ("abc", "ABC"),
            ("", ""),
            ("Hello, World 12345", "hELLO, wORLD 12345"),
            (
                "0123456789ABCDEF0123456789abcdef01234567",
                "0123456789abcdef0123456789ABCDEF01234567",
            ),
            ("twelve bytes", "TWELVE BYTES"),
            ("ThirteenBytes", "thirteenbytes"),
        ];
        for keys in [insensitive, padded] {
            for (a, b) in pairs {
                assert_eq!(hash(keys, a), hash(keys, b), "{a}");
                assert!(keys.equal(a.as_bytes(), b.as_bytes()), "{a}");
            }
            assert_ne!(hash(keys, "abc"), hash(keys, "abd"));
            assert!(!keys.equal(b"abc_", b"abc?"));
        }
        assert_eq!(hash(padded, "a"), hash(padded, "A              "));
        assert_eq!(hash(padded, "a b"), hash(padded, "A B  "));
        assert!(padded.equal(b"a", b"A              "));
        assert_eq!(hash(insensitive, "Äpfel"), hash(insensitive, "apfel"));
        assert_eq!(
            hash(insensitive, "ein ÄPFELCHEN am Tag"),
            hash(insensitive, "EIN apfelchen AM tag")
        );
        let as_cs = CollationId::by_name("utf8mb4_0900_as_cs").unwrap();
        let sensitive = CollatedKeys::of(KeyMode::Collated(as_cs)).unwrap();
        assert!(!sensitive.equal(b"abc", b"ABC") && sensitive.equal(b"abc", b"abc"));
        assert_ne!(
            hash(sensitive, "abcdefghijklmnop"),
            hash(sensitive, "ABCDEFGHIJKLMNOP")
        );
        assert_ne!(hash(insensitive, "a"), hash(insensitive, "a "));
        assert!(!insensitive.equal(b"a", b"a "));
    }
}
