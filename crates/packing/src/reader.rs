//! Reads the functions of a module.

use crate::form::{CODE_SECTION, PREFIX, operand, stream};
use crate::pack::PackError;

/// Where the sections begin: after the format's magic number and its version.
const FIRST_SECTION: usize = 8;

/// One thing that functions are made of, in their order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Item {
    /// A function begins.
    Function,
    /// An instruction begins; its numbers follow.
    Instruction(u8),
    /// A number, and the stream it goes to.
    Number(usize, u32),
    /// Where the alignment of a load or of a store is.
    Alignment(usize),
}

/// The section of the functions: where it starts, where its content does, where it ends.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) start: usize,
    inside: usize,
    pub(crate) end: usize,
}

/// Finds the section of the functions.
pub(crate) fn code_section(module: &[u8]) -> Result<Section, PackError> {
    let mut cursor = Cursor { module, at: FIRST_SECTION };
    loop {
        let start = cursor.at;
        let id = cursor.byte()?;
        let length = cursor.number()? as usize;
        let inside = cursor.at;
        cursor.at += length;
        if cursor.at > module.len() {
            return Err(PackError::Cut);
        }
        if id == CODE_SECTION {
            return Ok(Section { start, inside, end: cursor.at });
        }
    }
}

/// Reads all functions.
pub(crate) fn read_code(module: &[u8]) -> Result<Vec<Item>, PackError> {
    let Section { inside, end, .. } = code_section(module)?;
    let mut reader = Reader { cursor: Cursor { module, at: inside }, items: Vec::new() };
    reader.number(stream::CODE)?;
    while reader.cursor.at < end {
        reader.function()?;
    }
    Ok(reader.items)
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    items: Vec<Item>,
}

impl Reader<'_> {
    fn number(&mut self, stream: usize) -> Result<u32, PackError> {
        let number = self.cursor.number()?;
        self.items.push(Item::Number(stream, number));
        Ok(number)
    }

    fn byte(&mut self) -> Result<u8, PackError> {
        let byte = self.cursor.byte()?;
        self.items.push(Item::Number(stream::BYTES, byte.into()));
        Ok(byte)
    }

    fn function(&mut self) -> Result<(), PackError> {
        let length = self.cursor.number()? as usize;
        let last = self.cursor.at + length;
        self.items.push(Item::Function);
        for _ in 0..2 * self.number(stream::LOCALS)? {
            self.number(stream::LOCALS)?;
        }
        while self.cursor.at < last {
            let code = self.cursor.byte()?;
            self.items.push(Item::Instruction(code));
            self.operands(code)?;
        }
        Ok(())
    }

    fn operands(&mut self, code: u8) -> Result<(), PackError> {
        if !is_known(code) {
            return Err(PackError::Instruction(code));
        }
        match operand(code) {
            1 => {
                if code == PREFIX {
                    self.demand_zeros()?;
                }
                self.number(stream::CODE)?;
            }
            2 => drop(self.number(stream::BLOCKS)?),
            4 => drop(self.number(stream::LABELS)?),
            5 => {
                for _ in 0..=self.number(stream::LABELS)? {
                    self.number(stream::LABELS)?;
                }
            }
            6 => drop(self.number(stream::GETS)?),
            7 => drop(self.number(stream::SETS)?),
            operand @ (8 | 9) => {
                self.items.push(Item::Alignment(self.cursor.at));
                self.cursor.byte()?;
                self.number(if operand == 8 { stream::LOADS } else { stream::STORES })?;
            }
            10 => {
                let constant = self.cursor.signed()?;
                self.items.push(Item::Number(stream::CONSTANTS, constant));
            }
            11 => while self.byte()? > 127 {},
            12 => {
                for _ in 0..8 {
                    self.byte()?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Fails unless what follows the instruction after the prefix reads like instructions with nothing after them. The known ones are
    /// conversions, and what fills and copies the one memory.
    fn demand_zeros(&self) -> Result<(), PackError> {
        let code = self.cursor.peek(0)?;
        let zeros = match code {
            0..=7 => 0,
            10 => 2,
            11 => 1,
            _ => return Err(PackError::Prefixed(code)),
        };
        for place in 1..=zeros {
            if self.cursor.peek(place)? != 0 {
                return Err(PackError::Prefixed(code));
            }
        }
        Ok(())
    }
}

/// Whether `form::operand` says all of an instruction: what else a module has would be taken for something that it is not.
fn is_known(code: u8) -> bool {
    matches!(code, 0x00..=0x05 | 0x0b..=0x11 | 0x1a..=0x1b | 0x20..=0x24 | 0x28..=0x42 | 0x44..=0xc4 | PREFIX)
}

/// Reads a module's bytes, and its numbers of variable length.
struct Cursor<'a> {
    module: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self, ahead: usize) -> Result<u8, PackError> {
        self.module.get(self.at + ahead).copied().ok_or(PackError::Cut)
    }

    fn byte(&mut self) -> Result<u8, PackError> {
        let byte = self.peek(0)?;
        self.at += 1;
        Ok(byte)
    }

    /// A number of at most 32 bits.
    fn number(&mut self) -> Result<u32, PackError> {
        Ok(self.bits()?.0)
    }

    /// A number with a sign, as if it had none.
    fn signed(&mut self) -> Result<u32, PackError> {
        let (number, bits) = self.bits()?;
        let is_negative = bits < 32 && number >> (bits - 1) != 0;
        Ok(if is_negative { number | u32::MAX << bits } else { number })
    }

    /// A number, and how many bits it was written with.
    fn bits(&mut self) -> Result<(u32, u32), PackError> {
        let (mut number, mut bits) = (0, 0);
        loop {
            let byte = self.byte()?;
            number |= u32::from(byte & 127).checked_shl(bits).unwrap_or(0);
            bits += 7;
            if byte < 128 {
                return Ok((number, bits));
            }
        }
    }
}
