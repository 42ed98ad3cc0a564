//! Types, values and settings.

use std::sync::Arc;

use mayfly_functions::Coercibility;
use mayfly_functions::Signature;
use mayfly_types::geometry::GeometryKind;
use mayfly_types::temporal::{Locale, TimeZone};
use mayfly_types::{CollationId, Purpose, SessionParameters, SqlMode, SqlType, TypeKind, Value};

use super::bytes::{Encoded, Reader, Refused, Writer, encoded_enum, encoded_struct, malformed};

encoded_enum!(GeometryKind {
    0 => Any, 1 => Point, 2 => LineString, 3 => Polygon, 4 => MultiPoint, 5 => MultiLineString,
    6 => MultiPolygon, 7 => Collection,
});

encoded_enum!(TypeKind {
    0 => Null, 1 => Boolean, 2 => TinyInt, 3 => SmallInt, 4 => MediumInt, 5 => Int, 6 => BigInt,
    7 => Decimal, 8 => Float, 9 => Double, 10 => Bit, 11 => Year, 12 => Date, 13 => Time,
    14 => DateTime, 15 => Timestamp, 16 => Char, 17 => VarChar, 18 => TinyText, 19 => Text,
    20 => MediumText, 21 => LongText, 22 => Enum, 23 => Set, 24 => Json, 25 => Geometry(kind),
    26 => Vector,
});

encoded_struct!(SqlType {
    kind,
    unsigned,
    zerofill,
    is_bytes_literal,
    length,
    decimals,
    collation,
    temporal_text,
    srid,
    members,
});

encoded_enum!(Value {
    0 => Null, 1 => Int(value), 2 => UInt(value), 3 => Float(value), 4 => Decimal { unscaled, scale },
    5 => Bytes(value),
});

encoded_enum!(Coercibility {
    0 => Explicit, 1 => None, 2 => Implicit, 3 => SystemConstant, 4 => Coercible, 5 => Numeric,
    6 => Ignorable,
});

encoded_enum!(Purpose {
    0 => GroupBy, 1 => Distinct, 2 => Aggregate, 3 => SetOperation, 4 => OrderBy, 5 => Join,
    6 => DerivedTable, 7 => CommonTableExpression, 8 => RecursionRound, 9 => Subquery,
    10 => SubqueryCache, 11 => Buffer, 12 => Window, 13 => UserTable, 14 => KeptResult,
    15 => TransactionChanges, 16 => Exchange,
});

encoded_struct!(Signature {
    arguments,
    result,
    nullable,
    coercibility,
    known,
    text
});

encoded_struct!(SessionParameters {
    sql_mode,
    collation_connection,
    time_zone,
    lc_time_names,
    default_week_format,
    div_precision_increment,
    group_concat_max_len,
    max_allowed_packet,
});

impl Encoded for CollationId {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        self.0.write(to)
    }

    fn read(from: &mut Reader<'_>) -> mayfly_types::Result<Self> {
        u16::read(from).map(Self)
    }
}

impl Encoded for SqlMode {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        self.0.write(to)
    }

    fn read(from: &mut Reader<'_>) -> mayfly_types::Result<Self> {
        u32::read(from).map(Self)
    }
}

/// By name: a worker has a table of zones of its own. SYSTEM is the zone of the server's machine.
impl Encoded for TimeZone {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        let unnamed = || Refused("the time zone of the operating system has no name".to_owned());
        self.portable().ok_or_else(unnamed)?.name().write(to)
    }

    fn read(from: &mut Reader<'_>) -> mayfly_types::Result<Self> {
        Self::parse(&String::read(from)?)
    }
}

impl Encoded for &'static Locale {
    fn write(&self, to: &mut Writer) -> Result<(), Refused> {
        Arc::<str>::from(self.name).write(to)
    }

    fn read(from: &mut Reader<'_>) -> mayfly_types::Result<Self> {
        Locale::by_name(&String::read(from)?).ok_or_else(malformed)
    }
}
