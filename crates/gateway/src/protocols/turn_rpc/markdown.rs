//! Markdown as the gateway parses it for its clients: blocks, and marks on ranges of their text.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use serde_json::{Value, json};

/// The version of the form that is written here.
pub(super) const VERSION: u64 = 1;

/// Parses a whole text. Ranges of marks count characters: the protocol does not say what they count.
pub(super) fn parse(text: &str) -> Value {
    let mut builder = Builder { open: vec![Open::default()] };
    // Tables are unknown to this form, and stay text.
    for event in Parser::new_ext(text, Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS) {
        builder.take(event);
    }
    let blocks = builder.open.into_iter().next().map(Open::into_blocks).unwrap_or_default();
    json!({"blocks": blocks})
}

/// A block that is not complete, or the document.
#[derive(Debug, Default)]
struct Open {
    blocks: Vec<Value>,
    inline: Inline,
    /// Of an item of a list.
    checked: Option<bool>,
    /// Of a list: its items, and the number of the first.
    items: Vec<Value>,
    first: Option<u64>,
    /// Of a block of code.
    language: Option<String>,
}

/// Text with marks.
#[derive(Debug, Default)]
struct Inline {
    text: String,
    length: usize,
    marks: Vec<Value>,
    open: Vec<(usize, Value)>,
}

impl Inline {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.length += text.chars().count();
    }

    fn mark(&mut self, start: usize, kind: &Value) {
        self.marks.push(json!({"start": start, "end": self.length, "kind": kind}));
    }

    fn close(&mut self) {
        if let Some((start, kind)) = self.open.pop() {
            self.mark(start, &kind);
        }
    }

    fn take(&mut self) -> Self {
        std::mem::take(self)
    }
}

impl Open {
    /// Text outside of a paragraph, as in the items of a tight list, becomes a paragraph.
    fn flush(&mut self) {
        let inline = self.inline.take();
        if !inline.text.is_empty() {
            self.blocks.push(json!({"type": "paragraph", "text": inline.text, "marks": inline.marks}));
        }
    }

    fn into_blocks(mut self) -> Vec<Value> {
        self.flush();
        self.blocks
    }
}

struct Builder {
    /// The document and what is open in it. Never empty.
    open: Vec<Open>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.inline().push(&text),
            Event::Code(text) => {
                let inline = self.inline();
                let start = inline.length;
                inline.push(&text);
                inline.mark(start, &json!({"type": "code"}));
            }
            Event::SoftBreak | Event::HardBreak => self.inline().push("\n"),
            Event::Rule => self.block(json!({"type": "rule"})),
            Event::TaskListMarker(checked) => self.top().checked = Some(checked),
            // Switched off.
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let mark = match tag {
            Tag::Strong => json!({"type": "bold"}),
            Tag::Emphasis => json!({"type": "italic"}),
            Tag::Strikethrough => json!({"type": "strike"}),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                json!({"type": "link", "url": dest_url.as_ref()})
            }
            Tag::List(first) => return self.open(Open { first, ..Open::default() }),
            Tag::CodeBlock(CodeBlockKind::Fenced(language)) if !language.is_empty() => {
                let language = Some(language.into_string());
                return self.open(Open { language, ..Open::default() });
            }
            _ => return self.open(Open::default()),
        };
        let inline = self.inline();
        inline.open.push((inline.length, mark));
    }

    fn open(&mut self, open: Open) {
        self.top().flush();
        self.open.push(open);
    }

    fn end(&mut self, tag: TagEnd) {
        if matches!(
            tag,
            TagEnd::Strong | TagEnd::Emphasis | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image
        ) {
            return self.inline().close();
        }
        // Every end has a beginning, so the document itself stays.
        let Some(mut ended) = self.open.pop() else { return };
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                ended.flush();
                for block in ended.blocks {
                    self.block(block);
                }
            }
            TagEnd::Heading(level) => {
                let inline = ended.inline.take();
                let content = json!({"text": inline.text, "marks": inline.marks});
                self.block(json!({"type": "heading", "level": number(level), "content": content}));
            }
            TagEnd::BlockQuote(_) => {
                let blocks = ended.into_blocks();
                self.block(json!({"type": "quote", "blocks": blocks}));
            }
            TagEnd::CodeBlock => {
                let mut code = json!({"type": "code", "text": ended.inline.text});
                if let Some(language) = ended.language {
                    code["language"] = json!(language);
                }
                self.block(code);
            }
            TagEnd::Item => {
                let checked = ended.checked;
                let mut item = json!({"blocks": ended.into_blocks()});
                if let Some(checked) = checked {
                    item["checked"] = json!(checked);
                }
                self.top().items.push(item);
            }
            TagEnd::List(ordered) => {
                let start = ended.first.unwrap_or(1);
                self.block(json!({"type": "list", "ordered": ordered, "start": start, "items": ended.items}));
            }
            _ => {}
        }
    }

    fn block(&mut self, block: Value) {
        let top = self.top();
        top.flush();
        top.blocks.push(block);
    }

    fn top(&mut self) -> &mut Open {
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    fn inline(&mut self) -> &mut Inline {
        &mut self.top().inline
    }
}

fn number(level: HeadingLevel) -> u8 {
    level as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(text: &str) -> Value {
        parse(text)["blocks"].clone()
    }

    #[test]
    fn nothing_is_no_block() {
        assert_eq!(parse(""), json!({"blocks": []}));
    }

    #[test]
    fn marks_are_ranges_of_characters() {
        assert_eq!(
            blocks("é **bold *both*** `code` [name](https://a.example) ~~no~~"),
            json!([{
                "type": "paragraph",
                "text": "é bold both code name no",
                "marks": [
                    {"start": 7, "end": 11, "kind": {"type": "italic"}},
                    {"start": 2, "end": 11, "kind": {"type": "bold"}},
                    {"start": 12, "end": 16, "kind": {"type": "code"}},
                    {"start": 17, "end": 21, "kind": {"type": "link", "url": "https://a.example"}},
                    {"start": 22, "end": 24, "kind": {"type": "strike"}},
                ],
            }])
        );
    }

    #[test]
    fn blocks_nest() {
        let paragraph = |text: &str| json!({"type": "paragraph", "text": text, "marks": []});
        assert_eq!(
            blocks(
                "# Title\n\n3. one\n   - [x] two\n4. three\n\n> quoted\n> text\n\n---\n\n```rs\nlet x;\n```\n"
            ),
            json!([
                {"type": "heading", "level": 1, "content": {"text": "Title", "marks": []}},
                {"type": "list", "ordered": true, "start": 3, "items": [
                    {"blocks": [
                        paragraph("one"),
                        {"type": "list", "ordered": false, "start": 1, "items": [
                            {"checked": true, "blocks": [paragraph("two")]},
                        ]},
                    ]},
                    {"blocks": [paragraph("three")]},
                ]},
                {"type": "quote", "blocks": [paragraph("quoted\ntext")]},
                {"type": "rule"},
                {"type": "code", "language": "rs", "text": "let x;\n"},
            ])
        );
    }

    #[test]
    fn every_prefix_of_a_text_can_be_parsed() {
        let text = "## A\n\n- *b **c** d*\n  1. `e`\n\n> ~~f\n\n```\ng <b>h</b>\n";
        for (end, _) in text.char_indices() {
            assert!(parse(&text[..end])["blocks"].is_array());
        }
    }
}
