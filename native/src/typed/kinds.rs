//! What columns hold, by their types.

use arrow_schema::{DataType, FieldRef, Fields, TimeUnit};

use super::{Places, places_of};

/// What a column holds.
#[derive(Clone, PartialEq, Debug)]
pub enum ColumnKind {
    Boolean,
    /// Integers of so many bits.
    Integer(u32),
    Double,
    Single,
    /// Numbers of so many digits, of which so many are behind the point.
    Decimal(u8, i8),
    Text,
    Bytes,
    Date,
    /// Times; whether they are what a clock shows, whatever its zone.
    Time(bool),
    /// Any value, as JSON text.
    Json,
    /// Arrays of values.
    List(Box<ColumnKind>),
    /// Objects with any names, and the kind of their values.
    Map(Box<ColumnKind>),
    /// Objects with the names of a type.
    Struct(Places, Vec<ColumnKind>),
    /// Nothing that the kernel knows.
    Unknown,
}

impl ColumnKind {
    /// Return what the columns of a type hold.
    ///
    /// `of_json` says of each column and each field of a struct in it, in their order, whether it holds
    /// any value as JSON text.
    ///
    /// None if values are nested at more than so many levels.
    pub fn of_fields(
        fields: &Fields,
        of_json: &mut impl Iterator<Item = bool>,
        levels: usize,
    ) -> Option<Vec<Self>> {
        let kind = |field: &FieldRef| Self::new(field.data_type(), of_json.next()?, of_json, levels);
        fields.iter().map(kind).collect()
    }

    fn new(
        kind: &DataType,
        is_json: bool,
        of_json: &mut impl Iterator<Item = bool>,
        levels: usize,
    ) -> Option<Self> {
        let levels = levels.checked_sub(1)?;
        Some(match kind {
            DataType::List(item) => {
                let kind = Self::new(item.data_type(), false, of_json, levels)?;
                known([item], ColumnKind::List(Box::new(kind)))
            }
            DataType::Map(entries, _) => {
                let DataType::Struct(pair) = entries.data_type() else { return None };
                let [key, value] = pair.iter().as_slice() else { return None };
                let levels = levels.checked_sub(1)?;
                let key = Self::new(key.data_type(), false, of_json, levels)?;
                let kind = Self::new(value.data_type(), false, of_json, levels)?;
                let is_text = key == ColumnKind::Text;
                let map = ColumnKind::Map(Box::new(kind));
                if is_text { known([value], map) } else { ColumnKind::Unknown }
            }
            DataType::Struct(fields) => {
                let kinds = Self::of_fields(fields, of_json, levels)?;
                known(fields, ColumnKind::Struct(places_of(fields), kinds))
            }
            DataType::Utf8 if is_json => ColumnKind::Json,
            _ => Self::of_scalars(kind),
        })
    }

    fn of_scalars(kind: &DataType) -> Self {
        match kind {
            DataType::Boolean => ColumnKind::Boolean,
            DataType::Int8 => ColumnKind::Integer(8),
            DataType::Int16 => ColumnKind::Integer(16),
            DataType::Int32 => ColumnKind::Integer(32),
            DataType::Int64 => ColumnKind::Integer(64),
            DataType::Float64 => ColumnKind::Double,
            DataType::Float32 => ColumnKind::Single,
            DataType::Decimal128(precision, scale) if *scale >= 0 => ColumnKind::Decimal(*precision, *scale),
            DataType::Utf8 => ColumnKind::Text,
            DataType::Binary => ColumnKind::Bytes,
            DataType::Date32 => ColumnKind::Date,
            DataType::Timestamp(TimeUnit::Microsecond, zone) => ColumnKind::Time(zone.is_none()),
            _ => ColumnKind::Unknown,
        }
    }
}

/// Return the kind of a collection, unless a value in it may not be NULL, or two have one name.
fn known<'f>(fields: impl IntoIterator<Item = &'f FieldRef>, kind: ColumnKind) -> ColumnKind {
    let mut names: Vec<&str> = Vec::new();
    for field in fields {
        if !field.is_nullable() || names.contains(&field.name().as_str()) {
            return ColumnKind::Unknown;
        }
        names.push(field.name());
    }
    kind
}
