//! The table of character sets.

use super::wide::Wide;
use crate::collation::CollationId;

/// Encoding of a character set.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Encoding {
    /// Bytes without characters (`binary`).
    Bytes,
    /// ASCII, seven bits.
    Ascii,
    /// One byte a character, by a table of `single_byte`.
    SingleByte(u8),
    /// UTF-8, up to and including the code point `last`.
    Utf8 { last: u32 },
    /// Units of two or four bytes.
    Wide(Wide),
    /// One to four bytes, by the tables of a library.
    Legacy(&'static encoding_rs::Encoding),
}

/// One line of SHOW CHARACTER SET.
#[derive(Debug, Clone, Copy)]
pub struct CharsetRow {
    /// The character set.
    pub charset: Charset,
    /// Its name.
    pub name: &'static str,
    /// What SHOW CHARACTER SET says about it.
    pub description: &'static str,
    /// The collation of columns that name only the character set.
    pub default_collation: CollationId,
    /// Its binary collation (`_bin`), which orders by code.
    pub binary_collation: CollationId,
    /// The most bytes of a character.
    pub max_length: u8,
    pub(crate) encoding: Encoding,
}

macro_rules! charsets {
    ($($charset:ident = ($name:literal, $description:literal, $default_collation:literal,
       $binary_collation:literal, $max_length:literal, $encoding:expr);)*) => {
        /// A character set of MySQL.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Charset {
            $(#[doc = $description] $charset,)*
        }

        /// Every character set, by name: the order of the variants of [`Charset`].
        pub const CHARSETS: &[CharsetRow] = &[
            $(CharsetRow {
                charset: Charset::$charset,
                name: $name,
                description: $description,
                default_collation: CollationId($default_collation),
                binary_collation: CollationId($binary_collation),
                max_length: $max_length,
                encoding: $encoding,
            },)*
        ];
    };
}

charsets! {
    Armscii8 = ("armscii8", "ARMSCII-8 Armenian", 32, 64, 1, Encoding::SingleByte(0));
    Ascii = ("ascii", "US ASCII", 11, 65, 1, Encoding::Ascii);
    Big5 = ("big5", "Big5 Traditional Chinese", 1, 84, 2, Encoding::Legacy(encoding_rs::BIG5));
    Binary = ("binary", "Binary pseudo charset", 63, 63, 1, Encoding::Bytes);
    Cp1250 = ("cp1250", "Windows Central European", 26, 66, 1, Encoding::SingleByte(1));
    Cp1251 = ("cp1251", "Windows Cyrillic", 51, 50, 1, Encoding::SingleByte(2));
    Cp1256 = ("cp1256", "Windows Arabic", 57, 67, 1, Encoding::SingleByte(3));
    Cp1257 = ("cp1257", "Windows Baltic", 59, 58, 1, Encoding::SingleByte(4));
    Cp850 = ("cp850", "DOS West European", 4, 80, 1, Encoding::SingleByte(5));
    Cp852 = ("cp852", "DOS Central European", 40, 81, 1, Encoding::SingleByte(6));
    Cp866 = ("cp866", "DOS Russian", 36, 68, 1, Encoding::SingleByte(7));
    Cp932 = ("cp932", "SJIS for Windows Japanese", 95, 96, 2, Encoding::Legacy(encoding_rs::SHIFT_JIS));
    Dec8 = ("dec8", "DEC West European", 3, 69, 1, Encoding::SingleByte(8));
    Eucjpms = ("eucjpms", "UJIS for Windows Japanese", 97, 98, 3, Encoding::Legacy(encoding_rs::EUC_JP));
    Euckr = ("euckr", "EUC-KR Korean", 19, 85, 2, Encoding::Legacy(encoding_rs::EUC_KR));
    Gb2312 = ("gb2312", "GB2312 Simplified Chinese", 24, 86, 2, Encoding::Legacy(encoding_rs::GBK));
    Gbk = ("gbk", "GBK Simplified Chinese", 28, 87, 2, Encoding::Legacy(encoding_rs::GBK));
    Geostd8 = ("geostd8", "GEOSTD8 Georgian", 92, 93, 1, Encoding::SingleByte(9));
    Greek = ("greek", "ISO 8859-7 Greek", 25, 70, 1, Encoding::SingleByte(10));
    Hebrew = ("hebrew", "ISO 8859-8 Hebrew", 16, 71, 1, Encoding::SingleByte(11));
    Hp8 = ("hp8", "HP West European", 6, 72, 1, Encoding::SingleByte(12));
    Keybcs2 = ("keybcs2", "DOS Kamenicky Czech-Slovak", 37, 73, 1, Encoding::SingleByte(13));
    Koi8r = ("koi8r", "KOI8-R Relcom Russian", 7, 74, 1, Encoding::SingleByte(14));
    Koi8u = ("koi8u", "KOI8-U Ukrainian", 22, 75, 1, Encoding::SingleByte(15));
    Latin1 = ("latin1", "cp1252 West European", 8, 47, 1, Encoding::SingleByte(16));
    Latin2 = ("latin2", "ISO 8859-2 Central European", 9, 77, 1, Encoding::SingleByte(17));
    Latin5 = ("latin5", "ISO 8859-9 Turkish", 30, 78, 1, Encoding::SingleByte(18));
    Latin7 = ("latin7", "ISO 8859-13 Baltic", 41, 79, 1, Encoding::SingleByte(19));
    Macce = ("macce", "Mac Central European", 38, 43, 1, Encoding::SingleByte(20));
    Macroman = ("macroman", "Mac West European", 39, 53, 1, Encoding::SingleByte(21));
    Sjis = ("sjis", "Shift-JIS Japanese", 13, 88, 2, Encoding::Legacy(encoding_rs::SHIFT_JIS));
    Swe7 = ("swe7", "7bit Swedish", 10, 82, 1, Encoding::SingleByte(22));
    Ucs2 = ("ucs2", "UCS-2 Unicode", 35, 90, 2, Encoding::Wide(Wide::Ucs2));
    Ujis = ("ujis", "EUC-JP Japanese", 12, 91, 3, Encoding::Legacy(encoding_rs::EUC_JP));
    Utf16 = ("utf16", "UTF-16 Unicode", 54, 55, 4, Encoding::Wide(Wide::Utf16));
    Utf16Le = ("utf16le", "UTF-16LE Unicode", 56, 62, 4, Encoding::Wide(Wide::Utf16Le));
    Utf32 = ("utf32", "UTF-32 Unicode", 60, 61, 4, Encoding::Wide(Wide::Utf32));
    Utf8mb3 = ("utf8mb3", "UTF-8 Unicode", 33, 83, 3, Encoding::Utf8 { last: 0xFFFF });
    Utf8mb4 = ("utf8mb4", "UTF-8 Unicode", 255, 46, 4, Encoding::Utf8 { last: 0x10_FFFF });
}
