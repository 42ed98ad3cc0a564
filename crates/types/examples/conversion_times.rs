//! Times of conversions and of printing, in nanoseconds a value:
//! `cargo run --release -p mayfly-types --example conversion_times`.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "prints what it measures"
)]

use std::hint::black_box;
use std::time::Instant;

use arrow_array::ArrayRef;
use mayfly_types::convert::{
    CastContext, ColumnFormatter, StoreContext, array_of_values, cast_array, store_array,
};
use mayfly_types::temporal::{DateTime, TimeZone};
use mayfly_types::{CollationId, Decimal, Diagnostics, SqlMode, SqlType, TypeKind, Value};

const ROWS: usize = 100_000;

fn nanoseconds(mut work: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..7 {
        let begin = Instant::now();
        work();
        best = best.min(begin.elapsed().as_secs_f64());
    }
    best * 1e9 / ROWS as f64
}

fn column(ty: &SqlType, value: impl Fn(u64) -> Value) -> ArrayRef {
    // Any bijective scramble will do.
    let values: Vec<Value> = (0..ROWS as u64)
        .map(|row| value(row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20))
        .collect();
    array_of_values(&values, ty.physical())
}

fn main() {
    let text = SqlType::varchar(40, CollationId::UTF8MB4_0900_AI_CI);
    let int = SqlType::integer(TypeKind::Int);
    let decimal = SqlType::decimal(12, 2);
    let datetime = SqlType::temporal(TypeKind::DateTime, 0);
    let double = SqlType::double();
    let as_text = |value: String| Value::Bytes(value.into_bytes());
    let day = |n: u64| {
        DateTime::date(
            1970 + (n % 60) as u16,
            1 + (n % 12) as u8,
            1 + (n % 28) as u8,
        )
    };
    let moment = |n: u64| day(n).with_time_of_day((n % 86_400) as i64 * 1_000_000);
    let columns: Vec<(&str, SqlType, ArrayRef)> = vec![
        (
            "int",
            int.clone(),
            column(&int, |n| Value::Int((n % 2_000_000) as i64 - 1_000_000)),
        ),
        (
            "double",
            double.clone(),
            column(&double, |n| Value::Float(n as f64 / 977.0)),
        ),
        (
            "decimal",
            decimal.clone(),
            column(&decimal, |n| {
                Decimal::from_i128(i128::from(n % 1_000_000_000), 2).into()
            }),
        ),
        (
            "datetime",
            datetime.clone(),
            column(&datetime, |n| Value::Int(moment(n).pack())),
        ),
        (
            "'123456'",
            text.clone(),
            column(&text, |n| as_text((n % 2_000_000).to_string())),
        ),
        (
            "'1234.56'",
            text.clone(),
            column(&text, |n| {
                as_text(format!("{}.{:02}", n % 1_000_000, n % 100))
            }),
        ),
        (
            "'2024-01-31 12:00:00'",
            text.clone(),
            column(&text, |n| {
                let mut out = Vec::new();
                mayfly_types::temporal::append_datetime(&mut out, moment(n).pack(), 0);
                Value::Bytes(out)
            }),
        ),
        (
            "'word'",
            text.clone(),
            column(&text, |n| as_text(format!("word {}", n % 5000))),
        ),
    ];
    let diagnostics = Diagnostics::new(64);
    let context = CastContext {
        sql_mode: SqlMode::default(),
        diagnostics: &diagnostics,
        time_zone: &TimeZone::UTC,
        now: DateTime::default(),
        operand: "",
        room: None,
    };
    let store = StoreContext {
        cast: context,
        ignore: false,
        table: "t",
        column: "c",
        row: 1,
    };
    let targets = [
        ("int", int),
        ("bigint", SqlType::bigint()),
        ("double", double),
        ("decimal", decimal),
        ("datetime", datetime),
        ("varchar", text),
    ];
    println!(
        "{:24}{:>10}{}",
        "",
        "print",
        targets
            .iter()
            .map(|(name, _)| format!("{name:>18}"))
            .collect::<String>()
    );
    for (name, from, array) in &columns {
        let formatter = ColumnFormatter::new(array.as_ref(), from);
        let mut out = Vec::new();
        let print = nanoseconds(|| {
            out.clear();
            for row in 0..ROWS {
                black_box(formatter.append(row, &mut out));
            }
        });
        print!("{name:24}{print:>10.1}");
        for (_, to) in &targets {
            let cast = nanoseconds(|| {
                black_box(cast_array(array, from, to, &context)).expect("casts do not fail here");
            });
            let stored = nanoseconds(|| {
                black_box(store_array(array, from, to, &store)).expect("the mode is not strict");
            });
            print!("{:>18}", format!("{cast:.1} / {stored:.1}"));
        }
        println!();
    }
}
