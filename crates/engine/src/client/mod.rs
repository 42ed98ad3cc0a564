//! What a protocol needs to give results to clients: definitions of columns, and values as clients
//! get them in their character set. Nothing here knows a packet.

mod cursor;
mod encoder;
mod field;

pub use self::cursor::Cursor;
pub use self::encoder::{BatchEncoder, ClientValue, ResultEncoder};
pub use self::field::{FieldDefinition, FieldFlags, FieldType};
