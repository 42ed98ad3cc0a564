//! Results for client protocols: metadata of columns, and values in the client's character set. Packets are outside
//! of this module.

mod cursor;
mod encoder;
mod field;
mod texts;

pub use self::cursor::Cursor;
pub use self::encoder::{BatchEncoder, ClientValue, ResultEncoder};
pub use self::field::{FieldDefinition, FieldFlags, FieldType};
pub use self::texts::{TextColumn, batch_of_texts};
