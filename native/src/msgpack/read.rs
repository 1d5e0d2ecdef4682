//! The types and sizes of MessagePack values (its specification, "Formats").

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

    pub fn take(&mut self, size: usize) -> Option<&'b [u8]> {
        let (found, rest) = self.rest.split_at_checked(size)?;
        self.rest = rest;
        Some(found)
    }

    /// Read the head of a value. Extension types are declined, and integers beyond 63 bits.
    pub fn head(&mut self) -> Option<Head> {
        let byte = self.array::<1>()?[0];
        Some(match byte {
            0x00..=0x7f => Head::Integer(i64::from(byte)),
            0x80..=0x8f => Head::Map(usize::from(byte & 0x0f)),
            0x90..=0x9f => Head::Array(usize::from(byte & 0x0f)),
            0xa0..=0xbf => Head::Text(usize::from(byte & 0x1f)),
            0xc0 => Head::Nil,
            0xc2 | 0xc3 => Head::Boolean(byte == 0xc3),
            0xc4..=0xc6 => Head::Bytes(self.size(byte - 0xc4)?),
            0xca => Head::Float(f64::from(f32::from_be_bytes(self.array()?))),
            0xcb => Head::Float(f64::from_be_bytes(self.array()?)),
            0xcc => Head::Integer(i64::from(self.array::<1>()?[0])),
            0xcd => Head::Integer(i64::from(u16::from_be_bytes(self.array()?))),
            0xce => Head::Integer(i64::from(u32::from_be_bytes(self.array()?))),
            0xcf => Head::Integer(i64::try_from(u64::from_be_bytes(self.array()?)).ok()?),
            0xd0 => Head::Integer(i64::from(i8::from_be_bytes(self.array()?))),
            0xd1 => Head::Integer(i64::from(i16::from_be_bytes(self.array()?))),
            0xd2 => Head::Integer(i64::from(i32::from_be_bytes(self.array()?))),
            0xd3 => Head::Integer(i64::from_be_bytes(self.array()?)),
            0xd9..=0xdb => Head::Text(self.size(byte - 0xd9)?),
            0xdc | 0xdd => Head::Array(self.size(byte - 0xdb)?),
            0xde | 0xdf => Head::Map(self.size(byte - 0xdd)?),
            0xe0..=0xff => Head::Integer(i64::from(byte) - 256),
            0xc1 | 0xc7..=0xc9 | 0xd4..=0xd8 => return None,
        })
    }

    /// Read a size of 1, 2 or 4 bytes, by the power of two that this is.
    fn size(&mut self, power: u8) -> Option<usize> {
        Some(match power {
            0 => usize::from(self.array::<1>()?[0]),
            1 => usize::from(u16::from_be_bytes(self.array()?)),
            _ => usize::try_from(u32::from_be_bytes(self.array()?)).ok()?,
        })
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }
}
