//! Tool calls as items: which tool is which type of item, what its policies are, how it is shown.

use serde_json::{Map, Value, json};

use super::event::ItemRef;
use crate::agents::Tool;
use crate::json;

const MIB: u64 = 1024 * 1024;

/// A call and its output so far.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) tool: String,
    arguments: Value,
    /// All output, in order; and by stream.
    pub(super) output: String,
    stdout: String,
    stderr: String,
}

/// How a call ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Outcome {
    /// Its class; `None` if it went well.
    pub(super) error: Option<&'static str>,
    pub(super) exit_code: i64,
    /// What is shown of it, unless it is a command.
    pub(super) lines: Vec<String>,
    /// Members of its type of item.
    pub(super) details: Map<String, Value>,
}

impl Outcome {
    /// The outcome that a tool's text represents.
    pub(super) fn of(content: &str) -> Self {
        let error = content.starts_with("Error:").then_some("execution_failed");
        Self {
            error,
            exit_code: i64::from(error.is_some()),
            lines: vec![content.to_owned()],
            ..Self::default()
        }
    }

    pub(super) fn failed(class: &'static str) -> Self {
        Self { error: Some(class), exit_code: 1, lines: vec!["done".to_owned()], ..Self::default() }
    }
}

/// The name of a tool as this gateway calls it.
pub(super) fn name(tool: Tool) -> String {
    match tool {
        Tool::Remote { server, name } => format!("mcp_{}_{name}", server.name),
        Tool::System { name: "sandbox_exec" } => "exec_command".to_owned(),
        Tool::System { name } => name.to_owned(),
    }
}

/// Whether a call makes a task, and so is not a separate item.
pub(super) fn makes_task(tool: &str) -> bool {
    tool == "create_sub_agent"
}

impl Call {
    pub(super) fn new(id: &str, tool: &str, arguments: Map<String, Value>) -> Self {
        let mut arguments = Value::Object(arguments);
        if tool == "exec_command" {
            // A command in one text is a line for the shell.
            let line = arguments.get("command").filter(|command| command.is_string()).cloned();
            if let Some(line) = line {
                arguments = json!({"cmd": line});
            }
        }
        Self {
            id: id.to_owned(),
            tool: tool.to_owned(),
            arguments,
            output: String::new(),
            stdout: String::new(),
            stderr: String::new(),
        }
    }

    pub(super) fn arguments(&self) -> Map<String, Value> {
        self.arguments.as_object().cloned().unwrap_or_default()
    }

    /// The type of its item, and that type as recovery writes it.
    fn kind(&self) -> (&'static str, &'static str) {
        match self.tool.as_str() {
            "exec_command" | "write_stdin" => ("commandExecution", "command_execution"),
            "apply_patch" => ("fileChange", "file_change"),
            "web_search" => ("webSearch", "web_search"),
            "web_fetch" => ("webFetch", "web_fetch"),
            "download_url" => ("download", "download"),
            _ => ("dynamicToolCall", "dynamic_tool_call"),
        }
    }

    pub(super) fn is_command(&self) -> bool {
        self.kind().0 == "commandExecution"
    }

    pub(super) fn reference(&self) -> ItemRef {
        ItemRef { id: self.id.clone(), kind: self.kind().1 }
    }

    /// Keeps a piece of output.
    pub(super) fn put_out(&mut self, text: &str, stream: &str) {
        self.output.push_str(text);
        match stream {
            "stderr" => self.stderr.push_str(text),
            _ => self.stdout.push_str(text),
        }
    }

    /// The item as it begins.
    pub(super) fn started(&self) -> Value {
        let mut item = self.common("in_progress");
        item["display"] = json!({"kind": "progress", "stage": "running", "metadata": {}});
        item["storage"] =
            json!({"kind": "metadata", "metadata": {"state": {"kind": "string", "value": "running"}}});
        item
    }

    /// The item as it ends.
    pub(super) fn completed(&self, outcome: &Outcome) -> Value {
        let mut item = self.common(if outcome.error.is_none() { "completed" } else { "failed" });
        if self.is_command() {
            let shell = self.shell(outcome);
            item["storage"] = shell.clone();
            item["display"] = shell;
        } else {
            item["display"] = json!({
                "kind": "summary",
                "title": self.tool,
                "lines": outcome.lines,
                "metadata": {},
                "truncated": false,
            });
            item["storage"] = json!({"kind": "metadata", "metadata": {}});
        }
        item["success"] = json!(outcome.error.is_none());
        item["outcome"] = match outcome.error {
            None => json!({"status": "ok", "shouldRetry": false, "incomplete": false}),
            Some(class) => {
                let retry = class == "timeout";
                let status = if retry { "recoverable_error" } else { "fatal_error" };
                json!({"status": status, "errorClass": class, "shouldRetry": retry, "incomplete": false})
            }
        };
        for (name, value) in &outcome.details {
            item[name] = value.clone();
        }
        item
    }

    fn shell(&self, outcome: &Outcome) -> Value {
        let mut shell = json!({
            "kind": "shell",
            "stdout": self.stdout,
            "aggregated_output": self.output,
            "exit_code": outcome.exit_code,
            "duration_ms": 12,
            "timed_out": outcome.error == Some("timeout"),
            "truncated": false,
        });
        if !self.stderr.is_empty() {
            shell["stderr"] = json!(self.stderr);
        }
        shell
    }

    fn common(&self, status: &str) -> Value {
        let mut item = json!({
            "type": self.kind().0,
            "id": self.id,
            "toolName": self.tool,
            "arguments": self.arguments,
            "status": status,
            "outputPolicy": policy(&self.tool),
        });
        let argument = |name: &str| self.arguments.get(name).cloned();
        match self.kind().0 {
            "commandExecution" => {
                let line = argument("cmd").unwrap_or_default();
                item["command"] = argument("command").unwrap_or_else(|| json!(["zsh", "-lc", line]));
            }
            "fileChange" => item["changedFiles"] = argument("files").unwrap_or_else(|| json!([])),
            "webSearch" => {
                item["results"] = json!([]);
                json::add(&mut item, [("query", argument("query"))]);
            }
            "webFetch" | "download" => {
                if self.kind().0 == "webFetch" {
                    item["links"] = json!([]);
                }
                json::add(&mut item, [("url", argument("url"))]);
            }
            _ => {}
        }
        item
    }
}

/// How a tool's output is shown, by the tool's name.
fn policy(tool: &str) -> Value {
    let structured = json!({"mode": "structured", "max_bytes": 2 * MIB});
    let full = json!({"mode": "full", "max_bytes": 2 * MIB});
    let whole = json!({"mode": "full", "max_bytes": 4 * MIB});
    let summary = json!({"mode": "summary", "max_chars": 2000});
    let metadata = json!({"mode": "metadata_only"});
    let progress = json!({"mode": "progress_only"});
    let evidence = |excerpt: Value| {
        json!({
            "mode": "evidence",
            "include_exit_status": true,
            "include_error_class": true,
            "include_retry_hint": true,
            "diagnostic_excerpt": excerpt,
            "include_fingerprints": true,
        })
    };
    let without_excerpt = evidence(json!({"mode": "disabled"}));
    let (llm, timeline, storage, recovery, deltas) = match tool {
        "exec_command" | "write_stdin" => (
            full,
            whole.clone(),
            whole,
            evidence(json!({"mode": "errors_only", "max_chars": 4000})),
            json!({
                "mode": "persist_and_display",
                "max_chunk_bytes": 64 * 1024,
                "max_total_bytes": 4 * MIB,
            }),
        ),
        "apply_patch" | "read_file" | "list_dir" | "grep_files" | "read_skill" | "tool_search" => {
            (full, summary, metadata, without_excerpt, json!({"mode": "disabled"}))
        }
        "web_fetch" => (full, summary, metadata, without_excerpt, progress),
        "web_search" => (structured, summary.clone(), summary, without_excerpt, progress),
        "download_url" | "computer_use" => (structured, summary, metadata, without_excerpt, progress),
        _ => (structured, metadata.clone(), metadata.clone(), metadata, progress),
    };
    json!({
        "llm": llm,
        "llmRetention": {"mode": "until_turn_terminal", "max_bytes": 2 * MIB},
        "timeline": timeline,
        "storage": storage,
        "recovery": recovery,
        "deltas": deltas,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tool: &str, arguments: Value) -> Call {
        Call::new("c", tool, serde_json::from_value(arguments).unwrap())
    }

    #[test]
    fn commands_are_lines_for_the_shell() {
        let call = of("exec_command", json!({"command": "ls"}));
        let item = call.started();
        assert_eq!(item["command"], json!(["zsh", "-lc", "ls"]));
        assert_eq!(item["arguments"], json!({"cmd": "ls"}));
        let call = of("exec_command", json!({"command": ["ls", "-l"]}));
        assert_eq!(call.started()["command"], json!(["ls", "-l"]));
    }

    #[test]
    fn the_name_of_a_tool_is_the_type_of_its_item() {
        for (tool, kind) in [
            ("write_stdin", "commandExecution"),
            ("apply_patch", "fileChange"),
            ("web_search", "webSearch"),
            ("web_fetch", "webFetch"),
            ("download_url", "download"),
            ("mcp_console_get_account", "dynamicToolCall"),
        ] {
            assert_eq!(of(tool, json!({})).started()["type"], kind);
        }
    }

    #[test]
    fn an_error_is_a_failure() {
        let call = of("mcp_x_y", json!({}));
        let item = call.completed(&Outcome::of("Error: refused"));
        assert_eq!((&item["status"], &item["success"]), (&json!("failed"), &json!(false)));
        let item = call.completed(&Outcome::of("fine"));
        assert_eq!(item["display"]["lines"], json!(["fine"]));
    }
}
