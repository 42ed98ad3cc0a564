//! Check that every promised function exists, by all names that MySQL has for it, and is documented in
//! `docs/functions.md`.

use crate::{aggregate, scalar};

/// The promised functions and operators, by family. Expressions of the planner (comparisons, AND, OR, NOT, IS NULL,
/// BETWEEN, IN, CASE, CAST) are not called by name.
const PROMISED: &[&str] = &[
    // Operators
    "+ - * / div % mod negate & | ^ << >> ~ xor like regexp rlike collate",
    // Control flow
    "if ifnull nullif coalesce greatest least interval isnull elt field",
    // Strings
    "ascii bin bit_length char char_length character_length concat concat_ws export_set find_in_set \
     format from_base64 to_base64 hex unhex insert instr lcase lower left length octet_length locate \
     position lpad rpad ltrim rtrim trim make_set mid substr substring oct ord quote repeat replace \
     reverse right soundex space strcmp substring_index ucase upper weight_string charset collation \
     coercibility regexp_like regexp_instr regexp_replace regexp_substr",
    // Digests, compression, identifiers, addresses
    "md5 sha1 sha sha2 crc32 crc32c compress uncompress uncompressed_length uuid uuid_short uuid_to_bin bin_to_uuid \
     is_uuid random_bytes aes_encrypt aes_decrypt inet_aton inet_ntoa inet6_aton inet6_ntoa is_ipv4 \
     is_ipv6 is_ipv4_compat is_ipv4_mapped",
    // Numbers
    "abs acos asin atan atan2 ceil ceiling conv cos cot degrees exp floor ln log log10 log2 pi pow \
     power radians rand round sign sin sqrt tan truncate bit_count",
    // Dates and times
    "now current_timestamp localtime localtimestamp sysdate curdate current_date curtime \
     current_time utc_date utc_time utc_timestamp date time year quarter month day dayofmonth \
     dayofweek dayofyear weekday week weekofyear yearweek hour minute second microsecond dayname \
     monthname last_day extract date_add adddate date_sub subdate addtime subtime timestampadd \
     timestampdiff datediff timediff date_format time_format str_to_date get_format makedate \
     maketime from_days to_days to_seconds from_unixtime unix_timestamp sec_to_time time_to_sec \
     period_add period_diff timestamp convert_tz",
    // JSON
    "json_extract json_unquote json_value json_object json_array json_quote json_keys json_length \
     json_depth json_type json_valid json_contains json_contains_path json_search json_overlaps \
     json_set json_insert json_replace json_remove json_merge_patch json_merge_preserve \
     json_array_append json_array_insert json_pretty json_storage_size json_storage_free \
     json_schema_valid json_schema_validation_report",
    // Geometries and vectors
    "st_geomfromtext st_geometryfromtext st_pointfromtext st_linefromtext st_linestringfromtext \
     st_polyfromtext st_polygonfromtext st_mpointfromtext st_multipointfromtext st_mlinefromtext \
     st_multilinestringfromtext st_mpolyfromtext st_multipolygonfromtext st_geomcollfromtext \
     st_geometrycollectionfromtext st_geomfromwkb st_geometryfromwkb st_pointfromwkb st_linefromwkb \
     st_linestringfromwkb st_polyfromwkb st_polygonfromwkb st_mpointfromwkb st_multipointfromwkb \
     st_mlinefromwkb st_multilinestringfromwkb st_mpolyfromwkb st_multipolygonfromwkb st_geomcollfromwkb \
     st_geometrycollectionfromwkb st_geomcollfromtxt st_geomfromgeojson point linestring polygon \
     multipoint multilinestring multipolygon geometrycollection geomcollection st_astext st_aswkt \
     st_aswkb st_asbinary st_asgeojson st_x st_y st_latitude st_longitude st_srid st_geometrytype \
     st_dimension st_isempty st_isvalid st_numpoints st_pointn st_startpoint st_endpoint st_isclosed \
     st_numgeometries st_geometryn st_exteriorring st_interiorringn st_numinteriorrings \
     st_numinteriorring st_swapxy",
    "to_vector string_to_vector from_vector vector_to_string vector_dim",
    // Information, and user variables
    "version database schema user current_role current_user session_user system_user connection_id \
     ps_current_thread_id get_lock release_lock release_all_locks is_free_lock is_used_lock last_insert_id row_count found_rows benchmark sleep any_value name_const icu_version \
     format_bytes format_pico_time gtid_subset gtid_subtract wait_for_executed_gtid_set source_pos_wait master_pos_wait ps_thread_id roles_graphml \
     extractvalue updatexml \
     validate_password_strength load_file statement_digest statement_digest_text get_user_variable set_user_variable",
];

const AGGREGATES: &str = "count sum avg min max group_concat std stddev stddev_pop stddev_samp \
     var_pop var_samp variance bit_and bit_or bit_xor json_arrayagg json_objectagg any_value";

const DOCUMENTATION: &str = include_str!("../../../docs/functions.md");

fn is_documented(name: &str) -> bool {
    // An unescaped bar would end a table's cell.
    let name = name.to_uppercase().replace('|', "\\|");
    DOCUMENTATION.contains(&format!("`{name}`"))
}

#[test]
fn every_promised_name_is_known() {
    let unknown: Vec<&str> = PROMISED
        .iter()
        .flat_map(|family| family.split_whitespace())
        .filter(|name| scalar::by_name(name).is_none())
        .chain(
            AGGREGATES
                .split_whitespace()
                .filter(|name| aggregate::by_name(name).is_none()),
        )
        .collect();
    assert_eq!(unknown, Vec::<&str>::new());
    assert!(scalar::by_name("member of").is_some());
    assert!(scalar::by_name("UPPER").is_some(), "names have no case");
}

#[test]
fn every_name_is_documented() {
    // Internal names, which users cannot write.
    let inner = [
        "negate",
        "get_user_variable",
        "set_user_variable",
        "comparable date",
        "comparable datetime",
        "only row",
        "frame distance",
        "char of two bytes",
        "char of four bytes",
        "convert exactly",
        "cast as array",
        "cast as point",
        "cast as linestring",
        "cast as polygon",
        "cast as multipoint",
        "cast as multilinestring",
        "cast as multipolygon",
        "cast as geometrycollection",
    ];
    let scalars = scalar::all().flat_map(|function| function.names());
    let aggregates = aggregate::FUNCTIONS
        .iter()
        .flat_map(|function| function.names());
    let missing: Vec<&str> = scalars
        .chain(aggregates)
        .copied()
        .filter(|name| !inner.contains(name) && !is_documented(name))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn no_two_functions_share_a_name() {
    let mut names: Vec<&str> = scalar::all()
        .flat_map(|function| function.names())
        .copied()
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
