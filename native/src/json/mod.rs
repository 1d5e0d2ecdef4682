//! JSON text as the kernel reads and writes it. What reads text says why it declines it.

pub mod base64;
pub mod names;
pub mod number;
pub mod scan;
pub mod text;
pub mod times;
mod values;
pub mod writing;
