//! Writes a module as text.

use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;

use crate::form::{self, ALPHABET, END, FORMS, MOST_BYTES, SINGLES, stream};
use crate::reader::{Item, code_section, read_code};
use crate::unpack::{MODULE, TEXT, unpack};

/// How many pairs of instructions are one number. With 20 the text is as large, with 40 it is larger.
const PAIRS: usize = 10;

/// Why a module has no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackError {
    /// The module ends too early.
    Cut,
    /// An instruction of which the form does not say what follows it.
    Instruction(u8),
    /// The same after the prefix of further instructions.
    Prefixed(u8),
    /// The text does not make the module again: what its form takes for granted does not hold.
    Differs,
}

impl fmt::Display for PackError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut => formatter.write_str("the module ends too early"),
            Self::Instruction(code) => {
                write!(
                    formatter,
                    "instruction {code:#x} is unknown: add what follows it to OPERANDS in form.rs"
                )
            }
            Self::Prefixed(code) => write!(formatter, "instruction {code:#x} after the prefix is unknown"),
            Self::Differs => formatter.write_str("the text does not make the module again"),
        }
    }
}

impl std::error::Error for PackError {}

/// Returns the module with the natural alignment at each load and store. It is a hint that no supported engine makes
/// anything of: x86 and ARM load what is not aligned as well. So it need not travel.
pub fn aligned(module: &[u8]) -> Result<Vec<u8>, PackError> {
    let mut copy = module.to_vec();
    let mut last = 0;
    for item in read_code(module)? {
        match item {
            Item::Instruction(code) => last = code,
            Item::Alignment(at) => copy[at] = form::alignment(last),
            Item::Function | Item::Number(..) => {}
        }
    }
    Ok(copy)
}

/// Returns the text of a module, whose loads and stores must be [`aligned`].
pub fn pack(module: &[u8]) -> Result<String, PackError> {
    let items = read_code(module)?;
    let ranked = by_frequency(&items);
    let mut ranks = [0; 256];
    for (rank, code) in ranked.iter().enumerate() {
        ranks[usize::from(*code)] = rank as u32;
    }
    let code: Vec<u32> = items
        .iter()
        .filter_map(|item| match item {
            Item::Instruction(code) => Some(ranks[usize::from(*code)]),
            Item::Number(stream::CODE, number) => Some(*number),
            _ => None,
        })
        .collect();
    let mut streams = numbers(&items, &code);
    streams[stream::RANKS] = ranked.iter().map(|code| u32::from(*code)).collect();
    (streams[stream::CODE], streams[stream::PAIRS]) = paired(&code, &ranked);
    streams[stream::SECTIONS] = sections(module)?;
    let mut text = String::new();
    for numbers in &streams {
        for number in numbers {
            write(*number, &mut text);
        }
        text.push(char::from(END));
    }
    if unpacked(&text).as_deref() == Some(module) { Ok(text) } else { Err(PackError::Differs) }
}

/// The module that a text makes.
pub(crate) fn unpacked(text: &str) -> Option<Vec<u8>> {
    // The memory is there once.
    static ONE: Mutex<()> = Mutex::new(());
    let _lock = ONE.lock().ok()?;
    if text.len() > MOST_BYTES {
        return None;
    }
    for (place, byte) in text.bytes().enumerate() {
        TEXT.set(place, byte);
    }
    let length = unpack();
    Some((0..length).map(|place| MODULE.get(place)).collect())
}

/// The codes of the instructions, the most frequent one first.
fn by_frequency(items: &[Item]) -> Vec<u8> {
    let mut counts = [0_usize; 256];
    for item in items {
        if let Item::Instruction(code) = item {
            counts[usize::from(*code)] += 1;
        }
    }
    let mut ranked: Vec<u8> = (0..=255).filter(|code| counts[usize::from(*code)] > 0).collect();
    ranked.sort_by_key(|code| std::cmp::Reverse(counts[usize::from(*code)]));
    ranked
}

/// The numbers of all streams that are no code.
fn numbers(items: &[Item], code: &[u32]) -> Vec<Vec<u32>> {
    let mut streams = vec![Vec::new(); stream::COUNT];
    // The place in `code`, for what follows a number.
    let mut at = 0;
    // By the local before a load; 0 is for none.
    let mut loads = HashMap::new();
    let (mut local, mut store) = (0, 0);
    for item in items {
        let rank = |place: usize| code.get(place).map_or(0, |rank| *rank as usize);
        match *item {
            Item::Function => {
                loads.clear();
                (local, store) = (0, 0);
            }
            Item::Instruction(_) | Item::Number(stream::CODE, _) => at += 1,
            Item::Alignment(_) => {}
            Item::Number(stream::LOADS, offset) => {
                let last = loads.insert(local, offset).unwrap_or(0);
                streams[stream::LOADS].push(offset_number(offset, last));
                local = 0;
            }
            Item::Number(stream::STORES, offset) => {
                streams[stream::STORES].push(offset_number(offset, store));
                store = offset;
            }
            Item::Number(stream, number) => {
                if stream == stream::GETS || stream == stream::SETS {
                    local = 1 + number;
                }
                let is_by_next = stream == stream::GETS || stream == stream::CONSTANTS;
                let stream = if is_by_next { form::bucket(stream, rank(at), rank(at + 1)) } else { stream };
                streams[stream].push(number);
            }
        }
    }
    streams
}

/// The number of an offset: the first one that `form::offset` reads as that.
fn offset_number(offset: u32, last: u32) -> u32 {
    (0..81).find(|number| form::offset(*number, last) == offset).unwrap_or(offset + 81)
}

/// The bytes before and after the code.
fn sections(module: &[u8]) -> Result<Vec<u32>, PackError> {
    let mut numbers = [0; 256];
    form::byte_order(|number, byte| numbers[usize::from(byte)] = u32::from(number));
    let section = code_section(module)?;
    let mut all = Vec::new();
    for bytes in [&module[..section.start], module.get(section.end..).ok_or(PackError::Cut)?] {
        all.push(bytes.len() as u32);
        all.extend(bytes.iter().map(|byte| numbers[usize::from(*byte)]));
    }
    Ok(all)
}

/// What the code is made of while pairs are looked for: an instruction is its rank after all pairs. What it calls can only end
/// a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Symbol {
    Instruction(u32),
    Called(u32),
}

/// Returns the numbers of the code with the most frequent pairs of instructions in place of each of them, and these pairs.
fn paired(code: &[u32], ranked: &[u8]) -> (Vec<u32>, Vec<u32>) {
    let mut symbols = Vec::new();
    let mut is_called = true;
    for number in code {
        symbols.push(if is_called {
            Symbol::Called(*number)
        } else {
            Symbol::Instruction(2 * PAIRS as u32 + number)
        });
        is_called = !is_called && form::operand(ranked[*number as usize]) == 1;
    }
    let mut pairs = Vec::new();
    for pair in 0..PAIRS {
        let Some((first, second)) = most_frequent_pair(&symbols) else { break };
        pairs.extend([first, second]);
        let mut rest = symbols.iter().copied().peekable();
        let mut next = Vec::new();
        while let Some(symbol) = rest.next() {
            let is_pair = symbol == Symbol::Instruction(first)
                && rest.next_if_eq(&Symbol::Instruction(second)).is_some();
            next.push(if is_pair { Symbol::Instruction(2 * pair as u32) } else { symbol });
        }
        symbols = next;
    }
    // With fewer pairs, the ranks follow after these.
    let missing = (2 * PAIRS - pairs.len()) as u32;
    let number = |symbol| match symbol {
        Symbol::Instruction(number) if number >= 2 * PAIRS as u32 => number - missing,
        Symbol::Instruction(number) | Symbol::Called(number) => number,
    };
    let pairs = pairs.into_iter().map(Symbol::Instruction).map(number).collect();
    (symbols.into_iter().map(number).collect(), pairs)
}

/// The two instructions that follow each other most often; of several, those that come first.
fn most_frequent_pair(symbols: &[Symbol]) -> Option<(u32, u32)> {
    let mut counts: HashMap<(u32, u32), (usize, usize)> = HashMap::new();
    for (place, window) in symbols.windows(2).enumerate() {
        if let [Symbol::Instruction(first), Symbol::Instruction(second)] = *window {
            counts.entry((first, second)).or_insert((0, usize::MAX - place)).0 += 1;
        }
    }
    counts.into_iter().max_by_key(|(_, rank)| *rank).map(|(pair, _)| pair)
}

/// Writes a number.
fn write(number: u32, text: &mut String) {
    let radix = ALPHABET.len() as u64;
    let character = |digit: u32| char::from(ALPHABET[digit as usize]);
    if number < SINGLES {
        text.push(character(number));
        return;
    }
    let forms = (SINGLES..).zip(FORMS);
    let fits = |(_, (base, count)): &(u32, (u32, u32))| {
        number.checked_sub(*base).is_some_and(|rest| u64::from(rest) < radix.pow(*count))
    };
    // The form of five characters takes all that the others do not.
    let (first, (base, count)) =
        forms.filter(fits).min_by_key(|(_, (_, count))| *count).unwrap_or((SINGLES, FORMS[0]));
    text.push(character(first));
    let rest = u64::from(number - base);
    for place in (0..count).rev() {
        text.push(character((rest / radix.pow(place) % radix) as u32));
    }
}
