//! Results of this family's functions for constants and, by `check`, for columns.

use crate::testing::*;

/// POINT(1 2) in SRID 0 and in 4326, where 1 is the longitude.
const POINT: &[u8] = b"\0\0\0\0\x01\x01\0\0\0\0\0\0\0\0\0\xF0\x3F\0\0\0\0\0\0\0\x40";
const EARTH: &[u8] = b"\xE6\x10\0\0\x01\x01\0\0\0\0\0\0\0\0\0\xF0\x3F\0\0\0\0\0\0\0\x40";
/// LINESTRING(1 2,3 4).
const LINE: &[u8] = b"\0\0\0\0\x01\x02\0\0\0\x02\0\0\0\0\0\0\0\0\0\xF0\x3F\0\0\0\0\0\0\0\x40\
    \0\0\0\0\0\0\x08\x40\0\0\0\0\0\0\x10\x40";

#[test]
fn values() {
    check(&[
        ("st_astext", &[b(POINT)], "POINT(1 2)"),
        ("st_astext", &[b(EARTH)], "POINT(2 1)"),
        (
            "st_astext",
            &[b(EARTH), t("axis-order=long-lat")],
            "POINT(1 2)",
        ),
        ("st_astext", &[NULL], "NULL"),
        (
            "st_astext",
            &[b(b"\0\0\0\0\x01")],
            "ERROR 3037 (22023): Invalid GIS data provided to function st_astext.",
        ),
        (
            "st_astext",
            &[b(b"\0\0\0\0\0\0\0\0\x01\0\0\0\0")],
            "ERROR 3055 (HY000): Geometry byte string must be little endian.",
        ),
        ("st_x", &[b(POINT)], "1"),
        ("st_x", &[b(EARTH)], "2"),
        ("st_latitude", &[b(EARTH)], "2"),
        (
            "st_latitude",
            &[b(POINT)],
            "ERROR 3726 (22S00): Function st_latitude is only defined for geographic spatial reference systems, but one of its arguments is in SRID 0, which is not geographic.",
        ),
        (
            "st_x",
            &[b(LINE)],
            "ERROR 3516 (22S01): POINT value is a geometry of unexpected type LINESTRING in st_x.",
        ),
        ("st_srid", &[b(EARTH)], "4326"),
        ("st_geometrytype", &[b(LINE)], "LINESTRING"),
        ("st_dimension", &[b(LINE)], "1"),
        ("st_numpoints", &[b(LINE)], "2"),
        ("st_numpoints", &[b(POINT)], "NULL"),
        ("st_isvalid", &[b(LINE)], "1"),
        (
            "st_asgeojson",
            &[b(LINE)],
            r#"{"type": "LineString", "coordinates": [[1.0, 2.0], [3.0, 4.0]]}"#,
        ),
        (
            "st_pointfromtext",
            &[t("LINESTRING(0 0,1 1)")],
            "ERROR 3516 (22S01): WKT value is a geometry of unexpected type LINESTRING in st_pointfromtext.",
        ),
        (
            "st_geomfromtext",
            &[t("POINT(1 2)"), i(1)],
            "ERROR 3548 (SR001): There's no spatial reference system with SRID 1.",
        ),
        (
            "st_geomfromtext",
            &[t("POINT(91 2)"), i(4326)],
            "ERROR 3617 (22S03): Latitude 91.000000 is out of range in function st_geomfromtext. It must be within [-90.000000, 90.000000].",
        ),
        ("st_geomfromtext", &[t("POINT(1 2)"), NULL], "NULL"),
    ]);
}
