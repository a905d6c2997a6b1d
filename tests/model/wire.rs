//! Frames as servers write them (protocol note, section 2.1).

/// A frame; the data first, then the number, if there is one.
pub(crate) fn frame(data: &str, id: Option<&str>) -> Vec<u8> {
    let id = id.map_or(String::new(), |id| format!("id: {id}\n"));
    format!("data: {data}\n{id}\n").into_bytes()
}

/// The spelling of frames, by a server or a proxy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Spelling {
    /// As the vendor's server does.
    Plain,
    /// CR and LF, and a comment before each frame.
    CrLf,
    /// The number first, and a name that is not needed.
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

/// Where a server writes the numbers of its events.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Numbering {
    /// As the vendor's server does.
    Id,
    /// As in the vendor's reference pages.
    Json,
    Both,
}

impl Numbering {
    pub(crate) const ALL: [Self; 4] = [Self::Id, Self::Id, Self::Json, Self::Both];

    /// The data and the id of a frame for an event with this number. Only an object can have a number in its data.
    pub(crate) fn write<'i>(self, data: &str, id: Option<&'i str>) -> (String, Option<&'i str>) {
        let (Some(id), Some(members)) = (id, data.strip_prefix('{').and_then(|data| data.strip_suffix('}')))
        else {
            return (data.to_owned(), id);
        };
        if self == Self::Id {
            return (data.to_owned(), Some(id));
        }
        let number = if id.parse::<i128>().is_ok() { id.to_owned() } else { format!("{id:?}") };
        (format!("{{{members},\"sequence_number\":{number}}}"), Some(id).filter(|_| self == Self::Both))
    }
}

/// The numbers of events in a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ListNumbers {
    None,
    /// For a message the number of its beginning.
    First,
    /// For a message the number of its end.
    Last,
}

impl ListNumbers {
    pub(crate) const ALL: [Self; 4] = [Self::None, Self::None, Self::First, Self::Last];
}
