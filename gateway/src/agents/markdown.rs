//! `markdown`: everything that a chat page has to render.

use super::compose::Play;
use super::{Prompt, Steps};

const ANSWER: &str = r#"# Moving a site without downtime

The trick is to let both places answer for a while. You need **two hosts**, *patience*, and a
low `TTL`.

## Before you start

1. Lower the TTL of your DNS records to 60 seconds, a day ahead.
2. Copy the files:
   - once in full, while the old site runs,
   - once more for the differences, just before the switch.
3. Check the copy under a name that nobody knows yet.

## What it costs

| Step            | Time     | Visitors notice |
|:----------------|---------:|:---------------:|
| Full copy       | 2 h      | no              |
| Difference      | 5 min    | no              |
| DNS switch      | 1 min    | perhaps         |
| Waiting it out  | 1 day    | no              |

## The copy itself

```sh
rsync --archive --delete --info=progress2 \
  /srv/shop/ new-host:/srv/shop/
```

And a check that both places say the same:

```js
const [before, after] = await Promise.all(
  ["https://old.example", "https://new.example"].map(async (origin) => {
    const response = await fetch(`${origin}/health`);
    return response.json();
  }),
);
console.assert(before.version === after.version, "the copies differ");
```

> Do not turn the old host off on the same day. Somebody's resolver has never heard of TTLs.

More in the [moving guide](https://example.com/guides/moving), or ask me about ~~FTP~~ `sftp`.
"#;

pub(super) fn play(_: &Prompt) -> Steps {
    Play::open().say(ANSWER).done()
}
