//! A server of HTTP with the files of a test: ranges of them, tags, and failures on demand. It counts what it is asked for.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A file that is served.
#[derive(Clone, Default)]
pub(super) struct Served {
    pub(super) content: Vec<u8>,
    pub(super) tag: Option<String>,
    /// Whether ranges of it are given.
    pub(super) ranges: bool,
    /// The answer instead of the file.
    pub(super) status: Option<&'static str>,
    /// The answer instead of the head alone.
    pub(super) head_status: Option<&'static str>,
    /// Bytes after which the connection ends.
    pub(super) ends_after: Option<usize>,
    /// Bytes after which nothing comes any more.
    pub(super) stalls_after: Option<usize>,
}

/// A request: method, path with its query, and range.
pub(super) type Request = (String, String, Option<(usize, usize)>);

#[derive(Default)]
struct State {
    files: Mutex<HashMap<String, Served>>,
    requests: Mutex<Vec<Request>>,
    has_ended: AtomicBool,
}

pub(super) struct Server {
    address: String,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let state = Arc::new(State::default());
        let known = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if known.has_ended.load(Ordering::Relaxed) {
                    break;
                }
                let (Ok(stream), known) = (stream, Arc::clone(&known)) else {
                    continue;
                };
                // It ends with its connection, which its client closes.
                std::thread::spawn(move || serve(&stream, &known));
            }
        });
        Self {
            address,
            state,
            thread: Some(thread),
        }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// Serves a file, with ranges and a tag of its content.
    pub(super) fn put(&self, path: &str, content: impl Into<Vec<u8>>) -> &Self {
        let content = content.into();
        let tag = Some(format!(
            "\"{}-{}\"",
            content.len(),
            content.first().unwrap_or(&0)
        ));
        let served = Served {
            content,
            tag,
            ranges: true,
            ..Served::default()
        };
        self.put_with(path, served)
    }

    pub(super) fn put_with(&self, path: &str, served: Served) -> &Self {
        let mut files = self.state.files.lock().expect("is whole");
        files.insert(format!("/{path}"), served);
        drop(files);
        self
    }

    /// What it was asked for since the last call.
    pub(super) fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut *self.state.requests.lock().expect("is whole"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.has_ended.store(true, Ordering::Relaxed);
        // It wakes up.
        let _ = TcpStream::connect(&self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Answers the requests of a connection.
fn serve(stream: &TcpStream, state: &State) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if line.trim().is_empty() => break,
                Ok(_) => lines.push(line.trim().to_owned()),
            }
        }
        let mut first = lines[0].split(' ');
        let method = first.next().unwrap_or_default().to_owned();
        let target = first.next().unwrap_or_default().to_owned();
        let header = |name: &str| {
            let mut headers = lines[1..].iter().filter_map(|line| line.split_once(':'));
            let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.trim().to_owned())
        };
        let range = header("range").and_then(|range| {
            let (from, to) = range.strip_prefix("bytes=")?.split_once('-')?;
            Some((from.parse().ok()?, to.parse::<usize>().ok()? + 1))
        });
        let request = (method.clone(), target.clone(), range);
        state.requests.lock().expect("is whole").push(request);
        let path = target.split('?').next().unwrap_or_default();
        let file = state.files.lock().expect("is whole").get(path).cloned();
        if !answer(stream, &method, file, range, header("if-match")) {
            return;
        }
    }
}

/// Whether the connection goes on.
fn answer(
    mut stream: &TcpStream,
    method: &str,
    file: Option<Served>,
    range: Option<(usize, usize)>,
    if_match: Option<String>,
) -> bool {
    let mut failed = |status: &str| {
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
        stream.write_all(head.as_bytes()).is_ok()
    };
    let Some(file) = file else {
        return failed("404 Not Found");
    };
    if let Some(status) = file.status {
        return failed(status);
    }
    if let Some(status) = file.head_status.filter(|_| method == "HEAD") {
        return failed(status);
    }
    if if_match.is_some_and(|tag| Some(tag) != file.tag) {
        return failed("412 Precondition Failed");
    }
    let range = range.filter(|_| file.ranges);
    let (from, to) = range.unwrap_or((0, file.content.len()));
    let to = to.min(file.content.len());
    let mut head = match range {
        Some(_) => format!(
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {from}-{}/{}\r\n",
            to - 1,
            file.content.len()
        ),
        None => "HTTP/1.1 200 OK\r\n".to_owned(),
    };
    head += &format!("Content-Length: {}\r\n", to - from);
    if let Some(tag) = &file.tag {
        head += &format!("ETag: {tag}\r\n");
    }
    head += "\r\n";
    if stream.write_all(head.as_bytes()).is_err() {
        return false;
    }
    if method == "HEAD" {
        return true;
    }
    let whole = &file.content[from..to];
    let sent = file.ends_after.or(file.stalls_after).unwrap_or(usize::MAX);
    if stream.write_all(&whole[..whole.len().min(sent)]).is_err() {
        return false;
    }
    if file.stalls_after.is_some_and(|sent| sent < whole.len()) {
        // Longer than any statement of a test waits; it ends when the client goes away.
        let _ = stream.set_read_timeout(Some(Duration::from_secs(60)));
        let _ = std::io::Read::read(&mut stream, &mut [0]);
        return false;
    }
    file.ends_after.is_none_or(|sent| sent >= whole.len())
}
