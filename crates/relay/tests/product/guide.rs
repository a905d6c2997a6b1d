//! The five minutes of docs/relay.md, as they stand there: the example's config, before the development gateway.

use reqwest::{Client, RequestBuilder};
use turnwire_gateway::Config;

use crate::gateway::gateway;
use crate::world::{Relay, Scratch};

const GUIDE: &str = include_str!("../../../../docs/relay.md");
const EXAMPLE: &str = include_str!("../../example.toml");

/// The guide's commands, each on one line.
fn commands() -> Vec<String> {
    let (_, from) = GUIDE.split_once("## Five minutes").expect("the section");
    let (section, _) = from.split_once("\n## ").expect("the next one");
    let joined = section.replace("\\\n", " ");
    joined.lines().filter(|line| line.starts_with("curl ")).map(str::to_owned).collect()
}

/// The request of a command: its headers, its body and its address.
fn request(command: &str, relay: &str, session: &str) -> RequestBuilder {
    let mut headers = Vec::new();
    let mut body = None;
    // Every second part is in quotes.
    let parts: Vec<&str> = command.split('\'').collect();
    for pair in parts.chunks(2) {
        let [option, value] = pair else { continue };
        match option.trim().rsplit(' ').next() {
            Some("-H") => headers.push(value.split_once(": ").expect("a header")),
            Some("-d") => body = Some((*value).to_owned()),
            other => panic!("{other:?} in {command}"),
        }
    }
    let address = command.rsplit(' ').next().expect("an address").replace("SESSION", session);
    let address = address.replace("127.0.0.1:8791", relay);
    let client = Client::new();
    let request = if body.is_some() { client.post(address) } else { client.get(address) };
    let request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
    request.body(body.unwrap_or_default())
}

#[tokio::test]
async fn the_commands_of_the_guide_do_what_it_says() {
    let agents = gateway(Config::default()).await;
    let scratch = Scratch::new();
    let log = format!("sqlite:{}", scratch.path("turns.db").display());
    let config = EXAMPLE.replace("http://127.0.0.1:8790/", &format!("{agents}/"));
    let config = config.replace("127.0.0.1:8791\"", "127.0.0.1:0\"").replace("127.0.0.1:9791", "127.0.0.1:0");
    let relay = Relay::start(&config.replace("sqlite:target/relay/turns.db", &log));
    let text = async |command: &str, session: &str| {
        let answer = request(command, relay.address(), session).send().await.expect("an answer");
        assert!(answer.status().is_success(), "{command}: {}", answer.status());
        answer.text().await.expect("a text")
    };
    let commands = commands();
    let [create, start, read] = &*commands else { panic!("{commands:?}") };
    let made: serde_json::Value = serde_json::from_str(&text(create, "").await).expect("JSON");
    let session = made["sessionId"].as_str().expect("an id");
    let whole = text(start, session).await;
    assert!(
        whole.starts_with("id: 1\nevent: turn_start\n") && whole.contains("event: turn_stop\n"),
        "{whole}"
    );
    let rest = text(read, session).await;
    assert!(rest.starts_with("id: 6\n") && whole.ends_with(&rest), "{rest}");
    assert_eq!(text(start, session).await, whole, "the agent does not run again");
}
