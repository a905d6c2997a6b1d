//! The input of a turn: text, media, artifacts, mentions.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::agents::Attachment;
use crate::content::data_url;
use crate::json;

/// One part of a turn's input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum UserInput {
    Text {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text_elements: Option<Vec<TextElement>>,
    },
    Image {
        url: String,
    },
    File {
        url: String,
    },
    Audio {
        url: String,
    },
    Video {
        url: String,
    },
    LocalImage {
        path: String,
    },
    LocalFile {
        path: String,
    },
    LocalAudio {
        path: String,
    },
    LocalVideo {
        path: String,
    },
    Artifact {
        artifact_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version_id: Option<String>,
    },
    Mention {
        name: String,
        path: String,
    },
}

/// A range of a text that the client shows as something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TextElement {
    byte_range: ByteRange,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    placeholder: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct ByteRange {
    start: usize,
    end: usize,
}

impl UserInput {
    /// The problem with this part, if there is one.
    pub(super) fn problem(&self) -> Option<String> {
        match self {
            Self::Text { text, text_elements } => {
                let range = |element: &TextElement| element.byte_range;
                let outside = text_elements.iter().flatten().map(range).find(|range| {
                    !(range.start <= range.end
                        && text.is_char_boundary(range.start)
                        && text.is_char_boundary(range.end))
                })?;
                Some(format!("byte_range {}..{} is no part of its text", outside.start, outside.end))
            }
            Self::Image { url } | Self::File { url } | Self::Audio { url } | Self::Video { url } => {
                url.is_empty().then(|| "`url` is required".to_owned())
            }
            Self::LocalImage { path }
            | Self::LocalFile { path }
            | Self::LocalAudio { path }
            | Self::LocalVideo { path } => path.is_empty().then(|| "`path` is required".to_owned()),
            Self::Artifact { artifact_id, .. } => {
                artifact_id.is_empty().then(|| "`artifactId` is required".to_owned())
            }
            Self::Mention { name, .. } => name.is_empty().then(|| "`name` is required".to_owned()),
        }
    }

    /// As part of the user's message.
    fn words(&self) -> Option<String> {
        match self {
            Self::Text { text, .. } => Some(text.clone()),
            Self::Mention { name, .. } => Some(format!("@{name}")),
            _ => None,
        }
    }

    /// Beside the user's message.
    pub(super) fn attachment(&self) -> Option<Value> {
        match self {
            Self::Text { .. } | Self::Mention { .. } => None,
            Self::Artifact { artifact_id, version_id } => {
                let mut artifact = json!({
                    "artifact_id": artifact_id,
                    "display_name": artifact_id,
                    "kind": "file",
                    "status": "ready",
                });
                json::add(&mut artifact, [("version_id", version_id.as_ref())]);
                Some(json!({"type": "artifact", "artifact": artifact}))
            }
            media => serde_json::to_value(media).ok(),
        }
    }

    /// The file that the agent gets.
    fn file(&self) -> Option<Attachment> {
        let (name, address) = match self {
            Self::Text { .. } | Self::Mention { .. } => return None,
            Self::Image { url } | Self::File { url } | Self::Audio { url } | Self::Video { url } => {
                ("attachment", url.as_str())
            }
            Self::LocalImage { path }
            | Self::LocalFile { path }
            | Self::LocalAudio { path }
            | Self::LocalVideo { path } => ("", path.as_str()),
            Self::Artifact { artifact_id, .. } => (artifact_id.as_str(), ""),
        };
        Some(file(name, address))
    }
}

fn file(name: &str, address: &str) -> Attachment {
    if let Some((mime, bytes)) = data_url(address) {
        return Attachment { name: name.to_owned(), mime: mime.to_owned(), bytes: bytes.unwrap_or_default() };
    }
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let last = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(name);
    let mime = mime_guess::from_path(last).first_or_octet_stream().to_string();
    Attachment { name: last.to_owned(), mime, bytes: 0 }
}

/// The text of an input, each part with its white space collapsed, as the user's message shows it.
pub(super) fn text(input: &[UserInput]) -> String {
    let simple = |words: String| words.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = input.iter().filter_map(UserInput::words).map(simple);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The files of an input.
pub(super) fn files(input: &[UserInput]) -> Vec<Attachment> {
    input.iter().filter_map(UserInput::file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(json: Value) -> Vec<UserInput> {
        serde_json::from_value(json).expect("an input")
    }

    #[test]
    fn words_are_joined_line_by_line() {
        let input = input(json!([
            {"type": "text", "text": "  two\n words ", "textElements": []},
            {"type": "text", "text": " "},
            {"type": "mention", "name": "main.rs", "path": "src/main.rs"},
        ]));
        assert_eq!(text(&input), "two words\n@main.rs");
        assert!(input.iter().all(|part| part.attachment().is_none()));
    }

    #[test]
    fn media_are_attachments_and_files() {
        let input = input(json!([
            {"type": "image", "url": "data:image/png;base64,AAAA"},
            {"type": "file", "url": "https://a.example/x/report.pdf?y#z"},
            {"type": "localAudio", "path": "/home/u/a.mp3"},
            {"type": "artifact", "artifactId": "art_1", "versionId": "v2"},
        ]));
        let seen: Vec<_> = files(&input).into_iter().map(|file| (file.name, file.mime, file.bytes)).collect();
        let file = |name: &str, mime: &str, bytes| (name.to_owned(), mime.to_owned(), bytes);
        assert_eq!(
            seen,
            [
                file("attachment", "image/png", 3),
                file("report.pdf", "application/pdf", 0),
                file("a.mp3", "audio/mpeg", 0),
                file("art_1", "application/octet-stream", 0),
            ]
        );
        let attachments: Vec<_> = input.iter().filter_map(UserInput::attachment).collect();
        assert_eq!(attachments[2], json!({"type": "localAudio", "path": "/home/u/a.mp3"}));
        assert_eq!(attachments[3]["artifact"]["version_id"], "v2");
    }

    #[test]
    fn ranges_lie_within_their_text() {
        for (range, fits) in
            [((0, 2), true), ((2, 2), true), ((0, 1), false), ((0, 9), false), ((2, 0), false)]
        {
            let (start, end) = range;
            let part = &input(json!([{
                "type": "text", "text": "é", "textElements": [{"byte_range": {"start": start, "end": end}}],
            }]))[0];
            assert_eq!(part.problem().is_none(), fits, "{range:?}");
        }
    }
}
