//! A client of the protocol for grids: text queries, and prepared statements with parameters of any type and encoding.
//! Its output has the form in which `testing/grids/protocol.py` writes the answers of other servers.

use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

const UNSIGNED: u16 = 32;
const ZEROFILL: u16 = 64;

/// A row: one value per column, in the server's text form.
type Row = Vec<Option<Vec<u8>>>;

/// Result of a statement: its columns with their values, row by row, or none.
#[derive(Default)]
pub(super) struct Answer {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
    pub(super) warnings: u16,
}

/// A statement's answer, or the number of its error.
pub(super) type Result = std::result::Result<Answer, u16>;

/// A column's description.
pub(super) struct Column {
    collation: u16,
    length: u32,
    code: u8,
    flags: u16,
    decimals: u8,
}

impl Column {
    fn read(packet: &[u8]) -> Self {
        let mut reader = Reader(packet);
        for _ in 0..6 {
            reader.text();
        }
        reader.take(1);
        Self {
            collation: reader.number(2) as u16,
            length: reader.number(4) as u32,
            code: reader.number(1) as u8,
            flags: reader.number(2) as u16,
            decimals: reader.number(1) as u8,
        }
    }

    /// The type in one word, from the code, the collation `binary` and the flag UNSIGNED.
    pub(super) fn type_name(&self) -> String {
        let is_binary = self.collation == 63;
        let name = match self.code {
            0 | 246 => "decimal",
            1 => "tinyint",
            2 => "smallint",
            3 => "int",
            4 => "float",
            5 => "double",
            6 => "null",
            7 => "timestamp",
            8 => "bigint",
            9 => "mediumint",
            10 | 14 => "date",
            11 => "time",
            12 => "datetime",
            13 => "year",
            16 => "bit",
            245 => "json",
            247 => "enum",
            248 => "set",
            249..=252 if is_binary => "blob",
            249..=252 => "text",
            15 | 253 if is_binary => "varbinary",
            15 | 253 => "varchar",
            254 if is_binary => "binary",
            254 => "char",
            255 => "geometry",
            code => return code.to_string(),
        };
        let is_unsigned = self.flags & UNSIGNED != 0 && !matches!(name, "bit" | "year");
        format!("{}{name}", if is_unsigned { "u" } else { "" })
    }

    /// Everything except the name.
    pub(super) fn description(&self) -> String {
        format!(
            "{} {} {} {} {:x}",
            self.type_name(),
            self.length,
            self.collation,
            self.decimals,
            self.flags & 0x7FFF
        )
    }
}

/// A connection of a user without a password.
pub(super) struct Client {
    stream: BufReader<TcpStream>,
    sequence: u8,
    /// Content for LOAD DATA LOCAL.
    pub(super) infile: Vec<u8>,
}

impl Client {
    /// Connects as root.
    pub(super) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut client = Self {
            stream: BufReader::new(stream),
            sequence: 0,
            infile: Vec::new(),
        };
        client.receive();
        // Long passwords, LOCAL files, protocol 4.1, transactions, secure connection, multiple results, named plugins.
        let capabilities: u32 =
            0x1 | 0x80 | 0x200 | 0x2000 | 0x8000 | 0x2_0000 | 0x4_0000 | 0x8_0000;
        let mut login = capabilities.to_le_bytes().to_vec();
        login.extend_from_slice(&(1_u32 << 30).to_le_bytes());
        login.push(45);
        login.extend_from_slice(&[0; 23]);
        login.extend_from_slice(b"root\0\0mysql_native_password\0");
        client.send(&login);
        loop {
            match client.receive()[0] {
                0 => return client,
                0xFE => client.send(b""),
                0xFF => panic!("root is refused"),
                _ => {}
            }
        }
    }

    fn send(&mut self, payload: &[u8]) {
        let mut bytes = (payload.len() as u32).to_le_bytes().to_vec();
        bytes[3] = self.sequence;
        bytes.extend_from_slice(payload);
        self.stream.get_mut().write_all(&bytes).unwrap();
    }

    fn command(&mut self, payload: &[u8]) {
        self.sequence = 0;
        self.send(payload);
    }

    fn receive(&mut self) -> Vec<u8> {
        let mut payload = Vec::new();
        loop {
            let mut header = [0; 4];
            self.stream
                .read_exact(&mut header)
                .expect("the server answers");
            self.sequence = header[3].wrapping_add(1);
            let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
            let begun = payload.len();
            payload.resize(begun + length as usize, 0);
            self.stream.read_exact(&mut payload[begun..]).unwrap();
            if length < 0xFF_FFFF {
                return payload;
            }
        }
    }

    /// Runs a text.
    pub(super) fn query(&mut self, sql: &str) -> Result {
        self.command(&[b"\x03", sql.as_bytes()].concat());
        self.answer(text_row)
    }

    /// Prepares a statement and executes it with one parameter for each `?`, in the notation of
    /// `testing/grids/protocol.py`.
    pub(super) fn prepared(&mut self, sql: &str, parameter: &str) -> Result {
        self.command(&[b"\x16", sql.as_bytes()].concat());
        let prepared = self.receive();
        if prepared[0] == 0xFF {
            return Err(errno(&prepared));
        }
        let mut reader = Reader(&prepared[1..]);
        let (id, columns, count) = (reader.number(4) as u32, reader.number(2), reader.number(2));
        for described in [count, columns] {
            for _ in 0..described + u64::from(described > 0) {
                self.receive();
            }
        }
        let mut body = vec![0x17];
        body.extend_from_slice(&id.to_le_bytes());
        body.extend_from_slice(&[0, 1, 0, 0, 0]);
        if count > 0 {
            let count = count as usize;
            let (code, value) = parameter.split_once(':').unwrap();
            let signedness = if code.ends_with('u') { 0x80 } else { 0 };
            let code: u8 = code.trim_end_matches('u').parse().unwrap();
            let nulls = if code == 6 { 0xFF } else { 0 };
            body.extend(std::iter::repeat_n(nulls, count.div_ceil(8)));
            body.push(1);
            body.extend([code, signedness].repeat(count));
            body.extend(encode(code, value).repeat(count));
        }
        self.command(&body);
        let answer = self.answer(binary_row);
        self.command(&[&[0x19][..], &id.to_le_bytes()].concat());
        answer
    }

    /// The numbers of the last statement's warnings.
    pub(super) fn warnings(&mut self) -> Vec<String> {
        let rows = self.query("SHOW WARNINGS").unwrap_or_default().rows;
        let numbers = rows.into_iter().filter_map(|mut row| row.swap_remove(1));
        numbers
            .map(|number| String::from_utf8(number).unwrap())
            .collect()
    }

    fn answer(&mut self, read_row: fn(&[Column], &[u8]) -> Row) -> Result {
        loop {
            let packet = self.receive();
            let mut answer = Answer::default();
            let status;
            match packet[0] {
                0xFF => return Err(errno(&packet)),
                0xFB => {
                    let content = std::mem::take(&mut self.infile);
                    if !content.is_empty() {
                        self.send(&content);
                        self.sequence += 1;
                    }
                    self.send(b"");
                    continue;
                }
                0 => {
                    let mut reader = Reader(&packet[1..]);
                    reader.length();
                    reader.length();
                    status = reader.number(2);
                    answer.warnings = reader.number(2) as u16;
                }
                _ => {
                    let count = Reader(&packet).length();
                    answer.columns = (0..count).map(|_| Column::read(&self.receive())).collect();
                    self.receive();
                    status = loop {
                        let packet = self.receive();
                        match packet[0] {
                            0xFE if packet.len() < 9 => {
                                let mut reader = Reader(&packet[1..]);
                                answer.warnings = reader.number(2) as u16;
                                break reader.number(2);
                            }
                            0xFF => return Err(errno(&packet)),
                            _ => answer.rows.push(read_row(&answer.columns, &packet)),
                        }
                    };
                }
            }
            if status & 8 == 0 {
                return Ok(answer);
            }
        }
    }
}

fn errno(packet: &[u8]) -> u16 {
    u16::from_le_bytes([packet[1], packet[2]])
}

/// Reader of the fields of a packet.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn number(&mut self, size: usize) -> u64 {
        let bytes = self.take(size).iter().rev();
        bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn length(&mut self) -> u64 {
        match self.number(1) {
            252 => self.number(2),
            253 => self.number(3),
            254 => self.number(8),
            length => length,
        }
    }

    fn text(&mut self) -> &'a [u8] {
        let length = self.length() as usize;
        self.take(length)
    }
}

fn text_row(columns: &[Column], packet: &[u8]) -> Row {
    let mut reader = Reader(packet);
    let values = columns.iter().map(|column| {
        if reader.0[0] == 0xFB {
            reader.take(1);
            return None;
        }
        let value = reader.text();
        let number = match column.code {
            4 | 5 => std::str::from_utf8(value).unwrap().parse::<f64>().ok(),
            _ => None,
        };
        Some(number.map_or_else(|| value.to_vec(), |number| digits(column.code, number)))
    });
    values.collect()
}

/// The digits of a FLOAT or DOUBLE, the same for both protocols.
fn digits(code: u8, number: f64) -> Vec<u8> {
    let number = match code {
        4 => format!("{number:.5e}").parse().unwrap(),
        _ => number,
    };
    if number.fract() == 0.0 && number.abs() < 1e15 {
        (number as i64).to_string().into_bytes()
    } else {
        format!("{number:e}").into_bytes()
    }
}

fn binary_row(columns: &[Column], packet: &[u8]) -> Row {
    let width = (columns.len() + 9) / 8;
    let nulls = &packet[1..=width];
    let mut reader = Reader(&packet[1 + width..]);
    let values = (2..).zip(columns).map(|(place, column)| {
        if nulls[place / 8] >> (place % 8) & 1 == 1 {
            return None;
        }
        Some(match column.code {
            1 | 2 | 3 | 8 | 9 | 13 => {
                let size = [1, 2, 4, 0, 0, 0, 0, 8, 4, 0, 0, 0, 2][usize::from(column.code) - 1];
                let bits = reader.number(size);
                let shift = 64 - 8 * size as u32;
                let text = if column.flags & UNSIGNED == 0 {
                    ((bits << shift) as i64 >> shift).to_string()
                } else {
                    bits.to_string()
                };
                let filled = column.flags & ZEROFILL != 0;
                let width = if filled { column.length as usize } else { 0 };
                format!("{text:0>width$}").into_bytes()
            }
            4 => digits(4, f64::from(f32::from_bits(reader.number(4) as u32))),
            5 => digits(5, f64::from_bits(reader.number(8))),
            7 | 10 | 11 | 12 => {
                let mut value = reader.text().to_vec();
                value.resize(12, 0);
                temporal(column, &value).into_bytes()
            }
            _ => reader.text().to_vec(),
        })
    });
    values.collect()
}

/// The text of a date or time of the binary protocol.
fn temporal(column: &Column, value: &[u8]) -> String {
    let mut reader = Reader(value);
    let fraction = |micros: u64| match column.decimals {
        0 | 7.. => String::new(),
        decimals => format!(".{micros:06}")[..=usize::from(decimals)].to_owned(),
    };
    if column.code == 11 {
        let sign = if reader.number(1) == 1 { "-" } else { "" };
        let (days, hours) = (reader.number(4), reader.number(1));
        let (minutes, seconds) = (reader.number(1), reader.number(1));
        let hours = days * 24 + hours;
        let fraction = fraction(reader.number(4));
        return format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{fraction}");
    }
    let (year, month, day) = (reader.number(2), reader.number(1), reader.number(1));
    let date = format!("{year:04}-{month:02}-{day:02}");
    if column.code == 10 {
        return date;
    }
    let (hour, minute, second) = (reader.number(1), reader.number(1), reader.number(1));
    let fraction = fraction(reader.number(4));
    format!("{date} {hour:02}:{minute:02}:{second:02}{fraction}")
}

/// A parameter's value in the form of the protocol.
fn encode(code: u8, value: &str) -> Vec<u8> {
    let numbers = || {
        let parts = value.split(|c: char| !c.is_ascii_digit());
        let numbers = parts.filter_map(|part| part.parse::<u32>().ok());
        numbers.chain([0; 6]).collect::<Vec<_>>()
    };
    let micros = || {
        let (_, fraction) = value.split_once('.').unwrap_or_default();
        format!("{fraction:0<6}").parse::<u32>().unwrap()
    };
    let bytes = |value: i128, size: usize| value.to_le_bytes()[..size].to_vec();
    let with_length = |mut body: Vec<u8>, micros: u32| {
        if micros != 0 {
            body.extend_from_slice(&micros.to_le_bytes());
        }
        body.insert(0, body.len() as u8);
        body
    };
    match code {
        6 => Vec::new(),
        1 => bytes(value.parse().unwrap(), 1),
        2 | 13 => bytes(value.parse().unwrap(), 2),
        3 | 9 => bytes(value.parse().unwrap(), 4),
        8 => bytes(value.parse().unwrap(), 8),
        4 => value.parse::<f32>().unwrap().to_le_bytes().to_vec(),
        5 => value.parse::<f64>().unwrap().to_le_bytes().to_vec(),
        11 => {
            let numbers = numbers();
            let mut body = vec![u8::from(value.starts_with('-'))];
            body.extend_from_slice(&(numbers[0] / 24).to_le_bytes());
            body.extend([numbers[0] % 24, numbers[1], numbers[2]].map(|number| number as u8));
            with_length(body, micros())
        }
        7 | 10 | 12 => {
            let numbers = numbers();
            let mut body = (numbers[0] as u16).to_le_bytes().to_vec();
            body.extend(numbers[1..6].iter().map(|number| *number as u8));
            if value.len() == 10 {
                body.truncate(4);
            }
            with_length(body, micros())
        }
        _ => {
            let value = unescape(value);
            let mut body = match value.len() {
                length @ 0..251 => vec![length as u8],
                length => [&[0xFC][..], &(length as u16).to_le_bytes()].concat(),
            };
            body.extend(value);
            body
        }
    }
}

/// Bytes of a text in which `\xNN` is a byte.
fn unescape(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    bytes
}
