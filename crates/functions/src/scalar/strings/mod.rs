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

pub use aes::BlockEncryption;

use crate::scalar::ScalarFunction;

/// The functions of this family.
pub(crate) const FUNCTIONS: &[&dyn ScalarFunction] = &[
    &aes::AES_ENCRYPT,
    &aes::AES_DECRYPT,
    &ascii::Ascii,
    &ascii::Ord,
    &base64::ToBase64,
    &base64::FromBase64,
    &case::LOWER,
    &case::UPPER,
    &char::CHAR,
    &char::CHAR_OF_TWO_BYTES,
    &char::CHAR_OF_FOUR_BYTES,
    &collation::CHARSET,
    &collation::COLLATION,
    &collation::COERCIBILITY,
    &collation::COLLATE,
    &collation::CONVERT_USING,
    &collation::ConvertExactly,
    &collation::BINARY,
    &compress::Compress,
    &compress::Uncompress,
    &compress::UncompressedLength,
    &concat::Concat,
    &concat_ws::ConcatWs,
    &digest::Md5Hash,
    &digest::Sha1Hash,
    &digest::Sha2Hash,
    &elt::Elt,
    &elt::Field,
    &export_set::ExportSet,
    &find_in_set::FindInSet,
    &format::Format,
    &hex::Hex,
    &hex::Unhex,
    &inet::InetAton,
    &inet::InetNtoa,
    &inet::Inet6Aton,
    &inet::Inet6Ntoa,
    &inet::IS_IPV4,
    &inet::IS_IPV6,
    &inet::IS_IPV4_COMPAT,
    &inet::IS_IPV4_MAPPED,
    &insert::Insert,
    &length::LENGTH,
    &length::BIT_LENGTH,
    &length::CHAR_LENGTH,
    &locate::Locate,
    &locate::Instr,
    &make_set::MakeSet,
    &pad::LPAD,
    &pad::RPAD,
    &quote::Quote,
    &random_bytes::RandomBytes,
    &repeat::Repeat,
    &repeat::Space,
    &replace::Replace,
    &reverse::Reverse,
    &sides::LEFT,
    &sides::RIGHT,
    &soundex::Soundex,
    &strcmp::Strcmp,
    &substring::Substring,
    &substring_index::SubstringIndex,
    &trim::LTRIM,
    &trim::TRIM_LEADING,
    &trim::RTRIM,
    &trim::TRIM_TRAILING,
    &trim::TRIM,
    &uuid::Uuid,
    &uuid::UuidShort,
    &uuid::IsUuid,
    &uuid::UuidToBin,
    &uuid::BinToUuid,
    &weight_string::WeightString,
];
