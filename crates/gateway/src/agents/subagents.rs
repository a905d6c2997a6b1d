//! `subagents`: three sub-agents work at the same time, and one of them fails. With
//! `subagents approval` another one needs the user's consent before it can continue.

use serde_json::json;

use super::compose::{CONSOLE, Message, Play, call_id, console, weave};
use super::{Answers, MAIN, Prompt, Step, Steps, SubAgent, Tool};

const CREATE: Tool = Tool::System { name: "create_sub_agent" };

pub(super) fn play(prompt: &Prompt) -> Steps {
    let asks = prompt.text.split_whitespace().nth(1) == Some("approval");
    let agents = [
        ("log-reader", "Read the logs", "Find the first error of today in the logs of shop-web."),
        ("prober", "Probe the site", "Measure the shop's answer times from outside."),
        ("historian", "Compare with yesterday", "Compare today's deployments with yesterday's."),
    ]
    .map(|(name, title, input)| SubAgent {
        thread: uuid::Uuid::new_v4().to_string(),
        title: title.to_owned(),
        name: name.to_owned(),
        input: input.to_owned(),
        model: None,
        parent_thread: MAIN.to_owned(),
        parent_call: call_id(),
    });
    let play = Play::open().message(delegation(&agents)).steps(agents.iter().cloned().map(Step::BeginThread));
    let [reader, prober, historian] = agents;
    let steps = weave(vec![read_logs(&reader), probe_and_fail(&prober), compare(&historian, asks)]);
    let play = play.steps(steps);
    if asks {
        return wait_for_consent(play, historian);
    }
    play.say(SUMMARY).done()
}

const SUMMARY: &str = "Two of the three came back with an answer:\n\n\
- **Logs:** the first error was at 13:58, out of memory.\n\
- **Yesterday:** the only change since is version 2.14, deployed at 13:40.\n\
- **Probe:** failed; the shop refused its connection.\n\n\
Version 2.14 is the likely cause: it was the last thing to change, eighteen minutes before the \
first error.";

/// The message that starts all three.
fn delegation(agents: &[SubAgent]) -> Message {
    let arguments: Vec<_> =
        agents.iter().map(|agent| json!({"name": agent.name, "input": agent.input})).collect();
    let calls: Vec<_> = agents
        .iter()
        .zip(&arguments)
        .map(|(agent, arguments)| (agent.parent_call.as_str(), CREATE, arguments))
        .collect();
    Message::new(MAIN)
        .text("Three things to look into. I will have them done at the same time.")
        .calls(&calls)
}

fn opened(agent: &SubAgent) -> Play {
    Play::silent().step(Step::Connect { thread: agent.thread.clone(), servers: vec![CONSOLE] })
}

fn ended(agent: &SubAgent, failure: Option<&str>) -> Step {
    Step::EndThread { agent: agent.clone(), failure: failure.map(str::to_owned) }
}

fn result(agent: &SubAgent, call: &str, content: &str) -> Step {
    Step::ToolResult { thread: agent.thread.clone(), call: call.to_owned(), content: content.to_owned() }
}

fn read_logs(agent: &SubAgent) -> Vec<Step> {
    let read = call_id();
    let arguments = json!({"service": "shop-web", "level": "error"});
    opened(agent)
        .message(Message::new(&agent.thread).text("I will read today's log.").call(
            &read,
            console("read_log"),
            &arguments,
        ))
        .wait(20)
        .step(result(agent, &read, "13:58:02 out of memory: 512 MiB reached"))
        .message(Message::new(&agent.thread).text("The first error of today was at 13:58:02: out of memory."))
        .step(ended(agent, None))
        .into_steps()
}

fn probe_and_fail(agent: &SubAgent) -> Vec<Step> {
    let probe = call_id();
    opened(agent)
        .message(Message::new(&agent.thread).text("Measuring from Lisbon.").call(
            &probe,
            console("measure_latency"),
            &json!({"city": "Lisbon"}),
        ))
        .wait(12)
        .step(result(agent, &probe, "Error: connection refused"))
        .step(ended(agent, Some("Sub-agent failed: connection refused")))
        .into_steps()
}

/// The third sub-agent; where it asks, it stops at its question.
fn compare(agent: &SubAgent, asks: bool) -> Vec<Step> {
    let play = opened(agent);
    if asks {
        return play.into_steps();
    }
    play.message(Message::new(&agent.thread).text(
        "Yesterday ran version 2.13 all day. Version 2.14 was deployed today at 13:40, and \
         nothing else has changed.",
    ))
    .step(ended(agent, None))
    .into_steps()
}

/// The turn ends with a question from within a sub-agent, whose thread lives on.
fn wait_for_consent(play: Play, agent: SubAgent) -> Steps {
    let roll_back = call_id();
    play.message(
        Message::new(&agent.thread)
            .text("Version 2.14 is the only change since yesterday. I would go back to 2.13.")
            .call(&roll_back, console("roll_back"), &json!({"service": "shop-web", "version": "2.13"})),
    )
    .step(Step::AwaitApproval { thread: agent.thread.clone(), calls: vec![roll_back.clone()] })
    .pause(move |answers| after_consent(answers, &agent, &roll_back))
}

fn after_consent(answers: &Answers, agent: &SubAgent, roll_back: &str) -> Steps {
    let denial = answers.denial(roll_back);
    let outcome =
        if denial.is_none() { "Version 2.13 is running again." } else { "Version 2.14 stays, as you wish." };
    let content = denial.unwrap_or_else(|| json!({"version": "2.13"}).to_string());
    Play::open()
        .wait(20)
        .step(result(agent, roll_back, &content))
        .message(Message::new(&agent.thread).text(outcome))
        .step(ended(agent, None))
        .say(&format!("{SUMMARY}\n\n{outcome}"))
        .done()
}
