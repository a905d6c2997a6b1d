//! Reads the messages of a socket as the package does: if a message equals an earlier one outside its holes, only its
//! piece of text is passed on.

use turnwire::protocol::{EventDecoder, EventSink};

/// An earlier message.
#[derive(Debug)]
struct Template {
    number: u32,
    /// What stands before the first hole.
    head: String,
    /// The letter of each hole, and what stands after it.
    holes: Vec<(char, String)>,
}

/// The earlier messages of a connection.
#[derive(Debug, Default)]
pub struct Templates(Vec<Template>);

impl Templates {
    /// Has the decoder describe the message that it decoded last.
    pub fn learn(&mut self, decoder: &dyn EventDecoder, message: &str) {
        self.0.extend(decoder.template(message).map(|description| Template::of(&description)));
    }

    /// Whether the decoder has taken this message by its piece of text.
    pub fn take(&self, decoder: &mut dyn EventDecoder, message: &str, sink: &mut dyn EventSink) -> bool {
        let matching = |template: &Template| Some((template.number, template.piece(message)?));
        let Some((number, piece)) = self.0.iter().rev().find_map(matching) else { return false };
        decoder.decode_like(number, piece, sink) == 1
    }
}

impl Template {
    fn of(description: &str) -> Self {
        let mut parts = description.split('\0');
        let mut next = || parts.next().expect("a number, and a part").to_owned();
        let (number, head) = (next().parse().expect("a number"), next());
        let hole = |part: &str| {
            let mut rest = part.chars();
            (rest.next().expect("a letter"), rest.as_str().to_owned())
        };
        Self { number, head, holes: parts.map(hole).collect() }
    }

    /// The inside of the string that is the piece of text, and its quote, if the message equals this one elsewhere.
    fn piece<'m>(&self, message: &'m str) -> Option<&'m str> {
        let (mut rest, mut piece) = (message.strip_prefix(&*self.head)?, None);
        for (hole, part) in &self.holes {
            let len = match hole {
                't' => inside_len(rest)?,
                'n' => number_len(rest)?,
                'r' => rest.len().checked_sub(part.len())?,
                other => panic!("a hole {other}"),
            };
            if *hole == 't' {
                piece = rest.get(..=len);
            }
            rest = rest.get(len..)?.strip_prefix(&**part)?;
        }
        piece.filter(|_| rest.is_empty())
    }
}

/// The length up to the quote that ends a string.
fn inside_len(text: &str) -> Option<usize> {
    let is_end = |at: &usize| text[..*at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 0;
    text.match_indices('"').map(|(at, _)| at).find(is_end)
}

/// The length of a whole number.
fn number_len(text: &str) -> Option<usize> {
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    (len > 0 && (len == 1 || !text.starts_with('0'))).then_some(len)
}
