//! Scripts whose tools the server runs, and files.

use std::fmt::Write;

use serde_json::json;

use super::compose::{CONSOLE, Message, Play, call_id, console};
use super::{Attachment, MAIN, Prompt, SANDBOX, Server, Step, Steps, Tool};

/// `tools`: one tool call, its result, a second call that depends on it, the answer.
pub(super) fn tools(_: &Prompt) -> Steps {
    let (find, logs) = (call_id(), call_id());
    let services = json!([
        {"service": "shop-web", "status": "degraded", "restarts_last_hour": 2},
        {"service": "shop-worker", "status": "healthy", "restarts_last_hour": 0},
    ]);
    let lines = "13:58:02 shop-web out of memory: 512 MiB reached\n\
                 13:58:02 shop-web stopped\n\
                 13:58:09 shop-web started";
    Play::open()
        .message(Message::new(MAIN).text("Let me see how your services are doing.").call(
            &find,
            console("list_services"),
            &json!({"account": "tidewater-books"}),
        ))
        .result(25, &find, services.to_string())
        .message(
            Message::new(MAIN)
                .text("`shop-web` was restarted twice. I will read its log to find out why.")
                .call(&logs, console("read_log"), &json!({"service": "shop-web", "lines": 50})),
        )
        .result(40, &logs, lines)
        .say(
            "`shop-web` runs out of memory: it reached its limit of **512 MiB** at 13:58, was \
             stopped, and was back seven seconds later. `shop-worker` is fine.\n\nA limit of \
             768 MiB would give it room. That is one setting, and it needs no redeploy.",
        )
        .done()
}

/// `parallel`: three calls in one message; their arguments arrive interleaved.
pub(super) fn parallel(_: &Prompt) -> Steps {
    let ids = [call_id(), call_id(), call_id()];
    let arguments = ["Lisbon", "Montréal", "Ōsaka"]
        .map(|city| json!({"city": city, "resolution_minutes": 5, "metrics": ["latency", "errors"]}));
    let calls: Vec<_> = ids
        .iter()
        .zip(&arguments)
        .map(|(id, arguments)| (id.as_str(), console("measure_latency"), arguments))
        .collect();
    let message = Message::new(MAIN).text("I will measure from three cities at once.").calls(&calls);
    // The answers are in a different order than the questions.
    Play::open()
        .message(message)
        .result(20, &ids[1], json!({"latency_ms": 31, "errors": 0}).to_string())
        .result(6, &ids[0], json!({"latency_ms": 24, "errors": 0}).to_string())
        .result(18, &ids[2], json!({"latency_ms": 212, "errors": 3}).to_string())
        .say(
            "Two cities are fine and one is not:\n\n\
             | City | Latency | Errors |\n|---|---:|---:|\n\
             | Lisbon | 24 ms | 0 |\n| Montréal | 31 ms | 0 |\n| Ōsaka | **212 ms** | 3 |\n\n\
             Ōsaka is served from Europe at the moment. A replica in Tōkyō would bring it below \
             50 ms.",
        )
        .done()
}

/// `file`: describes the files of the message.
pub(super) fn file(prompt: &Prompt) -> Steps {
    let text = match prompt.files.as_slice() {
        [] => "There is no file in your message. Attach one, and I will tell you its name, its \
               type and its size."
            .to_owned(),
        [file] => format!("I received one file: {}.", description(file)),
        files => list(files),
    };
    Play::open().say(&text).done()
}

fn list(files: &[Attachment]) -> String {
    let mut text = format!("I received {} files:\n", files.len());
    for file in files {
        // Writing into a string cannot fail.
        let _ = write!(text, "\n- {}", description(file));
    }
    text
}

fn description(file: &Attachment) -> String {
    format!("`{}`, type `{}`, {} bytes", file.name, file.mime, file.bytes)
}

/// Where the file is written.
const PATH: &str = "/workspace/uptime.csv";

const TABLE: &str = "month,uptime_percent,incidents\n2026-06,99.98,1\n2026-07,100.00,0\n\
                     2026-08,99.71,3\n2026-09,99.99,1\n";

const RUN: Tool = Tool::System { name: "sandbox_exec" };

/// `sandbox`: runs code in a sandbox and leaves a file that can be downloaded. The sandbox lives
/// as long as the conversation, so only the first such turn makes one.
pub(super) fn sandbox(prompt: &Prompt) -> Steps {
    let known = prompt.memory.get(SANDBOX);
    let sandbox = known.cloned().unwrap_or_else(|| format!("sbx-{}", uuid::Uuid::new_v4().simple()));
    let run = call_id();
    let mut play = Play::open();
    if known.is_none() {
        play = play.step(Step::CreateSandbox { sandbox: sandbox.clone() }).remember(SANDBOX, sandbox.clone());
    }
    play.message(Message::new(MAIN).text("I will collect the numbers and write them into a table.").call(
        &run,
        RUN,
        &json!({"command": format!("python3 collect.py --since 2026-06 > {PATH}")}),
    ))
    .wait(60)
    .step(Step::WriteFile {
        sandbox: sandbox.clone(),
        path: PATH.to_owned(),
        bytes: TABLE.as_bytes().to_vec(),
    })
    .result(0, &run, json!({"exit_code": 0, "stdout": "", "stderr": ""}).to_string())
    .say(&format!(
        "The table is ready: `{PATH}` in sandbox `{sandbox}`. August was the weakest month with \
         99.71 %; the other three are above 99.9 %."
    ))
    .done()
}

/// The server that asks for a sign-in.
pub(super) const CALENDAR: Server = Server { id: "mcp-calendar", name: "calendar" };

/// `mcp-auth`: a tool server wants the user to sign in; the next turn continues without input.
pub(super) fn mcp_auth(_: &Prompt) -> Steps {
    Play::silent().step(Step::AwaitAuthorization { servers: vec![CALENDAR] }).pause(|_| authorized())
}

fn authorized() -> Steps {
    let list = call_id();
    let tool = Tool::Remote { server: CALENDAR, name: "list_events" };
    let events = json!([
        {"start": "09:30", "end": "10:00", "title": "Stand-up"},
        {"start": "14:00", "end": "15:00", "title": "Review of the sale"},
    ]);
    Play::silent()
        .step(Step::Connect { thread: MAIN.to_owned(), servers: vec![CONSOLE, CALENDAR] })
        .message(
            Message::new(MAIN).text("Thank you, your calendar is connected. Let me look at tomorrow.").call(
                &list,
                tool,
                &json!({"day": "tomorrow"}),
            ),
        )
        .result(25, &list, events.to_string())
        .say(
            "Tomorrow has two entries: the stand-up at 09:30, and the review of the sale at \
             14:00. The hours from **10:00 to 14:00** are free for the migration.",
        )
        .done()
}
