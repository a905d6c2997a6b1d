//! Messages of the wire, kept as they came.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agents::Attachment;
use crate::content::data_url;

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Message(pub(super) Value);

/// A call of a message, complete.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) arguments: &'a str,
}

impl Message {
    fn text_of(&self, field: &str) -> &str {
        self.0.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn id(&self) -> &str {
        self.text_of("id")
    }

    pub(super) fn role(&self) -> &str {
        self.text_of("role")
    }

    /// The call that a tool message answers.
    pub(super) fn tool_call_id(&self) -> &str {
        let id = self.text_of("toolCallId");
        if id.is_empty() { self.text_of("tool_call_id") } else { id }
    }

    /// All text; parts are joined by blank lines.
    pub(super) fn text(&self) -> String {
        match self.0.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => {
                let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
                texts.collect::<Vec<_>>().join("\n\n")
            }
            _ => String::new(),
        }
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = Call<'_>> {
        let calls = self.0.get("toolCalls").and_then(Value::as_array).into_iter().flatten();
        calls.filter_map(|call| {
            let function = call.get("function")?;
            Some(Call {
                id: call.get("id")?.as_str()?,
                name: function.get("name")?.as_str()?,
                arguments: function.get("arguments")?.as_str()?,
            })
        })
    }

    /// What came with the text: images, sound, films and documents, and the `binary` parts of 0.x.
    pub(super) fn files(&self) -> impl Iterator<Item = Attachment> {
        let parts = self.0.get("content").and_then(Value::as_array).into_iter().flatten();
        parts.filter(|part| part.get("type").and_then(Value::as_str) != Some("text")).map(file)
    }
}

fn file(part: &Value) -> Attachment {
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let source = part.get("source").unwrap_or(part);
    let data = text(source, "data").or_else(|| text(source, "value"));
    let kind = text(part, "type").unwrap_or_default();
    let mime = text(source, "mimeType").unwrap_or_else(|| format!("{kind}/*"));
    let is_data = text(source, "type").is_none_or(|kind| kind == "data" || kind == "binary");
    let bytes = data
        .as_deref()
        .filter(|_| is_data)
        .and_then(|data| data_url(&format!("data:{mime};base64,{data}"))?.1)
        .unwrap_or_default();
    let name = text(part, "filename")
        .or_else(|| part.get("metadata").and_then(|metadata| text(metadata, "name")))
        .or_else(|| data.filter(|_| !is_data))
        .or_else(|| text(part, "id"))
        .unwrap_or(kind);
    Attachment { name, mime, bytes }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_are_told_in_every_form() {
        let message = Message(json!({"role": "user", "content": [
            {"type": "text", "text": "look"},
            {"type": "image", "source": {"type": "data", "value": "AAAA", "mimeType": "image/png"}},
            {"type": "document", "source": {"type": "url", "value": "https://a/b.pdf"}, "metadata": {"name": "b.pdf"}},
            {"type": "binary", "mimeType": "text/plain", "data": "aGk=", "filename": "hi.txt"},
        ]}));
        let files: Vec<_> =
            message.files().map(|file| format!("{} {} {}", file.name, file.mime, file.bytes)).collect();
        assert_eq!(files, ["image image/png 3", "b.pdf document/* 0", "hi.txt text/plain 2"]);
        assert_eq!(message.text(), "look");
    }
}
