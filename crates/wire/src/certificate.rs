//! Reads certificates: the subject and issuer of a client's, in OpenSSL's one-line form, which accounts require
//! (`/C=DE/O=Example/CN=ann`), and the version.

use std::fmt::Write;

use mayfly_engine::ClientCertificate;
use yasna::tags::TAG_OID;
use yasna::{ASN1Error, ASN1ErrorKind, ASN1Result, BERReader, BERReaderSeq, Tag};

/// OpenSSL's names of the attribute types of names. Other types appear with their numbers.
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

/// The names in a certificate; `None` when it is malformed.
pub(crate) fn names(der: &[u8]) -> Option<ClientCertificate> {
    Some(read(der).ok()?.names)
}

/// The version of X.509; `None` when it is malformed.
pub(crate) fn version(der: &[u8]) -> Option<u32> {
    Some(read(der).ok()?.version)
}

/// The fields that are read of a certificate.
struct Certificate {
    version: u32,
    names: ClientCertificate,
}

/// Reads the first fields of a `Certificate` (RFC 5280, 4.1): version, serial number, signature, issuer, validity, subject.
fn read(der: &[u8]) -> ASN1Result<Certificate> {
    yasna::parse_der(der, |reader| {
        reader.read_sequence(|reader| {
            let certificate = reader.next().read_sequence(|reader| {
                let version = reader.read_optional(|explicit| {
                    explicit.read_tagged(Tag::context(0), |version| version.read_u8())
                })?;
                reader.next().read_der()?;
                reader.next().read_der()?;
                let issuer = one_line(reader.next())?;
                reader.next().read_der()?;
                let subject = one_line(reader.next())?;
                skip_rest(reader)?;
                Ok(Certificate {
                    version: u32::from(version.unwrap_or(0)) + 1,
                    names: ClientCertificate { subject, issuer },
                })
            })?;
            skip_rest(reader)?;
            Ok(certificate)
        })
    })
}

fn skip_rest(reader: &mut BERReaderSeq<'_, '_>) -> ASN1Result<()> {
    while reader.read_optional(|rest| rest.read_der())?.is_some() {}
    Ok(())
}

/// A `Name` (RFC 5280, 4.1.2.4), a sequence of sets of attributes, in the one-line form.
fn one_line(name: BERReader<'_, '_>) -> ASN1Result<String> {
    let mut line = String::new();
    name.read_sequence_of(|set| {
        set.read_set_of(|attribute| {
            attribute.read_sequence(|attribute| {
                let kind = attribute.next().read_tagged_der()?;
                if kind.tag() != TAG_OID {
                    return Err(ASN1Error::new(ASN1ErrorKind::Invalid));
                }
                let value = attribute.next().read_tagged_der()?;
                write_attribute(&mut line, kind.value(), value.value());
                Ok(())
            })
        })
    })?;
    Ok(line)
}

fn write_attribute(line: &mut String, kind: &[u8], value: &[u8]) {
    let number = identifier(kind);
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

/// An object identifier as its numbers. (yasna's own reader refuses a byte 0x80 inside of a number, which DER allows.)
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
            &[0x30, 0x2E][..],
            &[0x31, 0x0C, 0x30, 0x0A, 6, 3, 0x55, 4, 3, 0x0C, 3],
            b"ann",
            &[
                0x31, 0x12, 0x30, 0x10, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 1, 0x16, 3,
            ],
            b"a@b",
            &[0x31, 0x0A, 0x30, 0x08, 6, 3, 0x88, 0x37, 3, 0x0C, 1, 0],
        ];
        let name = name.concat();
        let line = yasna::parse_der(&name, one_line).expect("a name");
        assert_eq!(line, "/CN=ann/emailAddress=a@b/2.999.3=\\x00");
    }

    #[test]
    fn numbers_have_inner_bytes_of_no_bits() {
        assert_eq!(identifier(&[0x2A, 0x81, 0x80, 0x01]), "1.2.16385");
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
