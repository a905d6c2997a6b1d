//! `sandbox`: runs code in a sandbox and leaves a file that can be downloaded. The sandbox lives
//! as long as the conversation, so only the first such turn makes one.

use serde_json::json;

use super::compose::{Message, Play, call_id};
use super::{MAIN, Prompt, SANDBOX, Step, Steps, Tool};

/// Where the file is written.
const PATH: &str = "/workspace/uptime.csv";

const TABLE: &str = "month,uptime_percent,incidents\n2026-06,99.98,1\n2026-07,100.00,0\n\
                     2026-08,99.71,3\n2026-09,99.99,1\n";

const RUN: Tool = Tool::System { name: "sandbox_exec" };

pub(super) fn play(prompt: &Prompt) -> Steps {
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
