//! Password hashes and proofs of the two authentication plugins.
//!
//! The hash of `caching_sha2_password` is SHA-crypt of SHA-256 (Ulrich Drepper, "Unix crypt using
//! SHA-256 and SHA-512", 2007) with a salt of 20 bytes and thousands of rounds: `$A$`, the thousands
//! as three hexadecimal digits, `$`, the salt, 43 characters. That of `mysql_native_password` is `*`
//! and SHA1 of SHA1 in hexadecimal digits. On the wire both prove that the client knows the password
//! without sending it, against 20 random bytes of the server's ("scramble").

use data_encoding::{HEXUPPER, HEXUPPER_PERMISSIVE};
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// Bytes of SHA-crypt's salt.
pub(crate) const SALT_LENGTH: usize = 20;
/// Characters of SHA-crypt's digest.
const DIGEST_LENGTH: usize = 43;
/// Length of the prefix `$A$005$`.
const PREFIX_LENGTH: usize = 7;
/// Thousands of rounds for new passwords.
const THOUSANDS: usize = 5;
/// Maximum thousands of rounds in the format.
const THOUSANDS_MAX: usize = 0xFFF;

/// Maximum length of a password in bytes. SHA-crypt's time grows with the square of the length, and the sender of a
/// password is not authenticated yet.
pub(crate) const PASSWORD_MAX: usize = 256;

/// SHA256 of SHA256 of a password: the cache entry of `caching_sha2_password`.
pub(crate) type FastDigest = [u8; 32];

/// The hash of a password for `caching_sha2_password`.
pub(crate) fn caching_sha2(password: &[u8], salt: &[u8; SALT_LENGTH]) -> Vec<u8> {
    let mut stored = format!("$A${THOUSANDS:03X}$").into_bytes();
    stored.extend_from_slice(salt);
    stored.extend_from_slice(&sha_crypt(password, salt, THOUSANDS * 1000));
    stored
}

/// Random bytes made a salt: characters below 128, none of them NUL or `$`.
pub(crate) fn salt_of(mut random: [u8; SALT_LENGTH]) -> [u8; SALT_LENGTH] {
    for byte in &mut random {
        *byte &= 0x7F;
        if matches!(*byte, 0 | b'$') {
            *byte += 1;
        }
    }
    random
}

/// Whether a text has the form of a `caching_sha2_password` hash.
pub(crate) fn is_caching_sha2(stored: &[u8]) -> bool {
    stored.is_empty() || parts(stored).is_some()
}

/// The thousands of rounds, the salt and the digest.
fn parts(stored: &[u8]) -> Option<(usize, &[u8], &[u8])> {
    let digits = stored.strip_prefix(b"$A$")?.get(..3)?;
    let digits = std::str::from_utf8(digits).ok()?;
    let thousands = usize::from_str_radix(digits, 16).ok()?;
    let has_form = stored.get(PREFIX_LENGTH - 1) == Some(&b'$')
        && stored.len() == PREFIX_LENGTH + SALT_LENGTH + DIGEST_LENGTH;
    if !has_form || !(1..=THOUSANDS_MAX).contains(&thousands) {
        return None;
    }
    let (salt, digest) = stored.get(PREFIX_LENGTH..)?.split_at(SALT_LENGTH);
    Some((thousands, salt, digest))
}

/// Whether `stored` is the hash of a password.
pub(crate) fn is_caching_sha2_password(stored: &[u8], password: &[u8]) -> bool {
    if password.len() > PASSWORD_MAX {
        return false;
    }
    match parts(stored) {
        Some((thousands, salt, digest)) => {
            is_equal(&sha_crypt(password, salt, thousands * 1000), digest)
        }
        None => stored.is_empty() && password.is_empty(),
    }
}

/// The cache entry of a correct password for `caching_sha2_password`.
pub(crate) fn fast_digest(password: &[u8]) -> FastDigest {
    Sha256::digest(Sha256::digest(password)).into()
}

/// Whether a client's answer proves knowledge of the password of a digest.
pub(crate) fn is_fast_answer(digest: &FastDigest, scramble: &[u8], answer: &[u8]) -> bool {
    let Ok(answer) = <[u8; 32]>::try_from(answer) else {
        return false;
    };
    let mask = Sha256::digest([&digest[..], scramble].concat());
    let once = std::array::from_fn::<u8, 32, _>(|at| answer[at] ^ mask[at]);
    is_equal(&Sha256::digest(once), digest)
}

/// The hash of a password for `mysql_native_password`.
pub(crate) fn native(password: &[u8]) -> String {
    match password {
        [] => String::new(),
        _ => format!(
            "*{}",
            HEXUPPER.encode(&Sha1::digest(Sha1::digest(password)))
        ),
    }
}

/// Whether a text has the form of a `mysql_native_password` hash.
pub(crate) fn is_native(stored: &[u8]) -> bool {
    stored.is_empty() || native_digest(stored).is_some()
}

fn native_digest(stored: &[u8]) -> Option<[u8; 20]> {
    let digest = HEXUPPER_PERMISSIVE
        .decode(stored.strip_prefix(b"*")?)
        .ok()?;
    digest.try_into().ok()
}

/// Whether `stored` is the hash of a password.
pub(crate) fn is_native_password(stored: &[u8], password: &[u8]) -> bool {
    if password.len() > PASSWORD_MAX {
        return false;
    }
    match native_digest(stored) {
        Some(digest) => is_equal(&Sha1::digest(Sha1::digest(password)), &digest),
        None => stored.is_empty() && password.is_empty(),
    }
}

/// Whether a client's answer proves knowledge of the password.
pub(crate) fn is_native_answer(stored: &[u8], scramble: &[u8], answer: &[u8]) -> bool {
    let Some(digest) = native_digest(stored) else {
        return stored.is_empty() && answer.is_empty();
    };
    let Ok(answer) = <[u8; 20]>::try_from(answer) else {
        return false;
    };
    let mask = Sha1::digest([scramble, &digest[..]].concat());
    let once = std::array::from_fn::<u8, 20, _>(|at| answer[at] ^ mask[at]);
    is_equal(&Sha1::digest(once), &digest)
}

/// Whether two texts are equal, in time that depends on their lengths alone.
pub(crate) fn is_equal(a: &[u8], b: &[u8]) -> bool {
    let differing = a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b));
    a.len() == b.len() && std::hint::black_box(differing) == 0
}

/// SHA-crypt's digest.
fn sha_crypt(password: &[u8], salt: &[u8], rounds: usize) -> [u8; DIGEST_LENGTH] {
    let alternate = Sha256::new()
        .chain_update(password)
        .chain_update(salt)
        .chain_update(password)
        .finalize();
    let mut first = Sha256::new();
    first.update(password);
    first.update(salt);
    first.update(repeated(&alternate, password.len()));
    let mut bits = password.len();
    while bits > 0 {
        match bits & 1 {
            1 => first.update(alternate),
            _ => first.update(password),
        }
        bits >>= 1;
    }
    let mut digest: [u8; 32] = first.finalize().into();

    let passwords = Sha256::digest(password.repeat(password.len()));
    let password_sequence = repeated(&passwords, password.len());
    let salts = Sha256::digest(salt.repeat(16 + usize::from(digest[0])));
    let salt_sequence = repeated(&salts, salt.len());

    for round in 0..rounds {
        let (first, last) = match round % 2 {
            1 => (&*password_sequence, &digest[..]),
            _ => (&digest[..], &*password_sequence),
        };
        let mut hash = Sha256::new_with_prefix(first);
        if round % 3 != 0 {
            hash.update(&salt_sequence);
        }
        if round % 7 != 0 {
            hash.update(&password_sequence);
        }
        digest = hash.chain_update(last).finalize().into();
    }
    encode(&digest)
}

/// The first `length` bytes of the digest repeated endlessly.
fn repeated(digest: &[u8], length: usize) -> Vec<u8> {
    digest.iter().copied().cycle().take(length).collect()
}

/// The digest in crypt's alphabet: each group of three bytes, in crypt's order, gives four characters.
fn encode(digest: &[u8; 32]) -> [u8; DIGEST_LENGTH] {
    const CHARACTERS: &[u8; 64] =
        b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut encoded = [0; DIGEST_LENGTH];
    let mut digits = encoded.iter_mut();
    let mut put = |mut group: usize, characters: usize| {
        for digit in digits.by_ref().take(characters) {
            *digit = CHARACTERS[group & 63];
            group >>= 6;
        }
    };
    let group = |a: usize, b: usize, c: usize| {
        usize::from(digest[a]) << 16 | usize::from(digest[b]) << 8 | usize::from(digest[c])
    };
    let (mut a, mut b, mut c) = (0, 10, 20);
    for _ in 0..10 {
        put(group(a, b, c), 4);
        (a, b, c) = (c + 1, a + 1, b + 1);
    }
    put(usize::from(digest[31]) << 8 | usize::from(digest[30]), 3);
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha_crypt_is_that_of_its_specification() {
        // The specification's example without a number of rounds.
        let digest = sha_crypt(b"Hello world!", b"saltstring", 5000);
        let expected = b"5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5";
        assert_eq!(digest.as_slice(), expected);
        // A password longer than a digest, with 1400 rounds.
        let password =
            b"a very much longer text to encrypt.  This one even stretches over morethan one line.";
        let digest = sha_crypt(password, b"anotherlongsalts", 1400);
        let expected = b"Rx.j8H.h8HjEDGomFU8bDkXm3XIUnzyxf12oP84Bnq1";
        assert_eq!(digest.as_slice(), expected);
    }

    #[test]
    fn a_string_of_mysql_is_read() {
        // SHOW CREATE USER of MySQL 9.7 with print_identified_with_as_hex, of a user with 'secret'.
        let digits = "244124303041247E06362C470A111D6F19071D451B6D506110213E4A79487A597A496B724D4A45436634716E\
                      68782E6142556F733935306F5248442E39472F70413371387330";
        let stored = HEXUPPER.decode(digits.as_bytes()).unwrap();
        assert!(is_caching_sha2(&stored));
        assert!(is_caching_sha2_password(&stored, b"secret"));
        assert!(!is_caching_sha2_password(&stored, b"Secret"));
        assert!(!is_caching_sha2_password(&stored, b""));
    }

    #[test]
    fn what_is_made_is_read() {
        let salt = salt_of([
            0x24, 0x80, 0xFF, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
        ]);
        assert!(!salt.contains(&b'$') && !salt.contains(&0));
        let stored = caching_sha2("пароль".as_bytes(), &salt);
        assert!(stored.starts_with(b"$A$005$") && stored.len() == 70);
        assert!(is_caching_sha2_password(&stored, "пароль".as_bytes()));
        assert!(!is_caching_sha2_password(&stored, "парол".as_bytes()));
        assert!(!is_caching_sha2(b"$A$005$short"));
        assert!(!is_caching_sha2(&stored[1..]));
    }

    #[test]
    fn native_passwords() {
        let stored = native(b"password");
        assert_eq!(stored, "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19");
        assert!(is_native_password(stored.as_bytes(), b"password"));
        assert!(!is_native_password(stored.as_bytes(), b"Password"));
        let scramble = *b"01234567890123456789";
        let once = Sha1::digest(b"password");
        let mask = Sha1::new_with_prefix(scramble).chain_update(Sha1::digest(once));
        let mask = mask.finalize();
        let answer: Vec<u8> = once.iter().zip(mask).map(|(a, b)| a ^ b).collect();
        assert!(is_native_answer(stored.as_bytes(), &scramble, &answer));
        assert!(!is_native_answer(
            stored.as_bytes(),
            &scramble,
            &answer[1..]
        ));
        assert!(!is_native_answer(stored.as_bytes(), &[0; 20], &answer));
        assert!(is_native_answer(b"", &scramble, b""));
        assert!(!is_native_answer(stored.as_bytes(), &scramble, b""));
    }

    #[test]
    fn fast_answers() {
        let digest = fast_digest(b"secret");
        let scramble = *b"01234567890123456789";
        let once = Sha256::digest(b"secret");
        let mask = Sha256::new_with_prefix(digest).chain_update(scramble);
        let mask = mask.finalize();
        let answer: Vec<u8> = once.iter().zip(mask).map(|(a, b)| a ^ b).collect();
        assert!(is_fast_answer(&digest, &scramble, &answer));
        assert!(!is_fast_answer(&digest, &[1; 20], &answer));
        assert!(!is_fast_answer(&digest, &scramble, &answer[..31]));
    }
}
