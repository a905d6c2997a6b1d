//! Frames as servers write them (protocol note, section 2.1).

/// A frame; the data first, then the number, if there is one.
pub(crate) fn frame(data: &str, id: Option<&str>) -> Vec<u8> {
    let id = id.map_or(String::new(), |id| format!("id: {id}\n"));
    format!("data: {data}\n{id}\n").into_bytes()
}

/// How a server, or a proxy, spells frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Spelling {
    /// As the vendor's server does.
    Plain,
    /// CR and LF, and a comment before each frame.
    CrLf,
    /// The number first, and a name that nobody needs.
    IdFirst,
}

impl Spelling {
    pub(crate) const ALL: [Self; 4] = [Self::Plain, Self::Plain, Self::CrLf, Self::IdFirst];

    /// A frame in this spelling.
    pub(crate) fn frame(self, data: &str, id: Option<&str>) -> Vec<u8> {
        let line = id.map_or(String::new(), |id| format!("id: {id}\n"));
        match self {
            Self::Plain => frame(data, id),
            Self::CrLf => {
                format!(": next\r\ndata: {data}\r\n{}\r\n", line.replace('\n', "\r\n")).into_bytes()
            }
            Self::IdFirst => format!("{line}event: message\ndata:{data}\n\n").into_bytes(),
        }
    }
}
