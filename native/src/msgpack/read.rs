//! The types and sizes of MessagePack values (its specification, "Formats").

use crate::why::{Done, Why};

/// What a value begins with: a whole scalar, or how much follows.
pub enum Head {
    Nil,
    Boolean(bool),
    Integer(i64),
    Float(f64),
    /// Text of so many bytes.
    Text(usize),
    Bytes(usize),
    Array(usize),
    /// A map of so many pairs.
    Map(usize),
}

pub struct Read<'b> {
    rest: &'b [u8],
}

impl<'b> Read<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Read { rest: bytes }
    }

    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Whether a text is next.
    pub fn is_text(&self) -> bool {
        matches!(self.rest.first(), Some(0xa0..=0xbf | 0xd9..=0xdb))
    }

    pub fn take(&mut self, size: usize) -> Done<&'b [u8]> {
        let (found, rest) = self.rest.split_at_checked(size).ok_or(Why::Text)?;
        self.rest = rest;
        Ok(found)
    }

    /// Read the head of a value. Extension types are declined, and integers beyond 63 bits.
    pub fn head(&mut self) -> Done<Head> {
        let [byte] = self.array()?;
        Ok(match byte {
            0x00..=0x7f => Head::Integer(i64::from(byte)),
            0x80..=0x8f => Head::Map(usize::from(byte & 0x0f)),
            0x90..=0x9f => Head::Array(usize::from(byte & 0x0f)),
            0xa0..=0xbf => Head::Text(usize::from(byte & 0x1f)),
            0xc0 => Head::Nil,
            0xc2 | 0xc3 => Head::Boolean(byte == 0xc3),
            0xc4..=0xc6 => Head::Bytes(self.unsigned(byte - 0xc4)?),
            0xca => Head::Float(f64::from(f32::from_be_bytes(self.array()?))),
            0xcb => Head::Float(f64::from_be_bytes(self.array()?)),
            0xcc..=0xcf => Head::Integer(self.unsigned(byte - 0xcc)?),
            0xd0 => Head::Integer(i64::from(i8::from_be_bytes(self.array()?))),
            0xd1 => Head::Integer(i64::from(i16::from_be_bytes(self.array()?))),
            0xd2 => Head::Integer(i64::from(i32::from_be_bytes(self.array()?))),
            0xd3 => Head::Integer(i64::from_be_bytes(self.array()?)),
            0xd9..=0xdb => Head::Text(self.unsigned(byte - 0xd9)?),
            0xdc | 0xdd => Head::Array(self.unsigned(byte - 0xdb)?),
            0xde | 0xdf => Head::Map(self.unsigned(byte - 0xdd)?),
            0xe0..=0xff => Head::Integer(i64::from(byte) - 256),
            0xc1 | 0xc7..=0xc9 | 0xd4..=0xd8 => return Err(Why::Text),
        })
    }

    /// Read a number of 1, 2, 4 or 8 bytes, by the power of two that this is.
    fn unsigned<T: TryFrom<u64>>(&mut self, power: u8) -> Done<T> {
        let value = match power {
            0 => u64::from(u8::from_be_bytes(self.array()?)),
            1 => u64::from(u16::from_be_bytes(self.array()?)),
            2 => u64::from(u32::from_be_bytes(self.array()?)),
            _ => u64::from_be_bytes(self.array()?),
        };
        T::try_from(value).map_err(|_| Why::Text)
    }

    fn array<const N: usize>(&mut self) -> Done<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| Why::Text)
    }
}
