//! Names in certificates of clients, in OpenSSL's one line, which is what accounts require:
//! `/C=DE/O=Example/CN=ann`.

use std::fmt::Write;

use mayfly_engine::ClientCertificate;

/// What OpenSSL calls the parts of names. Others stand there with their numbers.
const SHORT_NAMES: [(&str, &str); 21] = [
    ("2.5.4.3", "CN"),
    ("2.5.4.4", "SN"),
    ("2.5.4.5", "serialNumber"),
    ("2.5.4.6", "C"),
    ("2.5.4.7", "L"),
    ("2.5.4.8", "ST"),
    ("2.5.4.9", "street"),
    ("2.5.4.10", "O"),
    ("2.5.4.11", "OU"),
    ("2.5.4.12", "title"),
    ("2.5.4.13", "description"),
    ("2.5.4.15", "businessCategory"),
    ("2.5.4.17", "postalCode"),
    ("2.5.4.42", "GN"),
    ("2.5.4.43", "initials"),
    ("2.5.4.46", "dnQualifier"),
    ("2.5.4.65", "pseudonym"),
    ("2.5.4.97", "organizationIdentifier"),
    ("1.2.840.113549.1.9.1", "emailAddress"),
    ("0.9.2342.19200300.100.1.1", "UID"),
    ("0.9.2342.19200300.100.1.25", "DC"),
];

/// Tags of DER.
const OBJECT_IDENTIFIER: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const VERSION: u8 = 0xA0;

/// The names in a certificate; `None` when it is malformed.
pub(crate) fn names(der: &[u8]) -> Option<ClientCertificate> {
    let certificate = Elements(der).next_of(SEQUENCE)?;
    let signed = Elements(certificate).next_of(SEQUENCE)?;
    let mut parts = Elements(signed).skip_while(|(tag, _)| *tag == VERSION);
    // The serial number and the algorithm stand before the issuer, the validity behind.
    let (_, issuer) = parts.nth(2)?;
    let (_, subject) = parts.nth(1)?;
    Some(ClientCertificate {
        subject: one_line(subject)?,
        issuer: one_line(issuer)?,
    })
}

/// The elements of DER one after the other: tags and contents.
struct Elements<'d>(&'d [u8]);

impl<'d> Elements<'d> {
    fn next_of(&mut self, wanted: u8) -> Option<&'d [u8]> {
        let (tag, content) = self.next()?;
        (tag == wanted).then_some(content)
    }
}

impl<'d> Iterator for Elements<'d> {
    type Item = (u8, &'d [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (&[tag, length], rest) = self.0.split_first_chunk()?;
        let (length, rest) = match length {
            0..=0x7F => (usize::from(length), rest),
            0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(length & 0x7F))?;
                let length = digits
                    .iter()
                    .fold(0, |sum, digit| sum << 8 | usize::from(*digit));
                (length, rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }
}

fn one_line(name: &[u8]) -> Option<String> {
    let mut line = String::new();
    let mut elements = Elements(name);
    while let Some(set) = elements.next_of(SET) {
        for (_, part) in Elements(set) {
            let mut part = Elements(part);
            let number = identifier(part.next_of(OBJECT_IDENTIFIER)?);
            let (_, value) = part.next()?;
            let known = SHORT_NAMES.iter().find(|(known, _)| *known == number);
            let short = known.map_or(number.as_str(), |(_, short)| short);
            let _ = write!(line, "/{short}=");
            for byte in value {
                match byte {
                    b' '..=b'~' => line.push(char::from(*byte)),
                    _ => {
                        let _ = write!(line, "\\x{byte:02X}");
                    }
                }
            }
        }
    }
    Some(line)
}

/// An object identifier as its numbers.
fn identifier(der: &[u8]) -> String {
    let mut text = String::new();
    let mut number: u64 = 0;
    for byte in der {
        number = number << 7 | u64::from(byte & 0x7F);
        if byte & 0x80 != 0 {
            continue;
        }
        if text.is_empty() {
            // The first two numbers are one.
            let first = (number / 40).min(2);
            let _ = write!(text, "{first}.{}", number - first * 40);
        } else {
            let _ = write!(text, ".{number}");
        }
        number = 0;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_line() {
        // CN=ann, 1.2.840.113549.1.9.1=a@b, 2.999.3=\0
        let name = [
            &[0x31, 0x0C, 0x30, 0x0A, 6, 3, 0x55, 4, 3, 0x0C, 3][..],
            b"ann",
            &[
                0x31, 0x12, 0x30, 0x10, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 1, 0x16, 3,
            ],
            b"a@b",
            &[0x31, 0x0A, 0x30, 0x08, 6, 3, 0x88, 0x37, 3, 0x0C, 1, 0],
        ];
        let line = one_line(&name.concat());
        assert_eq!(
            line.as_deref(),
            Some("/CN=ann/emailAddress=a@b/2.999.3=\\x00")
        );
    }

    #[test]
    fn what_is_no_certificate_has_no_names() {
        for der in [
            &b""[..],
            b"\x30",
            b"\x30\x84\xFF\xFF\xFF\xFF",
            b"\x30\x02\x30\x00",
        ] {
            assert_eq!(names(der), None);
        }
    }
}
