//! Every aggregate over random frames that move forward, in random blocks, compared with the same aggregate computed
//! from each frame's rows.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::Int64Array;
use arrow_array::{
    Array, ArrayRef, BinaryViewArray, Decimal128Array, Decimal256Array, Float64Array,
};
use arrow_buffer::i256;
use mayfly_types::{CollationId, SqlType};

use super::{Block, Frame, frame_aggregate};
use crate::aggregate::{AggregateFunction, AggregateSignature, by_name};
use crate::context::MysqlRandom;
use crate::testing::{context, session, show};
use crate::{Argument, Coercibility};

const ROWS: usize = 300;

struct Random(MysqlRandom);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        (self.0.next() * bound as f64) as u64
    }

    fn is_null(&mut self) -> bool {
        self.below(5) == 0
    }
}

/// A column of random values, NULLs among them.
fn column(ty: &SqlType, random: &mut Random) -> ArrayRef {
    use mayfly_types::PhysicalType as P;
    let rows = 0..ROWS;
    match ty.physical() {
        P::Float64 => {
            let value = |random: &mut Random| {
                // Sums of such numbers are exact only without any rounding.
                let scale = 10_f64.powi(random.below(60) as i32 - 30);
                (random.0.next() - 0.5) * scale
            };
            let values = rows.map(|_| (!random.is_null()).then(|| value(random)));
            Arc::new(values.collect::<Float64Array>())
        }
        P::Bytes => {
            let words = ["a", "A", "b", "ab", "", "B ", "ä"];
            let values = rows.map(|_| {
                let word = words[random.below(7) as usize];
                (!random.is_null()).then_some(word.as_bytes())
            });
            Arc::new(values.collect::<BinaryViewArray>())
        }
        P::Decimal128(scale) => {
            let values =
                rows.map(|_| (!random.is_null()).then(|| i128::from(random.below(10_000))));
            let array = values.collect::<Decimal128Array>();
            Arc::new(array.with_data_type(P::Decimal128(scale).arrow()))
        }
        P::Decimal256(scale) => {
            let value =
                |random: &mut Random| i256::from_i128(i128::MAX / 2 + i128::from(random.below(9)));
            let values = rows.map(|_| (!random.is_null()).then(|| value(random)));
            let array = values.collect::<Decimal256Array>();
            Arc::new(array.with_data_type(P::Decimal256(scale).arrow()))
        }
        _ => {
            let values = rows.map(|_| (!random.is_null()).then(|| random.below(50) as i64 - 25));
            Arc::new(values.collect::<Int64Array>())
        }
    }
}

/// Random frames that move forward, some of them empty, some jumping beyond all before. `keeps_start`: each begins
/// where its partition does.
fn frames(keeps_start: bool, random: &mut Random) -> Vec<Frame> {
    let (mut start, mut end) = (0_u64, 0_u64);
    let mut frames = Vec::new();
    let rows = ROWS as u64;
    for _ in 0..ROWS {
        if random.below(20) == 0 {
            start = (end + random.below(6)).min(rows);
            end = start;
        }
        end = (end + random.below(4)).min(rows);
        if !keeps_start {
            start = (start + random.below(4)).min(end);
        }
        frames.push((start, end));
    }
    frames
}

fn expected(
    function: &'static AggregateFunction,
    signature: &AggregateSignature,
    arguments: &[ArrayRef],
    frames: &[Frame],
) -> Vec<String> {
    let result = |(start, end): &Frame| {
        let accumulator = function.accumulator(signature, &[]);
        let mut accumulator = accumulator.expect("states");
        accumulator.resize(1);
        let (start, rows) = (*start as usize, (end - start) as usize);
        let slices: Vec<ArrayRef> = arguments.iter().map(|one| one.slice(start, rows)).collect();
        let updated = accumulator.update_one_group(0, &slices, rows, &context());
        updated.expect("an update");
        let array = accumulator.take_result(&context()).expect("a result");
        show(&array, &signature.result, 0)
    };
    frames.iter().map(result).collect()
}

/// Ranges of blocks of random lengths.
fn blocks(random: &mut Random) -> Vec<Range<u64>> {
    let mut blocks = Vec::new();
    let mut first = 0;
    while first < ROWS as u64 {
        let end = (first + 1 + random.below(40)).min(ROWS as u64);
        blocks.push(first..end);
        first = end;
    }
    blocks
}

fn check(name: &str, ty: &SqlType, argument_count: usize, seed: u64) {
    let mut random = Random(MysqlRandom::from_seed(seed));
    let function = by_name(name).expect("an aggregate");
    let argument = Argument {
        ty,
        nullable: true,
        constant: None,
        coercibility: Coercibility::Implicit,
        mixes_integers: false,
    };
    let known = vec![argument; argument_count];
    let signature = function.signature(&known, &session());
    let signature = signature.expect("a signature");
    let types = signature.arguments.iter();
    let arguments: Vec<ArrayRef> = types.map(|ty| column(ty, &mut random)).collect();
    for keeps_start in [false, true] {
        let frames = frames(keeps_start, &mut random);
        let blocks = blocks(&mut random);
        let mut aggregate =
            frame_aggregate(function, &signature, keeps_start).expect("an aggregate");
        let slices: Vec<Vec<ArrayRef>> = blocks
            .iter()
            .map(|block| {
                let (first, rows) = (block.start as usize, (block.end - block.start) as usize);
                arguments.iter().map(|one| one.slice(first, rows)).collect()
            })
            .collect();
        let of = |row: u64| {
            let at = blocks.iter().position(|block| row < block.end);
            let at = at.unwrap_or(blocks.len() - 1);
            let block = Block {
                arguments: &slices[at],
                first: blocks[at].start,
            };
            (block, blocks[at].end)
        };
        let mut results = Vec::new();
        for frame in &frames {
            let (start, end) = *frame;
            if start >= aggregate.frame().1 && aggregate.frame() != (start, start) {
                aggregate.restart(start);
            }
            loop {
                let (block, block_end) = of(aggregate.frame().1);
                if end <= block_end {
                    break;
                }
                aggregate.add(block, block_end).expect("an addition");
            }
            loop {
                let (block, block_end) = of(aggregate.frame().0);
                if start <= block_end || keeps_start {
                    break;
                }
                aggregate.remove(block, block_end).expect("a removal");
            }
            let (added, _) = of(aggregate.frame().1);
            let (removed, _) = of(aggregate.frame().0);
            let slid = aggregate.slide(added, removed, &[*frame], &context());
            slid.expect("a result");
            if random.below(30) == 0 {
                results.push(aggregate.take_results(&context()).expect("results"));
            }
        }
        results.push(aggregate.take_results(&context()).expect("results"));
        let shown = results.iter().flat_map(|array| {
            let result = &signature.result;
            (0..array.len()).map(move |row| show(array, result, row))
        });
        let expected = expected(function, &signature, &arguments, &frames);
        assert_eq!(
            shown.collect::<Vec<_>>(),
            expected,
            "{name} of {ty:?}, seed {seed}, keeps_start {keeps_start}"
        );
    }
}

#[test]
fn frames_give_what_their_rows_give() {
    let types = [
        SqlType::bigint(),
        SqlType::double(),
        SqlType::decimal(10, 2),
        SqlType::varchar(20, CollationId::default()),
    ];
    for seed in 1..6 {
        for ty in &types {
            for name in ["count", "min", "max", "json_arrayagg"] {
                check(name, ty, 1, seed);
            }
            let is_text = ty.is_string();
            for name in ["sum", "avg", "var_pop", "stddev_samp"]
                .iter()
                .filter(|_| !is_text)
            {
                check(name, ty, 1, seed);
            }
        }
        for name in ["bit_and", "bit_or", "bit_xor"] {
            check(name, &SqlType::bigint(), 1, seed);
        }
        check("sum", &SqlType::decimal(60, 2), 1, seed);
    }
}
