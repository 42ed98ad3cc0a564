//! Parallel parsing of a file in large blocks, in the order of the file.
//!
//! A block ends after a probable end of a line. The guess may be wrong: the terminator may be inside an enclosed
//! field, which only reading from the beginning shows. So every block is parsed speculatively as if it began with a
//! line, and the thread that takes the results in order knows where the lines of the block before really ended. If
//! that is not at the block's end, the rest is put before the next block, whose result is discarded and computed
//! again. The results always equal those of a sequential read.

use std::collections::BTreeMap;
use std::io::{Error as IoError, ErrorKind, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use mayfly_storage::WorkerPool;
use mayfly_types::Result;
use mayfly_types::charset::Charset;
use mayfly_types::error::codes;
use parking_lot::{Condvar, Mutex};

use super::{Format, LineEnd, Splitter};
use crate::files;

/// Bytes of a block, up to a line: large enough that handing it over costs nothing, small enough to stay in the cache
/// while it is parsed.
const BLOCK_BYTES: usize = 1 << 20;

/// Minimum bytes of a block, however little memory there is.
const BLOCK_BYTES_MIN: usize = 16 << 10;

/// Default bytes per read, as of `read_buffer_size`.
const READ_BYTES: usize = 128 << 10;

/// Memory of a block and its parsed rows, as a multiple of the block.
const BLOCKS_PER_BLOCK: u64 = 3;

/// Number of blocks that a thread may be ahead of the taker.
const BLOCKS_AHEAD: u64 = 4;

/// A part of the file.
#[derive(Debug)]
pub struct Block {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether the file ends with it.
    pub is_last: bool,
}

/// Source of bytes: a file, or a client's data.
struct Input(Box<dyn Read + Send>);

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Input")
    }
}

/// Splitter of a file into blocks.
#[derive(Debug)]
pub struct Blocks {
    file: Input,
    path: String,
    block_bytes: usize,
    /// Bytes per read: at most those of a block.
    read_bytes: usize,
    line_end: Vec<u8>,
    charset: Charset,
    /// Bytes read after the end of the last block.
    tail: Vec<u8>,
    /// Whether the end of the file was reached.
    is_read: bool,
    ended: bool,
}

impl Blocks {
    /// The blocks of a file whose text is UTF-8; its path is for errors.
    pub fn new(file: impl Read + Send + 'static, path: &str, format: &Format) -> Self {
        Self {
            file: Input(Box::new(file)),
            path: path.to_owned(),
            block_bytes: BLOCK_BYTES,
            read_bytes: READ_BYTES,
            line_end: format.line_end_when_reading().to_vec(),
            charset: Charset::Utf8mb4,
            tail: Vec::new(),
            is_read: false,
            ended: false,
        }
    }

    /// Sets the file's character set.
    #[must_use]
    pub(crate) fn in_charset(mut self, charset: Charset) -> Self {
        self.charset = charset;
        self
    }

    /// Reads `bytes` bytes at a time (`read_buffer_size`); a block holds at least one such read.
    #[must_use]
    pub fn reading(self, bytes: u64) -> Self {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).max(1);
        self.sized(BLOCK_BYTES.max(bytes), bytes)
    }

    /// Makes blocks and reads so small that `threads` threads hold about `memory` bytes at most.
    #[must_use]
    pub(crate) fn within(self, memory: u64, threads: usize) -> Self {
        let bytes = memory / in_flight(threads);
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let block_bytes = bytes.max(BLOCK_BYTES_MIN).min(self.block_bytes);
        let read_bytes = self.read_bytes;
        self.sized(block_bytes, read_bytes)
    }

    fn sized(self, block_bytes: usize, read_bytes: usize) -> Self {
        Self {
            block_bytes,
            read_bytes: read_bytes.min(block_bytes),
            ..self
        }
    }

    /// Bytes that `threads` threads hold at most while reading, lines longer than a block aside.
    pub(crate) fn memory_bytes(&self, threads: usize) -> u64 {
        in_flight(threads) * self.block_bytes as u64
    }

    /// Blocks of another size, for tests.
    #[cfg(test)]
    fn with_block_bytes(self, block_bytes: usize) -> Self {
        let read_bytes = self.read_bytes;
        self.sized(block_bytes, read_bytes)
    }

    /// Whether ends of lines can be guessed, so that blocks can be parsed in parallel.
    fn can_guess(&self) -> bool {
        !self.line_end.is_empty()
    }

    fn failed(&self, error: &IoError) -> mayfly_types::Error {
        let text = files::system_text(error);
        let errno = error.raw_os_error().unwrap_or(0);
        codes::EE_READ.with(&[&self.path, &errno, &text])
    }

    /// Skips the file's first bytes, which hold whole lines.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn skip_bytes(&mut self, bytes: usize) -> Result<()> {
        self.fill(bytes)?;
        self.tail.drain(..bytes.min(self.tail.len()));
        Ok(())
    }

    /// Reads until `bytes` bytes follow the last block, or the file ends.
    fn fill(&mut self, bytes: usize) -> Result<()> {
        while !self.is_read && self.tail.len() < bytes {
            self.read_on()?;
        }
        Ok(())
    }

    /// Reads once, the number of bytes per read: fewer only at the end of the file.
    fn read_on(&mut self) -> Result<()> {
        let mut end = self.tail.len();
        if end == 0 {
            self.tail.reserve(self.block_bytes);
        }
        // The part is in the cache when the read fills it, so clearing it costs little.
        self.tail.resize(end + self.read_bytes, 0);
        while end < self.tail.len() {
            match self.file.0.read(&mut self.tail[end..]) {
                Ok(0) => {
                    self.is_read = true;
                    self.tail.truncate(end);
                }
                Ok(count) => end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(&error)),
            }
        }
        Ok(())
    }

    /// IGNORE n LINES: skips the file's first lines, whatever their contents.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn skip_lines(&mut self, format: &Format, lines: u64) -> Result<()> {
        let mut wanted = self.block_bytes;
        let mut left = lines;
        while left > 0 {
            self.fill(wanted)?;
            let mut splitter = Splitter::new(format, &self.tail, self.is_read);
            while left > 0 && matches!(splitter.next_line(), LineEnd::Ended { .. }) {
                left -= 1;
            }
            let skipped = splitter.line_begin();
            self.tail.drain(..skipped);
            if left > 0 && self.is_read {
                self.tail.clear();
                return Ok(());
            }
            wanted = self.tail.len() + self.block_bytes;
        }
        Ok(())
    }

    /// The next block; `None` after the last.
    fn next(&mut self) -> Result<Option<Block>> {
        if self.ended {
            return Ok(None);
        }
        // As many reads as fit into a block, and one at least.
        self.fill((self.block_bytes - self.read_bytes).max(1))?;
        if !self.is_read && self.tail.len() < self.read_bytes {
            self.read_on()?;
        }
        let mut bytes = std::mem::take(&mut self.tail);
        if self.is_read {
            self.ended = true;
        } else if let Some(end) = last_end(&bytes, &self.line_end) {
            self.tail = Vec::with_capacity(self.block_bytes + bytes.len() - end);
            self.tail.extend_from_slice(&bytes[end..]);
            bytes.truncate(end);
        }
        let is_ascii = self.charset.keeps_ascii() && bytes.is_ascii();
        let is_as_stored = is_ascii || self.charset.is_stored_as_is();
        if !is_as_stored && let Ok(text) = self.charset.decode(&bytes) {
            bytes = text.into_owned();
        }
        Ok(Some(Block {
            bytes,
            is_last: self.ended,
        }))
    }
}

/// Number of blocks in memory at once.
fn in_flight(threads: usize) -> u64 {
    let blocks = match threads {
        0 | 1 => 1,
        threads => BLOCKS_AHEAD * threads as u64,
    };
    BLOCKS_PER_BLOCK * blocks
}

/// The end of the last terminator in the bytes.
fn last_end(bytes: &[u8], terminator: &[u8]) -> Option<usize> {
    let last = *terminator.last()?;
    let mut end = bytes.len();
    while let Some(at) = memchr::memrchr(last, &bytes[..end]) {
        if bytes[..=at].ends_with(terminator) {
            return Some(at + 1);
        }
        end = at;
    }
    None
}

/// Parser of blocks, on any thread.
pub trait Parser: Sync {
    /// Result of a block.
    type Parsed: Send;

    /// Parses the lines of some bytes. `is_last`: the file ends with them.
    fn parse(&self, bytes: &[u8], is_last: bool) -> Self::Parsed;
}

/// Consumer of parsed blocks, in the order of the file.
pub trait Taker<P> {
    /// Takes a block's rows; returns the number of its bytes that belong to whole lines.
    ///
    /// # Errors
    /// What ends the reading.
    fn take(&mut self, block: &Block, parsed: P) -> Result<usize>;

    /// Called with the bytes of a line that is longer than a block, as it grows.
    ///
    /// # Errors
    /// What ends the reading.
    fn hold(&mut self, _bytes: usize) -> Result<()> {
        Ok(())
    }
}

struct Ahead {
    blocks: Blocks,
    /// Number of the next block.
    next: u64,
    /// Number of blocks taken.
    taken: u64,
    stopped: bool,
}

struct Shared {
    ahead: Mutex<Ahead>,
    changed: Condvar,
}

impl Shared {
    fn stop(&self) {
        self.ahead.lock().stopped = true;
        self.changed.notify_all();
    }
}

/// Guard that wakes all waiting threads when a thread panics or the reader ends.
struct StopWhenDropped<'a> {
    shared: &'a Shared,
    /// Whether it also acts without a panic.
    always: bool,
}

impl Drop for StopWhenDropped<'_> {
    fn drop(&mut self) {
        if self.always || std::thread::panicking() {
            self.shared.stop();
        }
    }
}

type Numbered<P> = (u64, Result<(Block, P)>);

/// Parses all blocks on up to `threads` threads and hands them over. The first thread always runs, because it parses
/// while the caller takes; `workers` admits the others.
///
/// # Errors
/// The file cannot be read, or what the taker says.
pub fn read<P: Parser>(
    mut blocks: Blocks,
    threads: usize,
    workers: &WorkerPool,
    parser: &P,
    taker: &mut impl Taker<P::Parsed>,
) -> Result<()> {
    let mut order = Order {
        parser,
        taker,
        carry: Vec::new(),
        parse_from: 0,
    };
    let Some(first) = blocks.next()? else {
        return Ok(());
    };
    let is_only = first.is_last;
    let parsed = parser.parse(&first.bytes, first.is_last);
    order.take(first, parsed)?;
    if is_only {
        return Ok(());
    }
    if threads < 2 || !blocks.can_guess() {
        while let Some(block) = blocks.next()? {
            order.take_unparsed(block)?;
        }
        return Ok(());
    }
    let shared = Shared {
        ahead: Mutex::new(Ahead {
            blocks,
            next: 0,
            taken: 0,
            stopped: false,
        }),
        changed: Condvar::new(),
    };
    let (sender, receiver) = sync_channel(threads * 2);
    std::thread::scope(|scope| {
        // Dropped here however this ends: wakes workers that wait for room or to send.
        let _stop = StopWhenDropped {
            shared: &shared,
            always: true,
        };
        let receiver = receiver;
        let parsing = || {
            let (shared, sender) = (&shared, sender.clone());
            move || work(shared, parser, threads, &sender)
        };
        let first = std::thread::Builder::new().spawn_scoped(scope, parsing());
        let help = |_| {
            let parse = parsing();
            workers.spawn_scoped(scope, move |_| parse())
        };
        let helpers = (1..threads).map_while(help);
        let spawned: Vec<_> = first.into_iter().chain(helpers).collect();
        drop(sender);
        if spawned.is_empty() {
            // The system may refuse another thread.
            while let Some(block) = shared.ahead.lock().blocks.next()? {
                order.take_unparsed(block)?;
            }
            return Ok(());
        }
        let result = order.take_all(&shared, &receiver);
        shared.stop();
        drop(receiver);
        for parsing in spawned {
            parsing
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        result
    })
}

fn work<P: Parser>(
    shared: &Shared,
    parser: &P,
    threads: usize,
    sender: &SyncSender<Numbered<P::Parsed>>,
) {
    let _stop = StopWhenDropped {
        shared,
        always: false,
    };
    loop {
        let (number, block) = {
            let mut ahead = shared.ahead.lock();
            while !ahead.stopped && ahead.next >= ahead.taken + BLOCKS_AHEAD * threads as u64 {
                shared.changed.wait(&mut ahead);
            }
            if ahead.stopped {
                return;
            }
            let block = ahead.blocks.next().transpose();
            let Some(block) = block else {
                return;
            };
            ahead.next += 1;
            (ahead.next - 1, block)
        };
        let parsed = block.map(|block| {
            let parsed = parser.parse(&block.bytes, block.is_last);
            (block, parsed)
        });
        let failed = parsed.is_err();
        if sender.send((number, parsed)).is_err() || failed {
            return;
        }
    }
}

/// Takes blocks in order, and re-parses those with a wrong guess.
struct Order<'a, P, T> {
    parser: &'a P,
    taker: &'a mut T,
    /// The beginning of a line that ends in a later block.
    carry: Vec<u8>,
    /// Length of `carry` from which its end is searched again.
    parse_from: usize,
}

impl<P: Parser, T: Taker<P::Parsed>> Order<'_, P, T> {
    fn take_all(
        &mut self,
        shared: &Shared,
        receiver: &Receiver<Numbered<P::Parsed>>,
    ) -> Result<()> {
        let mut early = BTreeMap::new();
        let mut next = 0;
        for (number, parsed) in receiver {
            early.insert(number, parsed);
            while let Some(parsed) = early.remove(&next) {
                let (block, parsed) = parsed?;
                self.take(block, parsed)?;
                next += 1;
                shared.ahead.lock().taken = next;
                shared.changed.notify_all();
            }
        }
        Ok(())
    }

    fn take(&mut self, block: Block, parsed: P::Parsed) -> Result<()> {
        if !self.carry.is_empty() {
            return self.take_unparsed(block);
        }
        let end = self.taker.take(&block, parsed)?;
        self.keep_rest(&block, end);
        Ok(())
    }

    fn take_unparsed(&mut self, mut block: Block) -> Result<()> {
        if !self.carry.is_empty() {
            self.carry.extend_from_slice(&block.bytes);
            self.taker.hold(self.carry.len())?;
            if self.carry.len() < self.parse_from && !block.is_last {
                return Ok(());
            }
            block.bytes = std::mem::take(&mut self.carry);
        }
        let parsed = self.parser.parse(&block.bytes, block.is_last);
        let end = self.taker.take(&block, parsed)?;
        self.keep_rest(&block, end);
        Ok(())
    }

    fn keep_rest(&mut self, block: &Block, end: usize) {
        if !block.is_last {
            self.carry
                .extend_from_slice(block.bytes.get(end..).unwrap_or(&[]));
        }
        // A long line is re-read each time that it has doubled, not with each block.
        self.parse_from = 2 * self.carry.len();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::delimited::Step;

    struct Lines(Format);

    struct Fields(Vec<String>, usize);

    impl Parser for Lines {
        type Parsed = Fields;

        fn parse(&self, bytes: &[u8], is_last: bool) -> Fields {
            let mut splitter = Splitter::new(&self.0, bytes, is_last);
            let mut lines = Vec::new();
            while let Step::Field(field) = splitter.field() {
                let line = String::from_utf8_lossy(splitter.bytes_of(&field)).into_owned();
                match splitter.next_line() {
                    LineEnd::Incomplete => break,
                    LineEnd::Ended { .. } => lines.push(line),
                    LineEnd::EndOfFile => {
                        lines.push(line);
                        break;
                    }
                }
            }
            Fields(lines, splitter.line_begin())
        }
    }

    impl Taker<Fields> for Vec<String> {
        fn take(&mut self, _: &Block, parsed: Fields) -> Result<usize> {
            self.extend(parsed.0);
            Ok(parsed.1)
        }
    }

    /// A taker that panics after a number of lines.
    struct Panics(usize);

    impl Taker<Fields> for Panics {
        fn take(&mut self, _: &Block, parsed: Fields) -> Result<usize> {
            self.0 = self.0.saturating_sub(parsed.0.len());
            assert!(self.0 > 0, "a bug of the taker");
            Ok(parsed.1)
        }
    }

    struct PanickingLines(Lines);

    impl Parser for PanickingLines {
        type Parsed = Fields;

        fn parse(&self, bytes: &[u8], is_last: bool) -> Fields {
            assert!(!bytes.starts_with(b"500"), "a bug of the parser");
            self.0.parse(bytes, is_last)
        }
    }

    fn file_of(text: &str) -> tempfile::NamedTempFile {
        let written = tempfile::NamedTempFile::new().expect("a file for the test");
        std::fs::write(written.path(), text).expect("it is written");
        written
    }

    fn blocks_of(written: &tempfile::NamedTempFile, format: &Format, block_bytes: usize) -> Blocks {
        let file = File::open(written.path()).expect("it was written");
        Blocks::new(file, "x", format).with_block_bytes(block_bytes)
    }

    /// The panic comes out, and no thread waits for one that is gone.
    #[test]
    fn a_panic_on_either_side_ends_the_reading() {
        use std::panic::{AssertUnwindSafe, catch_unwind};
        let format = Format::default();
        let text: String = (100..900).map(|number| format!("{number}\n")).collect();
        let written = file_of(&text);
        let blocks = || blocks_of(&written, &format, 4);
        let text_of = |outcome: std::thread::Result<Result<()>>| {
            let payload = outcome.expect_err("it panics");
            let text = payload.downcast_ref::<&str>().copied();
            text.expect("a panic of a literal").to_owned()
        };
        let lines = Lines(format.clone());
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            read(blocks(), 3, &WorkerPool::new(3), &lines, &mut Panics(300))
        }));
        assert_eq!(text_of(outcome), "a bug of the taker");
        let lines = PanickingLines(lines);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            read(blocks(), 3, &WorkerPool::new(3), &lines, &mut Panics(9000))
        }));
        assert_eq!(text_of(outcome), "a bug of the parser");
    }

    /// A line of many blocks is looked through a few times only, and its bytes are reported.
    #[test]
    fn a_line_without_end_takes_linear_time() {
        struct Counted(Lines, std::sync::atomic::AtomicUsize);

        impl Parser for Counted {
            type Parsed = Fields;

            fn parse(&self, bytes: &[u8], is_last: bool) -> Fields {
                let ordering = std::sync::atomic::Ordering::Relaxed;
                self.1.fetch_add(bytes.len(), ordering);
                self.0.parse(bytes, is_last)
            }
        }

        struct Held(usize, usize);

        impl Taker<Fields> for Held {
            fn take(&mut self, _: &Block, parsed: Fields) -> Result<usize> {
                self.0 += parsed.0.len();
                Ok(parsed.1)
            }

            fn hold(&mut self, bytes: usize) -> Result<()> {
                self.1 = self.1.max(bytes);
                Ok(())
            }
        }

        let format = Format {
            enclosed: Some(b'"'),
            ..Format::default()
        };
        let text = format!("one\n\"{}", "x\n".repeat(50_000));
        let written = file_of(&text);
        for threads in [1, 3] {
            let blocks = blocks_of(&written, &format, 100);
            let parser = Counted(Lines(format.clone()), Default::default());
            let mut held = Held(0, 0);
            read(
                blocks,
                threads,
                &WorkerPool::new(threads),
                &parser,
                &mut held,
            )
            .expect("readable");
            assert_eq!((held.0, held.1), (2, text.len() - 4));
            let looked = parser.1.into_inner();
            assert!(looked < 6 * text.len(), "{looked} bytes");
        }
    }

    /// The lines of all blocks.
    fn lines_of(blocks: Blocks, threads: usize, format: &Format) -> Vec<String> {
        let mut lines = Vec::new();
        read(
            blocks,
            threads,
            &WorkerPool::new(threads),
            &Lines(format.clone()),
            &mut lines,
        )
        .expect("readable");
        lines
    }

    /// A reader that remembers how many bytes it was asked for, and gives fewer if it is told to.
    struct Asked {
        text: std::io::Cursor<Vec<u8>>,
        most: usize,
        asked: std::sync::Arc<Mutex<Vec<usize>>>,
    }

    impl Read for Asked {
        fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
            self.asked.lock().push(bytes.len());
            let most = self.most.min(bytes.len());
            self.text.read(&mut bytes[..most])
        }
    }

    /// A file is asked for as many bytes at a time as was said, whatever blocks are made of them, unless memory is short.
    #[test]
    fn a_file_is_read_so_many_bytes_at_a_time() {
        let format = Format::default();
        let lines: Vec<String> = (0..300_000)
            .map(|number| format!("line {number}"))
            .collect();
        let text = lines.join("\n").into_bytes();
        let length = text.len();
        for (read_bytes, threads) in [
            (8192, 1),
            (8192, 3),
            (100_000, 2),
            (1 << 20, 1),
            (3 << 20, 2),
        ] {
            for most in [usize::MAX, 5000] {
                let asked = std::sync::Arc::default();
                let file = Asked {
                    text: std::io::Cursor::new(text.clone()),
                    most,
                    asked: std::sync::Arc::clone(&asked),
                };
                let blocks = Blocks::new(file, "x", &format).reading(read_bytes as u64);
                assert!(
                    lines_of(blocks, threads, &format) == lines,
                    "reads of {read_bytes}"
                );
                let asked = asked.lock();
                assert!(asked.iter().all(|bytes| *bytes <= read_bytes));
                if most == usize::MAX {
                    // The last full read may show the end of the file, or the rest of the part is asked for once more.
                    let whole = asked.iter().filter(|bytes| **bytes == read_bytes).count();
                    assert_eq!(whole, length / read_bytes + 1, "reads of {read_bytes}");
                    assert!(asked.len() <= whole + 1);
                }
            }
        }
        let short = Blocks::new(std::io::empty(), "x", &format)
            .reading(8 << 20)
            .within(3 << 20, 1);
        assert_eq!((short.block_bytes, short.read_bytes), (1 << 20, 1 << 20));
        assert_eq!(short.memory_bytes(1), 3 << 20);
    }

    /// However a file is cut, its lines are the same: most of them hide ends of lines in quotes.
    #[test]
    fn lines_do_not_depend_on_blocks() {
        let format = Format {
            enclosed: Some(b'"'),
            ..Format::default()
        };
        let line = |number: usize| match number % 3 {
            0 => format!("plain{number}"),
            1 => format!("quoted\n{number}\n\"\n"),
            _ => "\n".repeat(number % 50),
        };
        let lines: Vec<String> = (0..300).map(line).collect();
        let text: String = lines
            .iter()
            .map(|line| format!("\"{}\"\n", line.replace('"', "\"\"")))
            .collect();
        let written = file_of(&text);
        for (block_bytes, threads) in [(1, 1), (7, 2), (64, 3), (1000, 2), (1 << 20, 2)] {
            let blocks = blocks_of(&written, &format, block_bytes);
            assert_eq!(
                lines_of(blocks, threads, &format),
                lines,
                "blocks of {block_bytes}"
            );
        }
    }
}
