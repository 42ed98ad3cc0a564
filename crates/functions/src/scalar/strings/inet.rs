//! INET_ATON, INET_NTOA, INET6_ATON, INET6_NTOA and the IS_IPV functions: addresses of the Internet.

use std::net::{Ipv4Addr, Ipv6Addr};

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType, TypeKind, Value};

use crate::scalar::ScalarKernel;
use crate::{
    Argument, Column, EvaluationContext, Signature, SignatureContext, derive, input, output,
};

/// INET_ATON()
#[derive(Debug)]
pub(crate) struct InetAton;

impl ScalarKernel for InetAton {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![derive::text_of(&arguments[0], context)],
            SqlType {
                length: 21,
                ..SqlType::bigint_unsigned()
            },
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        output::uints(row_count, |row| {
            let Some(text) = texts.get(row) else {
                return Ok(None);
            };
            let address = short_address(text);
            if address.is_none() {
                context.diagnostics.warn(invalid(text, "inet_aton"));
            }
            Ok(address)
        })
    }
}

/// INET_NTOA()
#[derive(Debug)]
pub(crate) struct InetNtoa;

impl ScalarKernel for InetNtoa {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let _ = arguments;
        Ok(Signature::new(
            vec![SqlType::bigint()],
            SqlType::varchar(31, context.collation_connection),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let numbers = input::any_ints(&arguments[0])?;
        output::texts(row_count, context, |row, out| {
            let Some(number) = numbers.get(row) else {
                return Ok(false);
            };
            let Ok(address) = u32::try_from(number) else {
                context
                    .diagnostics
                    .warn(invalid(number.to_string().as_bytes(), "inet_ntoa"));
                return Ok(false);
            };
            out.extend_from_slice(Ipv4Addr::from(address).to_string().as_bytes());
            Ok(true)
        })
    }
}

/// INET6_ATON()
#[derive(Debug)]
pub(crate) struct Inet6Aton;

impl ScalarKernel for Inet6Aton {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![derive::text_of(&arguments[0], context)],
            SqlType::varchar(16, CollationId::BINARY),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        output::texts(row_count, context, |row, out| {
            let Some(text) = texts.get(row) else {
                return Ok(false);
            };
            if let Some(address) = parse::<Ipv4Addr>(text) {
                out.extend_from_slice(&address.octets());
            } else if let Some(address) = parse::<Ipv6Addr>(text) {
                out.extend_from_slice(&address.octets());
            } else {
                context.diagnostics.warn(invalid(text, "inet6_aton"));
                return Ok(false);
            }
            Ok(true)
        })
    }
}

/// INET6_NTOA()
#[derive(Debug)]
pub(crate) struct Inet6Ntoa;

impl ScalarKernel for Inet6Ntoa {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        Ok(Signature::new(
            vec![derive::text_of(&arguments[0], context)],
            SqlType::varchar(39, context.collation_connection),
            true,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        let is_binary = signature.arguments[0].is_binary_string();
        output::texts(row_count, context, |row, out| {
            let Some(bytes) = texts.get(row) else {
                return Ok(false);
            };
            let shown = if !is_binary {
                context.diagnostics.warn(invalid(bytes, "inet6_ntoa"));
                return Ok(false);
            } else if let Ok(octets) = <[u8; 4]>::try_from(bytes) {
                Ipv4Addr::from(octets).to_string()
            } else if let Ok(octets) = <[u8; 16]>::try_from(bytes) {
                Ipv6Addr::from(octets).to_string()
            } else {
                context.diagnostics.warn(invalid(bytes, "inet6_ntoa"));
                return Ok(false);
            };
            out.extend_from_slice(shown.as_bytes());
            Ok(true)
        })
    }
}

/// IS_IPV4() and its kind.
#[derive(Debug)]
pub(crate) struct IsAddress {
    is_address: fn(&[u8]) -> bool,
}

/// IS_IPV4()
pub(crate) const IS_IPV4: IsAddress = IsAddress {
    is_address: |text| parse::<Ipv4Addr>(text).is_some(),
};

/// IS_IPV6()
pub(crate) const IS_IPV6: IsAddress = IsAddress {
    is_address: |text| parse::<Ipv6Addr>(text).is_some(),
};

/// IS_IPV4_COMPAT(): `::a.b.c.d`, of binary addresses.
pub(crate) const IS_IPV4_COMPAT: IsAddress = IsAddress {
    is_address: |bytes| {
        matches!(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, rest @ ..]
        if rest.len() == 4 && !matches!(rest, [0, 0, 0, 0 | 1]))
    },
};

/// IS_IPV4_MAPPED(): `::ffff:a.b.c.d`, of binary addresses.
pub(crate) const IS_IPV4_MAPPED: IsAddress = IsAddress {
    is_address: |bytes| matches!(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, _, _, _, _]),
};

impl ScalarKernel for IsAddress {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        // No number is an address, nor is NULL in its place.
        let ty = arguments[0].ty;
        let is_number = ty.is_numeric() || matches!(ty.kind, TypeKind::Bit | TypeKind::Year);
        let mut signature = Signature::new(
            vec![derive::text_of(&arguments[0], context)],
            derive::int_of_width(1),
            arguments[0].nullable && !is_number,
        );
        signature.known = is_number.then_some(Value::Int(0));
        Ok(signature)
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        _signature: &Signature,
        _context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let texts = input::texts(&arguments[0])?;
        output::ints(row_count, |row| {
            let is_address = texts.get(row).map(self.is_address);
            Ok(is_address.map(i64::from))
        })
    }
}

fn parse<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn invalid(text: &[u8], function: &str) -> mayfly_types::Error {
    codes::ER_WRONG_VALUE_FOR_TYPE.with(&[
        &"string",
        &format!("'{}'", String::from_utf8_lossy(text)),
        &function,
    ])
}

/// One to four numbers below 256; the last one stands at the end, those left out are 0.
fn short_address(text: &[u8]) -> Option<u64> {
    let mut parts = text.split(|byte| *byte == b'.').map(|part| {
        let part = std::str::from_utf8(part).ok()?;
        part.bytes()
            .all(|byte| byte.is_ascii_digit())
            .then_some(())?;
        part.parse::<u64>().ok().filter(|number| *number < 256)
    });
    let mut numbers = [0; 4];
    let mut count = 0;
    for part in parts.by_ref() {
        *numbers.get_mut(count)? = part?;
        count += 1;
    }
    let last = numbers[count - 1];
    numbers[count - 1] = 0;
    numbers[3] = last;
    Some(
        numbers
            .iter()
            .fold(0, |address, number| address << 8 | number),
    )
}

#[cfg(test)]
mod tests {
    use crate::testing::{b, check, i, t};

    #[test]
    fn values() {
        check(&[
            ("inet_aton", &[t("10.0.5.9")], "167773449"),
            ("inet_aton", &[t("127.1")], "2130706433"),
            ("inet_aton", &[t("300.0.0.1")], "NULL +1411"),
            ("inet_ntoa", &[i(167773449)], "10.0.5.9"),
            (
                "inet6_aton",
                &[t("fdfe::5a55:caff:fefa:9089")],
                "0xFDFE0000000000005A55CAFFFEFA9089",
            ),
            ("inet6_ntoa", &[b(b"\x0a\x00\x05\x09")], "10.0.5.9"),
            ("is_ipv4", &[t("10.0.5.9")], "1"),
            ("is_ipv4", &[t("10.0.5.256")], "0"),
            ("is_ipv6", &[t("::1")], "1"),
        ]);
    }
}
