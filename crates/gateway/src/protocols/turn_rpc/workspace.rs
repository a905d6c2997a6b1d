//! The only workspace.

use serde_json::{Value, json};

/// Its id.
pub(super) const WORKSPACE: &str = "ws_000000000000000001";

/// When it was made, in seconds: long ago.
const MADE: i64 = 1_777_900_000;

fn workspace() -> Value {
    json!({
        "id": WORKSPACE,
        "name": "Default",
        "is_active": true,
        "is_current": true,
        "created_at": MADE,
        "updated_at": MADE,
    })
}

/// `workspace/default`
pub(super) fn default() -> Value {
    json!({"workspace": workspace()})
}

/// `workspace/list`
pub(super) fn list() -> Value {
    json!({"workspaces": [workspace()]})
}
