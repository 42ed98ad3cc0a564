//! Strings.

mod aes;
mod ascii;
mod base64;
mod case;
mod char;
pub(crate) mod chars;
mod collation;
mod compress;
mod concat;
mod concat_ws;
mod digest;
mod elt;
mod export_set;
mod find_in_set;
mod format;
mod hex;
mod inet;
mod insert;
mod length;
mod locate;
mod make_set;
mod pad;
mod quote;
mod random_bytes;
mod repeat;
mod replace;
mod reverse;
mod sides;
mod soundex;
mod strcmp;
mod substring;
mod substring_index;
mod trim;
mod uuid;
mod weight_string;

use crate::scalar::ScalarFunction;

/// The functions of this family.
pub(crate) const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction::new(&["aes_encrypt"], 2..=6, &aes::AES_ENCRYPT),
    ScalarFunction::new(&["aes_decrypt"], 2..=6, &aes::AES_DECRYPT),
    ScalarFunction::new(&["ascii"], 1..=1, &ascii::Ascii),
    ScalarFunction::new(&["ord"], 1..=1, &ascii::Ord),
    ScalarFunction::new(&["to_base64"], 1..=1, &base64::ToBase64),
    ScalarFunction::new(&["from_base64"], 1..=1, &base64::FromBase64),
    ScalarFunction::new(&["lower", "lcase"], 1..=1, &case::LOWER),
    ScalarFunction::new(&["upper", "ucase"], 1..=1, &case::UPPER),
    ScalarFunction::new(&["char"], 1..=usize::MAX, &char::CHAR),
    ScalarFunction::new(
        &["char of two bytes"],
        1..=usize::MAX,
        &char::CHAR_OF_TWO_BYTES,
    ),
    ScalarFunction::new(
        &["char of four bytes"],
        1..=usize::MAX,
        &char::CHAR_OF_FOUR_BYTES,
    ),
    ScalarFunction::new(&["charset"], 1..=1, &collation::CHARSET),
    ScalarFunction::new(&["collation"], 1..=1, &collation::COLLATION),
    ScalarFunction::new(&["coercibility"], 1..=1, &collation::COERCIBILITY),
    ScalarFunction::new(&["collate"], 2..=2, &collation::COLLATE),
    ScalarFunction::new(&["convert using"], 2..=2, &collation::CONVERT_USING),
    ScalarFunction::new(&["convert exactly"], 1..=1, &collation::ConvertExactly),
    ScalarFunction::new(&["binary"], 1..=1, &collation::BINARY),
    ScalarFunction::new(&["compress"], 1..=1, &compress::Compress),
    ScalarFunction::new(&["uncompress"], 1..=1, &compress::Uncompress),
    ScalarFunction::new(
        &["uncompressed_length"],
        1..=1,
        &compress::UncompressedLength,
    ),
    ScalarFunction::new(&["concat"], 1..=usize::MAX, &concat::Concat),
    ScalarFunction::new(&["concat_ws"], 2..=usize::MAX, &concat_ws::ConcatWs),
    ScalarFunction::new(&["md5"], 1..=1, &digest::Md5Hash),
    ScalarFunction::new(&["sha1", "sha"], 1..=1, &digest::Sha1Hash),
    ScalarFunction::new(&["sha2"], 2..=2, &digest::Sha2Hash),
    ScalarFunction::new(&["elt"], 2..=usize::MAX, &elt::Elt),
    ScalarFunction::new(&["field"], 2..=usize::MAX, &elt::Field),
    ScalarFunction::new(&["export_set"], 3..=5, &export_set::ExportSet),
    ScalarFunction::new(&["find_in_set"], 2..=2, &find_in_set::FindInSet),
    ScalarFunction::new(&["format"], 2..=3, &format::Format),
    ScalarFunction::new(&["hex"], 1..=1, &hex::Hex),
    ScalarFunction::new(&["unhex"], 1..=1, &hex::Unhex),
    ScalarFunction::new(&["inet_aton"], 1..=1, &inet::InetAton),
    ScalarFunction::new(&["inet_ntoa"], 1..=1, &inet::InetNtoa),
    ScalarFunction::new(&["inet6_aton"], 1..=1, &inet::Inet6Aton),
    ScalarFunction::new(&["inet6_ntoa"], 1..=1, &inet::Inet6Ntoa),
    ScalarFunction::new(&["is_ipv4"], 1..=1, &inet::IS_IPV4),
    ScalarFunction::new(&["is_ipv6"], 1..=1, &inet::IS_IPV6),
    ScalarFunction::new(&["is_ipv4_compat"], 1..=1, &inet::IS_IPV4_COMPAT),
    ScalarFunction::new(&["is_ipv4_mapped"], 1..=1, &inet::IS_IPV4_MAPPED),
    ScalarFunction::new(&["insert"], 4..=4, &insert::Insert),
    ScalarFunction::new(&["length", "octet_length"], 1..=1, &length::LENGTH),
    ScalarFunction::new(&["bit_length"], 1..=1, &length::BIT_LENGTH),
    ScalarFunction::new(
        &["char_length", "character_length"],
        1..=1,
        &length::CHAR_LENGTH,
    ),
    ScalarFunction::new(&["locate", "position"], 2..=3, &locate::Locate),
    ScalarFunction::new(&["instr"], 2..=2, &locate::Instr),
    ScalarFunction::new(&["make_set"], 2..=usize::MAX, &make_set::MakeSet),
    ScalarFunction::new(&["lpad"], 3..=3, &pad::LPAD),
    ScalarFunction::new(&["rpad"], 3..=3, &pad::RPAD),
    ScalarFunction::new(&["quote"], 1..=1, &quote::Quote),
    ScalarFunction::new(&["random_bytes"], 1..=1, &random_bytes::RandomBytes).volatile(),
    ScalarFunction::new(&["repeat"], 2..=2, &repeat::Repeat),
    ScalarFunction::new(&["space"], 1..=1, &repeat::Space),
    ScalarFunction::new(&["replace"], 3..=3, &replace::Replace),
    ScalarFunction::new(&["reverse"], 1..=1, &reverse::Reverse),
    ScalarFunction::new(&["left"], 2..=2, &sides::LEFT),
    ScalarFunction::new(&["right"], 2..=2, &sides::RIGHT),
    ScalarFunction::new(&["soundex"], 1..=1, &soundex::Soundex),
    ScalarFunction::new(&["strcmp"], 2..=2, &strcmp::Strcmp),
    ScalarFunction::new(
        &["substring", "substr", "mid"],
        2..=3,
        &substring::Substring,
    ),
    ScalarFunction::new(
        &["substring_index"],
        3..=3,
        &substring_index::SubstringIndex,
    ),
    ScalarFunction::new(&["ltrim"], 1..=1, &trim::LTRIM),
    ScalarFunction::new(&["trim leading"], 2..=2, &trim::TRIM_LEADING),
    ScalarFunction::new(&["rtrim"], 1..=1, &trim::RTRIM),
    ScalarFunction::new(&["trim trailing"], 2..=2, &trim::TRIM_TRAILING),
    ScalarFunction::new(&["trim", "trim both"], 1..=2, &trim::TRIM),
    ScalarFunction::new(&["uuid"], 0..=0, &uuid::Uuid).volatile(),
    ScalarFunction::new(&["uuid_short"], 0..=0, &uuid::UuidShort).volatile(),
    ScalarFunction::new(&["is_uuid"], 1..=1, &uuid::IsUuid),
    ScalarFunction::new(&["uuid_to_bin"], 1..=2, &uuid::UuidToBin),
    ScalarFunction::new(&["bin_to_uuid"], 1..=2, &uuid::BinToUuid),
    ScalarFunction::new(&["weight_string"], 1..=2, &weight_string::WeightString),
];
