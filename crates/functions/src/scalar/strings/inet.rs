//! INET_ATON, INET_NTOA, INET6_ATON, INET6_NTOA and the IS_IPV functions: IP addresses.

use std::net::{Ipv4Addr, Ipv6Addr};

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType, TypeKind, Value};

use crate::scalar::Row;
use crate::{Binding, Call, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    Row::new(&["inet_aton"], 1..=1, inet_aton_signature, inet_aton),
    Row::new(&["inet_ntoa"], 1..=1, inet_ntoa_signature, inet_ntoa),
    Row::new(&["inet6_aton"], 1..=1, inet6_aton_signature, inet6_aton),
    Row::new(&["inet6_ntoa"], 1..=1, inet6_ntoa_signature, inet6_ntoa),
    Row::new(&["is_ipv4"], 1..=1, is_address_signature, |call| {
        is_address(call, |text| parse::<Ipv4Addr>(text).is_some())
    }),
    Row::new(&["is_ipv6"], 1..=1, is_address_signature, |call| {
        is_address(call, |text| parse::<Ipv6Addr>(text).is_some())
    }),
    // For binary addresses: `::a.b.c.d` and `::ffff:a.b.c.d`.
    Row::new(&["is_ipv4_compat"], 1..=1, is_address_signature, |call| {
        is_address(call, |bytes| {
            matches!(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, rest @ ..]
                if rest.len() == 4 && !matches!(rest, [0, 0, 0, 0 | 1]))
        })
    }),
    Row::new(&["is_ipv4_mapped"], 1..=1, is_address_signature, |call| {
        is_address(call, |bytes| {
            matches!(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, _, _, _, _])
        })
    }),
];

fn inet_aton_signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts_or_null(derive::unsigned_bigint())
}

fn inet_aton(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    output::uints(call.rows, |row| {
        Ok(texts.get(row).and_then(|text| {
            let address = short_address(text);
            if address.is_none() {
                warn_invalid(call, text);
            }
            address
        }))
    })
}

fn inet_ntoa_signature(binding: &Binding<'_>) -> Result<Signature> {
    Ok(Signature::new(
        vec![SqlType::bigint()],
        binding.string(31),
        true,
    ))
}

fn inet_ntoa(call: &Call<'_>) -> Result<ArrayRef> {
    let numbers = call.any_ints(0)?;
    output::texts(call, |row, out| {
        let Some(number) = numbers.get(row) else {
            return Ok(false);
        };
        let Ok(address) = u32::try_from(number) else {
            warn_invalid(call, number.to_string().as_bytes());
            return Ok(false);
        };
        out.extend_from_slice(Ipv4Addr::from(address).to_string().as_bytes());
        Ok(true)
    })
}

fn inet6_aton_signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts_or_null(SqlType::varchar(16, CollationId::BINARY))
}

fn inet6_aton(call: &Call<'_>) -> Result<ArrayRef> {
    output::mapped_texts(call, 0, |text, out| {
        if let Some(address) = parse::<Ipv4Addr>(text) {
            out.extend_from_slice(&address.octets());
        } else if let Some(address) = parse::<Ipv6Addr>(text) {
            out.extend_from_slice(&address.octets());
        } else {
            warn_invalid(call, text);
            return Ok(false);
        }
        Ok(true)
    })
}

fn inet6_ntoa_signature(binding: &Binding<'_>) -> Result<Signature> {
    binding.of_texts_or_null(binding.string(39))
}

fn inet6_ntoa(call: &Call<'_>) -> Result<ArrayRef> {
    let is_binary = call.ty(0).is_binary_string();
    output::mapped_texts(call, 0, |bytes, out| {
        let shown = match bytes.len() {
            4 if is_binary => <[u8; 4]>::try_from(bytes).map(|it| Ipv4Addr::from(it).to_string()),
            16 if is_binary => <[u8; 16]>::try_from(bytes).map(|it| Ipv6Addr::from(it).to_string()),
            _ => {
                warn_invalid(call, bytes);
                return Ok(false);
            }
        };
        out.extend_from_slice(shown.unwrap_or_default().as_bytes());
        Ok(true)
    })
}

fn is_address_signature(binding: &Binding<'_>) -> Result<Signature> {
    // Numbers are no addresses, and neither is a NULL of their types.
    let ty = binding.arguments[0].ty;
    let is_number = ty.is_numeric() || matches!(ty.kind, TypeKind::Bit | TypeKind::Year);
    let mut signature = binding.of_texts(SqlType::boolean())?;
    if is_number {
        signature.nullable = false;
        signature.known = Some(Value::Int(0));
    }
    Ok(signature)
}

fn is_address(call: &Call<'_>, is_address: impl Fn(&[u8]) -> bool) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    output::bools(call.rows, |row| Ok(texts.get(row).map(&is_address)))
}

fn parse<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn warn_invalid(call: &Call<'_>, text: &[u8]) {
    let text = format!("'{}'", String::from_utf8_lossy(text));
    let warning = codes::ER_WRONG_VALUE_FOR_TYPE.with(&[&"string", &text, &call.name]);
    call.context.warn(warning);
}

/// An address of one to four numbers below 256; the last number is the last byte, omitted ones are 0.
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
    let address = numbers.iter();
    Some(address.fold(0, |address, number| address << 8 | number))
}
