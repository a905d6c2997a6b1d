//! The input of a turn (TrueFoundry objects, `TurnInputItem`).

use serde::{Deserialize, Serialize};

use crate::agents::{Approval, Attachment};
use crate::content;

/// One item, as received and as shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub(crate) enum InputItem {
    #[serde(rename = "user.message")]
    Message { content: Content },
    #[serde(rename = "user.tool_approval")]
    Approval { thread_id: String, tool_call_id: String, approval: Decision },
    #[serde(rename = "user.tool_response")]
    Response { thread_id: String, tool_call_id: String, content: String },
}

/// A message: text, or a list of parts.
pub(crate) type Content = content::Content<Part>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Part {
    Text {
        text: String,
    },
    File {
        name: String,
        /// `data:<mime>;base64,<payload>`
        data: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(crate) enum Decision {
    Allow,
    Deny {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

impl From<&Decision> for Approval {
    fn from(decision: &Decision) -> Self {
        match decision {
            Decision::Allow => Self::Allow,
            Decision::Deny { reason } => Self::Deny { reason: reason.clone() },
        }
    }
}

impl Content {
    /// All text of the message.
    pub(crate) fn text(&self) -> String {
        self.text_by(|part| match part {
            Part::Text { text } => Some(text),
            Part::File { .. } => None,
        })
    }

    /// Whether it has neither text nor files.
    pub(crate) fn is_empty(&self) -> bool {
        let blank = |text: &str| text.trim().is_empty();
        match self {
            Self::Text(text) => blank(text),
            Self::Parts(parts) => parts.iter().all(|part| matches!(part, Part::Text { text } if blank(text))),
        }
    }

    /// The attached files; the error names one whose data cannot be read.
    pub(crate) fn files(&self) -> Result<Vec<Attachment>, String> {
        let files = self.parts().iter().filter_map(|part| match part {
            Part::Text { .. } => None,
            Part::File { name, data } => Some((name, data)),
        });
        let wrong = |name| format!("file '{name}' must be a data URI: data:<mime>;base64,<payload>");
        files.map(|(name, data)| attachment(name, data).ok_or_else(|| wrong(name))).collect()
    }
}

fn attachment(name: &str, data: &str) -> Option<Attachment> {
    let (mime, bytes) = content::data_url(data)?;
    let mime = if mime.is_empty() { "text/plain" } else { mime };
    Some(Attachment { name: name.to_owned(), mime: mime.to_owned(), bytes: bytes? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_a_type_and_a_size() {
        let file = attachment("a.png", "data:image/png;base64,AAEC").expect("a file");
        assert_eq!((file.mime.as_str(), file.bytes), ("image/png", 3));
        assert_eq!(attachment("a.png", "AAEC"), None);
        assert_eq!(attachment("a.png", "data:image/png;base64,?"), None);
    }

    #[test]
    fn a_bad_item_is_explained() {
        let bad = serde_json::json!({"type": "user.message", "content": [{"type": "video"}]});
        let error = serde_json::from_value::<InputItem>(bad).expect_err("refused");
        assert!(error.to_string().contains("video"), "{error}");
    }
}
