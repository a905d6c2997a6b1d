//! `long`: 100,000 deltas of prose, or as many as the second word says, produced on demand.

use std::fmt::Write;

use super::compose::{Play, words};
use super::step::{FinishReason, MessageKey};
use super::{Ending, MAIN, Prompt, Step, Steps};

/// The default number of deltas.
const DELTAS: usize = 100_000;
/// More would only fill the memory.
const MOST: usize = 2_000_000;

pub(super) fn play(prompt: &Prompt) -> Steps {
    let deltas = prompt.number().unwrap_or(DELTAS).clamp(1, MOST);
    let message = MessageKey::next();
    let open = Play::open().step(Step::BeginMessage { message, thread: MAIN.to_owned() });
    let prose = (1..).flat_map(|number| words(&chapter(number)));
    let texts = prose.take(deltas).map(move |text| Step::Text { message, text });
    let close = [Step::EndMessage { message, reason: FinishReason::Stop }, Step::End(Ending::Done)];
    Box::new(open.into_steps().into_iter().chain(texts).chain(close))
}

/// The sentences of which all chapters are made.
const SENTENCES: [&str; 24] = [
    "A lighthouse keeper writes down the weather every four hours, whether or not anybody reads it.",
    "The lamp turns once in ten seconds, and ships know the place by that alone.",
    "In the first winter the supply boat came only twice.",
    "Oil was carried up the stairs in cans, *ninety steps*, before breakfast.",
    "When the fog closes in, the light is of no use and the horn takes over.",
    "Each station had its own rhythm, listed in a book that every captain carried.",
    "The lens weighs two tons and floats on a ring of mercury, so that a child could turn it.",
    "Nobody who has polished it forgets the **four hundred prisms**.",
    "The log of 1871 mentions a whale, two birthdays and a broken pane.",
    "Later a wire was laid to the mainland, and the evenings grew shorter.",
    "A good keeper hears a change in the wind before the glass shows it.",
    "The garden behind the wall grew `kale`, potatoes, and against all advice a pear tree.",
    "Salt finds its way into every hinge, so every hinge was greased on Saturdays.",
    "On clear nights the neighbouring light can be seen, a spark at the edge of the sea.",
    "The children learned to read from tide tables.",
    "It is said that the keeper before him counted waves to fall asleep.",
    "Visitors ask about loneliness; keepers talk about paint.",
    "The new lamp is the size of a thumb and shines twice as far.",
    "Since then the station runs by itself, and a technician comes in May and in October.",
    "The stairs are still swept, though no one has said by whom.",
    "What remains is the habit of looking out at four, at eight, and at midnight.",
    "A storm in March took the railing, and the railing was built again.",
    "The last entry in the book reads: *wind west, light rain, all well*.",
    "Ships still slow down a little when they pass, perhaps to say good night.",
];

/// A few paragraphs under a heading, with a list now and then. Always the same for a number.
fn chapter(number: usize) -> String {
    // Strides without a common factor with the number of sentences visit each of them in turn.
    let sentence = |index: usize| SENTENCES[(number * 7 + index * 5) % SENTENCES.len()];
    let paragraph = |from: usize| (from..from + 4).map(sentence).collect::<Vec<_>>().join(" ");
    let mut text = format!("## Chapter {number}\n\n{}\n\n", paragraph(0));
    if number.is_multiple_of(3) {
        for index in 4..7 {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "- {}", sentence(index));
        }
        text.push('\n');
    } else {
        text += &paragraph(4);
        text += "\n\n";
    }
    text + &format!("> {}\n\n", sentence(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<String> {
        let prompt = Prompt { text: text.to_owned(), ..Prompt::default() };
        let texts = play(&prompt).filter_map(|step| match step {
            Step::Text { text, .. } => Some(text),
            _ => None,
        });
        texts.collect()
    }

    #[test]
    fn the_second_word_sets_the_number_of_deltas() {
        assert_eq!(pieces("long 5000").len(), 5000);
        assert_eq!(pieces("long 1").len(), 1);
        assert_eq!(pieces("long story please").len(), 100_000);
    }

    #[test]
    fn a_delta_has_about_five_characters() {
        let pieces = pieces("long 10000");
        let characters: usize = pieces.iter().map(|piece| piece.chars().count()).sum();
        let tenths = characters * 10 / pieces.len();
        assert!((43..=57).contains(&tenths), "{tenths} tenths of a character");
    }
}
