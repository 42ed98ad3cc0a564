//! The table of collations, by character set.

use super::order::Simple;
use super::uca::Uca;
use super::{Collation, CollationId, Order};
use crate::charset::Charset;

const fn row(
    id: u16,
    name: &'static str,
    charset: Charset,
    is_default: bool,
    pad_space: bool,
    sort_length: u8,
    order: Order,
) -> Collation {
    Collation {
        id: CollationId(id),
        name,
        charset,
        is_default,
        pad_space,
        sort_length,
        order,
    }
}

const GENERAL: Order = Order::Simple(Simple::GENERAL_CI);
const GENERAL_MYSQL500: Order = Order::Simple(Simple::GENERAL_MYSQL500_CI);
const TOLOWER: Order = Order::Simple(Simple::TOLOWER_CI);
const UCA_400: Order = Order::Uca(Uca::V400);
const UCA_520: Order = Order::Uca(Uca::V520);
const UCA_900: Order = Order::Uca(Uca::V900);
const UCA_900_AS_CI: Order = Order::Uca(Uca::V900.with(true, false));
const UCA_900_AS_CS: Order = Order::Uca(Uca::V900.with(true, true));
const LATIN1_GERMAN2: Order = Order::Uca(Uca::LATIN1_GERMAN2);

const fn simple(id: u8) -> Order {
    Order::Simple(Simple(id))
}

const fn language(source: u8) -> Order {
    Order::Uca(Uca::of_language(source))
}

const fn uca1400(accents: bool, case: bool) -> Order {
    Order::Uca(Uca::V1400.with(accents, case))
}

/// The collations of character sets other than Unicode's, and those that only one Unicode character
/// set has.
#[rustfmt::skip]
const OTHERS: &[Collation] = &[
    row(64, "armscii8_bin", Charset::Armscii8, false, true, 1, simple(64)),
    row(32, "armscii8_general_ci", Charset::Armscii8, true, true, 1, simple(32)),
    row(65, "ascii_bin", Charset::Ascii, false, true, 1, Order::Bytes),
    row(11, "ascii_general_ci", Charset::Ascii, true, true, 1, GENERAL),
    row(84, "big5_bin", Charset::Big5, false, true, 1, simple(84)),
    row(1, "big5_chinese_ci", Charset::Big5, true, true, 1, simple(1)),
    row(63, "binary", Charset::Binary, true, false, 1, Order::Bytes),
    row(66, "cp1250_bin", Charset::Cp1250, false, true, 1, simple(66)),
    row(44, "cp1250_croatian_ci", Charset::Cp1250, false, true, 1, simple(44)),
    row(26, "cp1250_general_ci", Charset::Cp1250, true, true, 1, simple(26)),
    row(99, "cp1250_polish_ci", Charset::Cp1250, false, true, 1, simple(99)),
    row(50, "cp1251_bin", Charset::Cp1251, false, true, 1, simple(50)),
    row(14, "cp1251_bulgarian_ci", Charset::Cp1251, false, true, 1, simple(14)),
    row(51, "cp1251_general_ci", Charset::Cp1251, true, true, 1, simple(51)),
    row(52, "cp1251_general_cs", Charset::Cp1251, false, true, 1, simple(52)),
    row(23, "cp1251_ukrainian_ci", Charset::Cp1251, false, true, 1, simple(23)),
    row(67, "cp1256_bin", Charset::Cp1256, false, true, 1, simple(67)),
    row(57, "cp1256_general_ci", Charset::Cp1256, true, true, 1, simple(57)),
    row(58, "cp1257_bin", Charset::Cp1257, false, true, 1, simple(58)),
    row(59, "cp1257_general_ci", Charset::Cp1257, true, true, 1, simple(59)),
    row(29, "cp1257_lithuanian_ci", Charset::Cp1257, false, true, 1, simple(29)),
    row(80, "cp850_bin", Charset::Cp850, false, true, 1, simple(80)),
    row(4, "cp850_general_ci", Charset::Cp850, true, true, 1, simple(4)),
    row(81, "cp852_bin", Charset::Cp852, false, true, 1, simple(81)),
    row(40, "cp852_general_ci", Charset::Cp852, true, true, 1, simple(40)),
    row(68, "cp866_bin", Charset::Cp866, false, true, 1, simple(68)),
    row(36, "cp866_general_ci", Charset::Cp866, true, true, 1, simple(36)),
    row(96, "cp932_bin", Charset::Cp932, false, true, 1, simple(96)),
    row(95, "cp932_japanese_ci", Charset::Cp932, true, true, 1, simple(95)),
    row(69, "dec8_bin", Charset::Dec8, false, true, 1, simple(69)),
    row(3, "dec8_swedish_ci", Charset::Dec8, true, true, 1, simple(3)),
    row(98, "eucjpms_bin", Charset::Eucjpms, false, true, 1, simple(98)),
    row(97, "eucjpms_japanese_ci", Charset::Eucjpms, true, true, 1, simple(97)),
    row(85, "euckr_bin", Charset::Euckr, false, true, 1, simple(85)),
    row(19, "euckr_korean_ci", Charset::Euckr, true, true, 1, simple(19)),
    row(86, "gb2312_bin", Charset::Gb2312, false, true, 1, simple(86)),
    row(24, "gb2312_chinese_ci", Charset::Gb2312, true, true, 1, simple(24)),
    row(87, "gbk_bin", Charset::Gbk, false, true, 1, simple(87)),
    row(28, "gbk_chinese_ci", Charset::Gbk, true, true, 1, simple(28)),
    row(93, "geostd8_bin", Charset::Geostd8, false, true, 1, simple(93)),
    row(92, "geostd8_general_ci", Charset::Geostd8, true, true, 1, simple(92)),
    row(70, "greek_bin", Charset::Greek, false, true, 1, simple(70)),
    row(25, "greek_general_ci", Charset::Greek, true, true, 1, simple(25)),
    row(71, "hebrew_bin", Charset::Hebrew, false, true, 1, simple(71)),
    row(16, "hebrew_general_ci", Charset::Hebrew, true, true, 1, simple(16)),
    row(72, "hp8_bin", Charset::Hp8, false, true, 1, simple(72)),
    row(6, "hp8_english_ci", Charset::Hp8, true, true, 1, simple(6)),
    row(73, "keybcs2_bin", Charset::Keybcs2, false, true, 1, simple(73)),
    row(37, "keybcs2_general_ci", Charset::Keybcs2, true, true, 1, simple(37)),
    row(74, "koi8r_bin", Charset::Koi8r, false, true, 1, simple(74)),
    row(7, "koi8r_general_ci", Charset::Koi8r, true, true, 1, simple(7)),
    row(75, "koi8u_bin", Charset::Koi8u, false, true, 1, simple(75)),
    row(22, "koi8u_general_ci", Charset::Koi8u, true, true, 1, simple(22)),
    row(47, "latin1_bin", Charset::Latin1, false, true, 1, simple(47)),
    row(15, "latin1_danish_ci", Charset::Latin1, false, true, 1, simple(15)),
    row(48, "latin1_general_ci", Charset::Latin1, false, true, 1, simple(48)),
    row(49, "latin1_general_cs", Charset::Latin1, false, true, 1, simple(49)),
    row(5, "latin1_german1_ci", Charset::Latin1, false, true, 1, simple(5)),
    row(31, "latin1_german2_ci", Charset::Latin1, false, true, 2, LATIN1_GERMAN2),
    row(94, "latin1_spanish_ci", Charset::Latin1, false, true, 1, simple(94)),
    row(8, "latin1_swedish_ci", Charset::Latin1, true, true, 1, simple(8)),
    row(77, "latin2_bin", Charset::Latin2, false, true, 1, simple(77)),
    row(27, "latin2_croatian_ci", Charset::Latin2, false, true, 1, simple(27)),
    row(9, "latin2_general_ci", Charset::Latin2, true, true, 1, simple(9)),
    row(21, "latin2_hungarian_ci", Charset::Latin2, false, true, 1, simple(21)),
    row(78, "latin5_bin", Charset::Latin5, false, true, 1, simple(78)),
    row(30, "latin5_turkish_ci", Charset::Latin5, true, true, 1, simple(30)),
    row(79, "latin7_bin", Charset::Latin7, false, true, 1, simple(79)),
    row(20, "latin7_estonian_cs", Charset::Latin7, false, true, 1, simple(20)),
    row(41, "latin7_general_ci", Charset::Latin7, true, true, 1, simple(41)),
    row(42, "latin7_general_cs", Charset::Latin7, false, true, 1, simple(42)),
    row(43, "macce_bin", Charset::Macce, false, true, 1, simple(43)),
    row(38, "macce_general_ci", Charset::Macce, true, true, 1, simple(38)),
    row(53, "macroman_bin", Charset::Macroman, false, true, 1, simple(53)),
    row(39, "macroman_general_ci", Charset::Macroman, true, true, 1, simple(39)),
    row(88, "sjis_bin", Charset::Sjis, false, true, 1, simple(88)),
    row(13, "sjis_japanese_ci", Charset::Sjis, true, true, 1, simple(13)),
    row(82, "swe7_bin", Charset::Swe7, false, true, 1, simple(82)),
    row(10, "swe7_swedish_ci", Charset::Swe7, true, true, 1, simple(10)),
    row(91, "ujis_bin", Charset::Ujis, false, true, 1, simple(91)),
    row(12, "ujis_japanese_ci", Charset::Ujis, true, true, 1, simple(12)),
    row(62, "utf16le_bin", Charset::Utf16Le, false, true, 1, Order::Bytes),
    row(56, "utf16le_general_ci", Charset::Utf16Le, true, true, 1, GENERAL),
    row(76, "utf8mb3_tolower_ci", Charset::Utf8mb3, false, true, 1, TOLOWER),
    row(159, "ucs2_general_mysql500_ci", Charset::Ucs2, false, true, 1, GENERAL_MYSQL500),
    row(223, "utf8mb3_general_mysql500_ci", Charset::Utf8mb3, false, true, 1, GENERAL_MYSQL500),
    row(255, "utf8mb4_0900_ai_ci", Charset::Utf8mb4, true, false, 0, UCA_900),
    row(305, "utf8mb4_0900_as_ci", Charset::Utf8mb4, false, false, 0, UCA_900_AS_CI),
    row(278, "utf8mb4_0900_as_cs", Charset::Utf8mb4, false, false, 0, UCA_900_AS_CS),
    row(309, "utf8mb4_0900_bin", Charset::Utf8mb4, false, false, 1, Order::Bytes),
    row(1032, "latin1_swedish_nopad_ci", Charset::Latin1, false, false, 1, simple(8)),
    row(1071, "latin1_nopad_bin", Charset::Latin1, false, false, 1, simple(47)),
    row(1035, "ascii_general_nopad_ci", Charset::Ascii, false, false, 1, GENERAL),
    row(1089, "ascii_nopad_bin", Charset::Ascii, false, false, 1, Order::Bytes),
    row(1080, "utf16le_general_nopad_ci", Charset::Utf16Le, false, false, 1, GENERAL),
    row(1086, "utf16le_nopad_bin", Charset::Utf16Le, false, false, 1, Order::Bytes),
];

/// The collations that all of Unicode's character sets have: MySQL's, and MariaDB's with NO PAD and
/// of UCA 14.0. The numbers are those of `_general_ci` and `_bin`, of `_unicode_ci`, from which
/// those of the languages are counted, of the first four with NO PAD, and of `_uca1400_ai_ci`.
macro_rules! unicode {
    ($($constant:ident = ($charset:expr, $name:literal, $is_default:literal, $general:literal,
       $bin:literal, $unicode:literal, [$nopad:literal, $nopad_bin:literal,
       $nopad_unicode:literal, $nopad_520:literal], $uca1400:literal);)*) => {
        $(
    const $constant: &[Collation] = &[
                row($bin, concat!($name, "_bin"), $charset, false, true, 1, Order::Bytes),
                row($general, concat!($name, "_general_ci"), $charset, $is_default, true, 1, GENERAL),
                row($unicode, concat!($name, "_unicode_ci"), $charset, false, true, 8, UCA_400),
                row($unicode + 1, concat!($name, "_icelandic_ci"), $charset, false, true, 8, language(5)),
                row($unicode + 2, concat!($name, "_latvian_ci"), $charset, false, true, 8, language(6)),
                row($unicode + 3, concat!($name, "_romanian_ci"), $charset, false, true, 8, language(7)),
                row($unicode + 4, concat!($name, "_slovenian_ci"), $charset, false, true, 8, language(8)),
                row($unicode + 5, concat!($name, "_polish_ci"), $charset, false, true, 8, language(9)),
                row($unicode + 6, concat!($name, "_estonian_ci"), $charset, false, true, 8, language(10)),
                row($unicode + 7, concat!($name, "_spanish_ci"), $charset, false, true, 8, language(11)),
                row($unicode + 8, concat!($name, "_swedish_ci"), $charset, false, true, 8, language(12)),
                row($unicode + 9, concat!($name, "_turkish_ci"), $charset, false, true, 8, language(13)),
                row($unicode + 10, concat!($name, "_czech_ci"), $charset, false, true, 8, language(14)),
                row($unicode + 11, concat!($name, "_danish_ci"), $charset, false, true, 8, language(15)),
                row($unicode + 12, concat!($name, "_lithuanian_ci"), $charset, false, true, 8, language(16)),
                row($unicode + 13, concat!($name, "_slovak_ci"), $charset, false, true, 8, language(17)),
                row($unicode + 14, concat!($name, "_spanish2_ci"), $charset, false, true, 8, language(18)),
                row($unicode + 15, concat!($name, "_roman_ci"), $charset, false, true, 8, language(19)),
                row($unicode + 16, concat!($name, "_persian_ci"), $charset, false, true, 8, language(20)),
                row($unicode + 17, concat!($name, "_esperanto_ci"), $charset, false, true, 8, language(21)),
                row($unicode + 18, concat!($name, "_hungarian_ci"), $charset, false, true, 8, language(22)),
                row($unicode + 19, concat!($name, "_sinhala_ci"), $charset, false, true, 8, language(23)),
                row($unicode + 20, concat!($name, "_german2_ci"), $charset, false, true, 8, language(24)),
                row($unicode + 21, concat!($name, "_croatian_ci"), $charset, false, true, 8, language(25)),
                row($unicode + 22, concat!($name, "_unicode_520_ci"), $charset, false, true, 8, UCA_520),
                row($unicode + 23, concat!($name, "_vietnamese_ci"), $charset, false, true, 8, language(26)),
                row($nopad, concat!($name, "_general_nopad_ci"), $charset, false, false, 1, GENERAL),
                row($nopad_bin, concat!($name, "_nopad_bin"), $charset, false, false, 1, Order::Bytes),
                row($nopad_unicode, concat!($name, "_unicode_nopad_ci"), $charset, false, false, 8, UCA_400),
                row($nopad_520, concat!($name, "_unicode_520_nopad_ci"), $charset, false, false, 8, UCA_520),
                row($uca1400 + 0, concat!($name, "_uca1400_ai_ci"), $charset, false, true, 8, uca1400(false, false)),
                row($uca1400 + 4, concat!($name, "_uca1400_nopad_ai_ci"), $charset, false, false, 8, uca1400(false, false)),
                row($uca1400 + 1, concat!($name, "_uca1400_ai_cs"), $charset, false, true, 8, uca1400(false, true)),
                row($uca1400 + 5, concat!($name, "_uca1400_nopad_ai_cs"), $charset, false, false, 8, uca1400(false, true)),
                row($uca1400 + 2, concat!($name, "_uca1400_as_ci"), $charset, false, true, 8, uca1400(true, false)),
                row($uca1400 + 6, concat!($name, "_uca1400_nopad_as_ci"), $charset, false, false, 8, uca1400(true, false)),
                row($uca1400 + 3, concat!($name, "_uca1400_as_cs"), $charset, false, true, 8, uca1400(true, true)),
                row($uca1400 + 7, concat!($name, "_uca1400_nopad_as_cs"), $charset, false, false, 8, uca1400(true, true)),
            ];
        )*
    };
}

unicode! {
    UCS2 = (Charset::Ucs2, "ucs2", true, 35, 90, 128, [1059, 1114, 1152, 1174], 2560);
    UTF16 = (Charset::Utf16, "utf16", true, 54, 55, 101, [1078, 1079, 1125, 1147], 2816);
    UTF32 = (Charset::Utf32, "utf32", true, 60, 61, 160, [1084, 1085, 1184, 1206], 3072);
    UTF8MB3 = (Charset::Utf8mb3, "utf8mb3", true, 33, 83, 192, [1057, 1107, 1216, 1238], 2048);
    UTF8MB4 = (Charset::Utf8mb4, "utf8mb4", false, 45, 46, 224, [1069, 1070, 1248, 1270], 2304);
}

const GROUPS: [&[Collation]; 6] = [OTHERS, UCS2, UTF16, UTF32, UTF8MB3, UTF8MB4];

const COUNT: usize = {
    let (mut count, mut group) = (0, 0);
    while group < GROUPS.len() {
        count += GROUPS[group].len();
        group += 1;
    }
    count
};

/// The order of JSON documents, which has no name for users.
const JSON: Collation = {
    let json = CollationId::JSON.0;
    row(json, "json", Charset::Utf8mb4, false, false, 1, Order::Json)
};

/// Every collation, followed by the order of JSON documents.
static ROWS: [Collation; COUNT + 1] = {
    let mut rows = [JSON; COUNT + 1];
    let (mut next, mut group) = (0, 0);
    while group < GROUPS.len() {
        let mut index = 0;
        while index < GROUPS[group].len() {
            rows[next] = GROUPS[group][index];
            next += 1;
            index += 1;
        }
        group += 1;
    }
    rows
};

/// Every collation.
pub static COLLATIONS: &[Collation] = match ROWS.split_last() {
    Some((_, collations)) => collations,
    None => &[],
};

const IDS: usize = 4096;

/// Indexes in [`ROWS`] by id; ids that do not exist have the default's index.
static INDEXES: [u16; IDS] = {
    let default = CollationId::UTF8MB4_0900_AI_CI.0;
    let (mut default_index, mut index) = (0, 0);
    while index < ROWS.len() {
        if ROWS[index].id.0 == default {
            default_index = index as u16;
        }
        index += 1;
    }
    let mut indexes = [default_index; IDS];
    index = 0;
    while index < ROWS.len() {
        indexes[ROWS[index].id.0 as usize] = index as u16;
        index += 1;
    }
    indexes
};

/// The row of a collation.
pub(super) fn collation(id: CollationId) -> &'static Collation {
    &ROWS[usize::from(INDEXES[usize::from(id.0) % IDS])]
}
