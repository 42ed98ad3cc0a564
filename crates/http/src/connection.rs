//! One connection: requests and answers, within limits of bytes and time.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use crate::request::{Head, Method, Parsed};
use crate::response::{Response, Status};

/// Limits of one client.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Greatest number of concurrent connections. For one more, the oldest unauthenticated one is closed; where all are
    /// authenticated, the new one is refused for now.
    pub connections: usize,
    /// Greatest number of bytes of a request before its body.
    pub head_bytes: usize,
    /// Greatest number of bytes of a body.
    pub body_bytes: usize,
    /// Greatest time from the first byte of a request to its last, and for an unauthenticated client until the first
    /// byte.
    pub request_time: Duration,
    /// Greatest time between two requests of an authenticated client.
    pub idle_time: Duration,
    /// Greatest time to send an answer.
    pub response_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 64,
            head_bytes: 16 << 10,
            body_bytes: 1 << 20,
            request_time: Duration::from_secs(10),
            idle_time: Duration::from_secs(60),
            response_time: Duration::from_secs(30),
        }
    }
}

/// A socket, or a substitute in tests.
pub(crate) trait Transport: Read + Write {
    /// Sets the time after which a read fails.
    fn limit_read(&mut self, time: Duration) -> io::Result<()>;
    /// Sets the time after which a write fails.
    fn limit_write(&mut self, time: Duration) -> io::Result<()>;
    /// Ends writing.
    fn end_writing(&mut self) -> io::Result<()>;
}

/// Greatest number of unread bytes of a request that are read and discarded, so that the client sees the answer and not
/// a reset.
const LINGER_BYTES: usize = 256 << 10;
const LINGER_TIME: Duration = Duration::from_secs(1);

/// Admission of requests, and answers to them.
pub(crate) trait Service {
    /// Admits a request by its head, before its body is read; returns whether it shows the token.
    fn admit(&self, head: &Head) -> Result<bool, Response>;

    /// The answer to an admitted request.
    fn answer(&self, head: &Head, body: &[u8]) -> Response;
}

/// Serves a client until either side ends the connection. An error of the transport counts as the client's end.
pub(crate) fn serve(transport: &mut impl Transport, limits: &Limits, service: &dyn Service) {
    let mut connection = Connection {
        transport,
        limits,
        service,
        has_shown_token: false,
        buffer: Vec::new(),
    };
    while let Ok(true) = connection.serve_one() {}
}

struct Connection<'c, T> {
    transport: &'c mut T,
    limits: &'c Limits,
    service: &'c dyn Service,
    has_shown_token: bool,
    /// Bytes that were read and not used yet: the next request may be in it.
    buffer: Vec<u8>,
}

impl<T: Transport> Connection<'_, T> {
    /// Serves a request; returns whether another one may follow.
    fn serve_one(&mut self) -> io::Result<bool> {
        let request = match self.request() {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(false),
            Err(Ended::ByClient(error)) => return Err(error),
            Err(Ended::ByAnswer(response)) => {
                self.send(&response.to_bytes(true, false))?;
                self.linger()?;
                return Ok(false);
            }
        };
        let (head, body) = request;
        let response = match body {
            Ok(body) => self.service.answer(&head, &body),
            Err(refused) => refused,
        };
        let keeps_alive = head.keeps_alive && !response.status.ends_connection();
        let bytes = response.to_bytes(head.method != Method::Head, keeps_alive);
        self.send(&bytes)?;
        if !keeps_alive {
            self.linger()?;
        }
        Ok(keeps_alive)
    }

    /// The next request; `None` when the client has closed the connection between two of them.
    fn request(&mut self) -> Result<Option<(Head, Body)>, Ended> {
        // RFC 9112, 2.2: empty lines before a request are ignored.
        let mut began = (!self.buffer.is_empty()).then(Instant::now);
        let (head, length) = loop {
            let blank = self
                .buffer
                .iter()
                .take_while(|it| matches!(it, b'\r' | b'\n'));
            let blank = blank.count();
            self.buffer.drain(..blank);
            let most = self.buffer.len().min(self.limits.head_bytes);
            let begin = self.buffer.get(..most).unwrap_or_default();
            match Head::parse(begin, self.limits.body_bytes)? {
                Parsed::Head(head, length) => break (head, length),
                Parsed::Partial if most < self.limits.head_bytes => {}
                Parsed::Partial => {
                    let late = Response::error(Status::HeadTooLarge, "too long a head");
                    return Err(late.into());
                }
            }
            if self.read(began)? == 0 {
                return Ok(None);
            }
            began.get_or_insert_with(Instant::now);
        };
        match self.service.admit(&head) {
            Ok(shows_token) => self.has_shown_token |= shows_token,
            // The body is not read, so that the start of the next request is not known.
            Err(refused) if head.body_length > 0 => return Err(refused.into()),
            Err(refused) => {
                self.buffer.drain(..length);
                return Ok(Some((head, Err(refused))));
            }
        }
        if head.expects_continue && self.buffer.len() < length + head.body_length {
            self.send(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        while self.buffer.len() < length + head.body_length {
            if self.read(began)? == 0 {
                return Ok(None);
            }
        }
        let rest = self.buffer.split_off(length + head.body_length);
        let body = self.buffer.split_off(length);
        self.buffer = rest;
        Ok(Some((head, Ok(body))))
    }

    /// Reads bytes of a request that began at a time, or that has not begun.
    fn read(&mut self, began: Option<Instant>) -> Result<usize, Ended> {
        let left = match began {
            Some(began) => self.limits.request_time.checked_sub(began.elapsed()),
            None if self.has_shown_token => Some(self.limits.idle_time),
            None => Some(self.limits.request_time),
        };
        let late = || Response::error(Status::RequestTimeout, "the request took too long");
        let left = left.filter(|it| !it.is_zero()).ok_or_else(late)?;
        self.transport.limit_read(left)?;
        let mut chunk = [0; 8192];
        match self.transport.read(&mut chunk) {
            Ok(count) => {
                self.buffer
                    .extend_from_slice(chunk.get(..count).unwrap_or_default());
                Ok(count)
            }
            Err(error) if is_late(&error) && began.is_some() => Err(late().into()),
            Err(error) => Err(error.into()),
        }
    }

    fn send(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let began = Instant::now();
        while !bytes.is_empty() {
            let left = self.limits.response_time.checked_sub(began.elapsed());
            let left = left.filter(|it| !it.is_zero());
            self.transport
                .limit_write(left.ok_or(io::ErrorKind::TimedOut)?)?;
            match self.transport.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.transport.flush()
    }

    /// Ends the connection so that the last answer arrives.
    fn linger(&mut self) -> io::Result<()> {
        self.transport.end_writing()?;
        let (began, mut count) = (Instant::now(), 0_usize);
        let mut chunk = [0; 8192];
        while let Some(left) = LINGER_TIME.checked_sub(began.elapsed()) {
            self.transport
                .limit_read(left.max(Duration::from_millis(1)))?;
            let length = self.transport.read(&mut chunk)?;
            count += length;
            if length == 0 || count > LINGER_BYTES {
                break;
            }
        }
        Ok(())
    }
}

fn is_late(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

/// The body of an admitted request, or the answer to a refused one without a body.
type Body = Result<Vec<u8>, Response>;

/// Reason why there is no request.
enum Ended {
    ByClient(io::Error),
    ByAnswer(Response),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::ByClient(error)
    }
}

impl From<Response> for Ended {
    fn from(response: Response) -> Self {
        Self::ByAnswer(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::RefCell;
    use std::collections::VecDeque;

    /// A client that sends a request in pieces and closes.
    #[derive(Default)]
    struct Pieces {
        input: VecDeque<Vec<u8>>,
        output: Vec<u8>,
    }

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(mut piece) = self.input.pop_front() else {
                return Ok(0);
            };
            if piece.len() > buffer.len() {
                self.input.push_front(piece.split_off(buffer.len()));
            }
            buffer[..piece.len()].copy_from_slice(&piece);
            Ok(piece.len())
        }
    }

    impl Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // A socket takes as many bytes as it has room for.
            let count = bytes.len().min(1000);
            self.output.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Transport for Pieces {
        fn limit_read(&mut self, _: Duration) -> io::Result<()> {
            Ok(())
        }

        fn limit_write(&mut self, _: Duration) -> io::Result<()> {
            Ok(())
        }

        fn end_writing(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Service that admits every request, answers with it, and notes it.
    #[derive(Default)]
    struct Echo(RefCell<Vec<String>>);

    impl Service for Echo {
        fn admit(&self, _: &Head) -> Result<bool, Response> {
            Ok(false)
        }

        fn answer(&self, head: &Head, body: &[u8]) -> Response {
            let body = String::from_utf8_lossy(body);
            let text = format!("{:?} {} {body}", head.method, head.path);
            self.0.borrow_mut().push(text.clone());
            Response::new("text/plain", text.into_bytes())
        }
    }

    fn limits() -> Limits {
        Limits {
            head_bytes: 400,
            body_bytes: 200,
            ..Limits::default()
        }
    }

    /// Serves bytes that come in pieces of these sizes. Returns the requests, and the answers' status and body.
    fn serve_pieces(bytes: &[u8], sizes: &[usize]) -> (Vec<String>, Vec<(u16, Vec<u8>)>) {
        let mut client = Pieces::default();
        let (mut rest, mut sizes) = (bytes, sizes.iter().cycle());
        while !rest.is_empty() {
            let size = (*sizes.next().unwrap_or(&rest.len())).clamp(1, rest.len());
            client.input.push_back(rest[..size].to_vec());
            rest = &rest[size..];
        }
        let echo = Echo::default();
        serve(&mut client, &limits(), &echo);
        let asked = echo.0.into_inner();
        let answers = answers(&client.output, &asked);
        (asked, answers)
    }

    /// Parses the answers to these requests: each is whole, and nothing is between or behind them. An answer to HEAD
    /// has the length of a body that is not sent (RFC 9110, section 9.3.2).
    fn answers(mut bytes: &[u8], asked: &[String]) -> Vec<(u16, Vec<u8>)> {
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let mut headers = [httparse::EMPTY_HEADER; 32];
            let mut response = httparse::Response::new(&mut headers);
            let head = match response.parse(bytes).expect("an answer") {
                httparse::Status::Complete(length) => length,
                httparse::Status::Partial => panic!("half an answer"),
            };
            let code = response.code.expect("a status");
            let length = response
                .headers
                .iter()
                .find(|it| it.name == "Content-Length");
            let length = length.map_or(0, |it| {
                let text = std::str::from_utf8(it.value).expect("a text");
                text.parse::<usize>().expect("a number")
            });
            let is_head = asked
                .get(found.len())
                .is_some_and(|asked| asked.starts_with("Head"));
            let length = if is_head { 0 } else { length };
            let body = bytes[head..head + length].to_vec();
            bytes = &bytes[head + length..];
            if code != 100 {
                found.push((code, body));
            }
        }
        found
    }

    const GET: &str = "GET /a?b=c HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const POST: &str = "POST /p HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n12345";

    #[test]
    fn what_is_not_whole_gets_no_answer_and_what_is_too_long_does() {
        assert_eq!(serve_pieces(&GET.as_bytes()[..20], &[1]).1, []);
        assert_eq!(serve_pieces(&POST.as_bytes()[..POST.len() - 1], &[9]).1, []);
        let long = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(400));
        for sizes in [&[1][..], &[10_000]] {
            let (asked, answers) = serve_pieces(long.as_bytes(), sizes);
            assert_eq!((asked.len(), answers[0].0), (0, 431));
        }
        let body = "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 201\r\n\r\n";
        assert_eq!(serve_pieces(body.as_bytes(), &[7]).1[0].0, 413);
    }

    #[test]
    fn an_expectation_is_answered_before_the_body() {
        let text =
            "POST /p HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
        let mut client = Pieces::default();
        client
            .input
            .extend([text.as_bytes().to_vec(), b"ok".to_vec()]);
        serve(&mut client, &limits(), &Echo::default());
        assert!(
            client
                .output
                .starts_with(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
        );
    }

    #[test]
    fn a_request_behind_a_close_is_not_served() {
        let close = "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let (asked, answers) = serve_pieces(format!("{close}{GET}").as_bytes(), &[]);
        assert_eq!((asked.len(), answers.len()), (1, 1));
    }

    /// Parts of requests, valid and invalid.
    fn part() -> impl Strategy<Value = Vec<u8>> {
        let known = prop::sample::select(vec![
            GET,
            POST,
            "GET ",
            "HEAD / HTTP/1.1\r\n",
            "POST /x HTTP/1.1\r\n",
            "Host: a\r\n",
            "Content-Length: 3\r\n",
            "Content-Length: -1\r\n",
            "Content-Length: 18446744073709551615\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Connection: close\r\n",
            "Expect: 100-continue\r\n",
            "\r\n",
            "\n",
            "\r",
            "\0",
            ": ",
            "HTTP/1.0\r\n",
            "  x\r\n",
            "/../..",
        ]);
        prop_oneof![
            3 => known.prop_map(|text| text.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..40),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn any_bytes_in_any_pieces_end_in_whole_answers(
            parts in prop::collection::vec(part(), 0..12),
            sizes in prop::collection::vec(1_usize..60, 1..6),
        ) {
            let bytes = parts.concat();
            let (asked, answers) = serve_pieces(&bytes, &sizes);
            // The last answer may refuse the rest; each other one answers a request.
            prop_assert!(asked.len() <= answers.len() && answers.len() <= asked.len() + 1);
            prop_assert!(answers.iter().take(asked.len()).all(|(code, _)| *code == 200));
            // The division into pieces changes nothing.
            prop_assert_eq!(serve_pieces(&bytes, &[usize::MAX]), (asked, answers));
        }

        #[test]
        fn requests_in_a_row_are_answered_in_their_order(
            kinds in prop::collection::vec(any::<bool>(), 0..20),
            sizes in prop::collection::vec(1_usize..200, 1..6),
        ) {
            let text: String = kinds.iter().map(|is_post| if *is_post { POST } else { GET }).collect();
            let expected: Vec<_> = kinds.iter().map(|is_post| if *is_post { "Post /p 12345" } else { "Get /a " }).collect();
            let (asked, answers) = serve_pieces(text.as_bytes(), &sizes);
            prop_assert_eq!(&asked, &expected);
            let bodies: Vec<_> = answers.iter().map(|(_, body)| String::from_utf8_lossy(body)).collect();
            prop_assert_eq!(bodies, expected);
        }
    }
}
