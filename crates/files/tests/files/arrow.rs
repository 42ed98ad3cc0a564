//! Arrow IPC files and streams.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};

use crate::support::Files;

pub(crate) fn batches() -> Vec<RecordBatch> {
    let batch = |range: std::ops::Range<i32>| {
        let texts = range
            .clone()
            .map(|number| format!("a text of number {number}"));
        let columns: [(&str, ArrayRef); 2] = [
            ("n", Arc::new(Int32Array::from_iter_values(range))),
            ("t", Arc::new(StringArray::from_iter_values(texts))),
        ];
        RecordBatch::try_from_iter(columns).expect("equal lengths")
    };
    vec![batch(0..3), batch(3..5)]
}

pub(crate) fn file_bytes(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batches[0].schema()).expect("begins");
    for batch in batches {
        writer.write(batch).expect("writes");
    }
    writer.into_inner().expect("ends")
}

#[test]
fn files_and_streams() {
    let files = Files::new();
    let batches = batches();
    let mut stream = StreamWriter::try_new(Vec::new(), &batches[0].schema()).expect("begins");
    for batch in &batches {
        stream.write(batch).expect("writes");
    }
    files
        .write("f.arrow", file_bytes(&batches))
        .write("s.arrows", stream.into_inner().expect("ends"))
        .write("named_otherwise", file_bytes(&batches));
    for name in ["f.arrow", "s.arrows", "named_otherwise"] {
        assert_eq!(
            files.rows(&format!(
                "SELECT COUNT(*), SUM(n), MAX(t) FROM '@/{name}' WHERE n > 0"
            )),
            ["4|10|a text of number 4"],
            "{name}"
        );
    }
}
