//! The messages of Arrow IPC (the columnar format's "Serialization and Interprocess Communication"): of a stream one after
//! another, of a file those that its footer names.
//!
//! The library that reads a message's arrays allocates what the message says. Every length is therefore compared with the
//! file's before, and what compressed buffers take is charged to the statement: a damaged length is an error, not the end of the process.

use std::collections::HashMap;
use std::io::{Cursor, ErrorKind, Read};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_footer_length, read_record_batch};
use arrow_ipc::{MessageHeader, root_as_footer, root_as_message};
use arrow_schema::SchemaRef;
use mayfly_engine::{InputCursor, InputFile, Reservation, Result, StatementMemory};

use crate::guard::damaged;

/// The first and last bytes of a file; a stream has none.
const MAGIC: &[u8] = b"ARROW1";

/// The magic bytes and their padding, and the footer's length with the magic bytes behind it.
const HEAD: u64 = 8;
const TAIL: u64 = 10;

/// Before the length of a message's metadata, but in old files.
const MARK: [u8; 4] = [0xFF; 4];

/// The record batches of a file or a stream.
pub(super) struct Messages {
    path: String,
    file: InputFile,
    length: u64,
    memory: StatementMemory,
    schema: SchemaRef,
    place: Place,
    dictionaries: HashMap<i64, ArrayRef>,
    /// The memory of the last message.
    held: Option<Reservation>,
}

/// Where the next message is.
enum Place {
    Stream(InputCursor, u64),
    File(std::vec::IntoIter<Block>),
}

/// A message of a file.
struct Block {
    offset: u64,
    metadata: u64,
    body: u64,
}

impl Messages {
    /// Reads the schema of a file or a stream.
    pub(super) fn open(path: &str, file: InputFile, memory: &StatementMemory) -> Result<Self> {
        let failed = |error: std::io::Error| damaged(path, error);
        let length = file.version().map_err(failed)?.length;
        let begin = file.range(0..length.min(MAGIC.len() as u64));
        let (schema, place) = match begin.map_err(failed)? == MAGIC {
            true => footer(path, &file, length, memory)?,
            false => beginning(path, &file, length, memory)?,
        };
        Ok(Self {
            path: path.to_owned(),
            file,
            length,
            memory: memory.clone(),
            schema,
            place,
            dictionaries: HashMap::new(),
            held: None,
        })
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next record batch; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            self.held = None;
            let message = match &mut self.place {
                Place::File(blocks) => match blocks.next() {
                    Some(block) => Some(of_file(&self.path, &self.file, &block, &self.memory)?),
                    None => None,
                },
                Place::Stream(cursor, position) => {
                    of_stream(&self.path, cursor, position, self.length, &self.memory)?
                }
            };
            let Some((metadata, body, held)) = message else {
                return Ok(None);
            };
            self.held = Some(held);
            if let Some(record) = self.read(&metadata, body)? {
                return Ok(Some(record));
            }
        }
    }

    /// The record batch of a message; `None` of one of a dictionary.
    fn read(&mut self, metadata: &[u8], body: Vec<u8>) -> Result<Option<RecordBatch>> {
        let path = &self.path;
        let message = root_as_message(metadata).map_err(|error| damaged(path, error))?;
        let (dictionary, record) = (
            message.header_as_dictionary_batch(),
            message.header_as_record_batch(),
        );
        let Some(batch) = record.or_else(|| dictionary?.data()) else {
            return match message.header_type() {
                MessageHeader::NONE => Ok(None),
                other => Err(damaged(path, format!("a message is of the kind {other:?}"))),
            };
        };
        let decoded = match batch.compression() {
            Some(_) => decoded_length(&batch, &body),
            None => 0,
        };
        let known = self.held.as_ref().map_or(0, Reservation::bytes);
        self.held = None;
        self.held = Some(room(path, &self.memory, known.saturating_add(decoded))?);
        let body = Buffer::from_vec(body);
        let version = message.version();
        if let Some(dictionary) = dictionary {
            let known = &mut self.dictionaries;
            let read = read_dictionary(&body, dictionary, &self.schema, known, &version);
            return read.map(|()| None).map_err(|error| damaged(path, error));
        }
        let schema = Arc::clone(&self.schema);
        let read = read_record_batch(&body, batch, schema, &self.dictionaries, None, &version);
        read.map(Some).map_err(|error| damaged(path, error))
    }
}

/// Metadata and body of a message, and their memory.
type Message = (Vec<u8>, Vec<u8>, Reservation);

fn ends_early(path: &str) -> mayfly_engine::Error {
    damaged(path, std::io::Error::from(ErrorKind::UnexpectedEof))
}

/// Reserves memory that is about to be allocated: an error where the process would not get it.
pub(super) fn room(path: &str, memory: &StatementMemory, bytes: u64) -> Result<Reservation> {
    // Beyond all limits anyway.
    let held = memory.reserve(bytes.min(1 << 50))?;
    let mut probe: Vec<u8> = Vec::new();
    let length = usize::try_from(bytes).unwrap_or(usize::MAX);
    match probe.try_reserve_exact(length) {
        Ok(()) => Ok(held),
        Err(error) => Err(damaged(path, error)),
    }
}

/// The schema of a file, and its messages: those of dictionaries come first.
fn footer(
    path: &str,
    file: &InputFile,
    length: u64,
    memory: &StatementMemory,
) -> Result<(SchemaRef, Place)> {
    let failed = |error: std::io::Error| damaged(path, error);
    let end = length.checked_sub(TAIL).filter(|end| *end >= HEAD);
    let end = end.ok_or_else(|| ends_early(path))?;
    let tail = file.range(end..length).map_err(failed)?;
    let tail = tail.try_into().unwrap_or_default();
    let size = read_footer_length(tail).map_err(|error| damaged(path, error))? as u64;
    let begin = end.checked_sub(size).filter(|begin| *begin >= HEAD);
    let begin = begin.ok_or_else(|| ends_early(path))?;
    let _memory = room(path, memory, size.saturating_mul(2))?;
    let bytes = file.range(begin..end).map_err(failed)?;
    let footer = root_as_footer(&bytes).map_err(|error| damaged(path, error))?;
    let schema = footer
        .schema()
        .ok_or_else(|| damaged(path, "it has no schema"))?;
    let schema = schema_of(path, schema)?;
    let mut blocks = Vec::new();
    for block in [footer.dictionaries(), footer.recordBatches()]
        .into_iter()
        .flatten()
        .flatten()
    {
        let parts = [
            block.offset(),
            block.metaDataLength().into(),
            block.bodyLength(),
        ];
        let [Ok(offset), Ok(metadata), Ok(body)] = parts.map(u64::try_from) else {
            return Err(damaged(path, "a length of a message is negative"));
        };
        let end = offset
            .checked_add(metadata)
            .and_then(|it| it.checked_add(body));
        if end.is_none_or(|end| end > length) {
            return Err(ends_early(path));
        }
        blocks.push(Block {
            offset,
            metadata,
            body,
        });
    }
    Ok((schema, Place::File(blocks.into_iter())))
}

fn schema_of(path: &str, schema: arrow_ipc::Schema<'_>) -> Result<SchemaRef> {
    if !schema.endianness().equals_to_target_endianness() {
        return Err(damaged(path, "its numbers have their highest byte first"));
    }
    let schema = try_fb_to_schema(schema).map_err(|error| damaged(path, error))?;
    Ok(Arc::new(schema))
}

/// The schema at the beginning of a stream, and the place behind it.
fn beginning(
    path: &str,
    file: &InputFile,
    length: u64,
    memory: &StatementMemory,
) -> Result<(SchemaRef, Place)> {
    let mut cursor = file.cursor(0).map_err(|error| damaged(path, error))?;
    let mut position = 0;
    let message = of_stream(path, &mut cursor, &mut position, length, memory)?;
    let (metadata, ..) = message.ok_or_else(|| damaged(path, "it is empty"))?;
    let message = root_as_message(&metadata).map_err(|error| damaged(path, error))?;
    let schema = message.header_as_schema();
    let schema = schema.ok_or_else(|| damaged(path, "it does not begin with a schema"))?;
    Ok((schema_of(path, schema)?, Place::Stream(cursor, position)))
}

/// The message of a block.
fn of_file(
    path: &str,
    file: &InputFile,
    block: &Block,
    memory: &StatementMemory,
) -> Result<Message> {
    let behind = block.offset + block.metadata;
    let ranges = [block.offset..behind, behind..behind + block.body];
    let held = room(path, memory, block.metadata.saturating_add(block.body))?;
    let read = file.ranges(&ranges).map_err(|error| damaged(path, error))?;
    let [metadata, body]: [Vec<u8>; 2] = read.try_into().unwrap_or_default();
    let prefix = if metadata.starts_with(&MARK) { 8 } else { 4 };
    let metadata = metadata.get(prefix..).unwrap_or_default();
    Ok((metadata.to_vec(), body, held))
}

/// The message at a position of a stream; `None` at the end.
fn of_stream(
    path: &str,
    cursor: &mut InputCursor,
    position: &mut u64,
    length: u64,
    memory: &StatementMemory,
) -> Result<Option<Message>> {
    // A stream may end without the mark of its end.
    if *position >= length {
        return Ok(None);
    }
    let mut take = |bytes: u64| -> Result<Vec<u8>> {
        let rest = length.saturating_sub(*position);
        let bytes = usize::try_from(bytes).ok().filter(|_| bytes <= rest);
        let mut taken = vec![0; bytes.ok_or_else(|| ends_early(path))?];
        let read = cursor.read_exact(&mut taken);
        read.map_err(|error| damaged(path, error))?;
        *position += taken.len() as u64;
        Ok(taken)
    };
    let number = |bytes: Vec<u8>| u32::from_le_bytes(bytes.try_into().unwrap_or_default());
    let size = take(4)?;
    let size = if size == MARK { take(4)? } else { size };
    let size = u64::from(number(size));
    if size == 0 {
        return Ok(None);
    }
    if size > length {
        return Err(ends_early(path));
    }
    let held = room(path, memory, size)?;
    let metadata = take(size)?;
    let message = root_as_message(&metadata).map_err(|error| damaged(path, error))?;
    let body = u64::try_from(message.bodyLength());
    let body = body.map_err(|_| damaged(path, "a length of a message is negative"))?;
    if body > length {
        return Err(ends_early(path));
    }
    drop(held);
    let held = room(path, memory, size + body)?;
    let body = take(body)?;
    Ok(Some((metadata, body, held)))
}

/// Bytes that the compressed buffers of a batch become: each begins with the number of its bytes, or -1 for one as it is.
fn decoded_length(batch: &arrow_ipc::RecordBatch<'_>, body: &[u8]) -> u64 {
    let lengths = batch.buffers().into_iter().flatten().map(|buffer| {
        let mut at = Cursor::new(body);
        at.set_position(u64::try_from(buffer.offset()).unwrap_or(u64::MAX));
        let mut length = [0; 8];
        match at.read_exact(&mut length) {
            Ok(()) => u64::try_from(i64::from_le_bytes(length)).unwrap_or(0),
            // The library says what is wrong.
            Err(_) => 0,
        }
    });
    lengths.fold(0, u64::saturating_add)
}
