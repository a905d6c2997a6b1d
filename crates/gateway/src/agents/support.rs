//! The agent that answers everything without a script: the help desk of a small hosting company. It looks things up,
//! files a ticket when it may, and remembers it.

use serde_json::json;

use super::compose::{Message, Play, call_id, console, helpdesk};
use super::{Answers, MAIN, Prompt, Step, Steps, catalog};

/// The fact under which the number of the filed ticket is kept.
pub(super) const TICKET: &str = "ticket";

/// The user's intention, as a few words show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Intent {
    Greeting,
    Catalog,
    FileTicket,
    AskTicket,
    Health,
    Invoice,
    Thanks,
    No,
    Nothing,
    Other,
}

/// The words that show an intention, the most reliable first.
const TELLING: [(Intent, &[&str]); 6] = [
    (Intent::Health, &["down", "slow", "outage", "status", "health", "broken", "restart", "error"]),
    (Intent::Invoice, &["invoice", "bill", "billing", "charge", "charged", "price", "pay", "cost"]),
    (Intent::Catalog, &["help", "try", "scripts", "options", "commands"]),
    (Intent::Thanks, &["thanks", "thank", "bye", "goodbye", "cheers", "perfect"]),
    (Intent::Greeting, &["hello", "hi", "hey", "hallo", "morning", "evening", "afternoon"]),
    // The only question that the desk asks in words is whether to file a ticket.
    (Intent::FileTicket, &["yes", "yeah", "sure", "ok", "okay"]),
];

impl Intent {
    fn of(prompt: &Prompt) -> Self {
        let text = prompt.text.to_lowercase();
        let words: Vec<&str> =
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let any = |telling: &[&str]| words.iter().any(|word| telling.contains(word));
        if words.is_empty() {
            return Self::Nothing;
        }
        if any(&["ticket", "tickets", "report"]) {
            let another = any(&["file", "open", "new", "another", "create", "second"]);
            let has_one = prompt.memory.contains_key(TICKET);
            return if has_one && !another { Self::AskTicket } else { Self::FileTicket };
        }
        if text.contains("can you do") {
            return Self::Catalog;
        }
        if matches!(words[..], ["no" | "nope", ..]) {
            return Self::No;
        }
        let told = TELLING.iter().find(|(_, telling)| any(telling));
        told.map_or(Self::Other, |(intent, _)| *intent)
    }
}

pub(super) fn play(prompt: &Prompt) -> Steps {
    match Intent::of(prompt) {
        Intent::Greeting => greet(prompt),
        Intent::Catalog => list_scripts(),
        Intent::FileTicket => propose_ticket(prompt),
        Intent::AskTicket => tell_ticket(prompt),
        Intent::Health => tell_health(),
        Intent::Invoice => tell_invoice(),
        Intent::Thanks => say_goodbye(prompt),
        Intent::No => Play::open().say("All right. I am here if you need me.").done(),
        Intent::Nothing => nudge(prompt),
        Intent::Other => search(prompt),
    }
}

fn greet(prompt: &Prompt) -> Steps {
    let text = if prompt.turns_before == 0 {
        "Hello! I am Wren, the support agent of Saltmarsh Hosting. I can check your services, \
         explain an invoice, or file a ticket, and I ask before I change anything.\n\nWhat can I \
         do for you? If you are here to see what a page has to cope with, say **help** and I will \
         list what else I can show."
    } else {
        "Hello again! What can I do for you?"
    };
    Play::open().say(text).done()
}

fn list_scripts() -> Steps {
    let text = format!(
        "Ask me about your **services**, your **invoice**, or to **file a ticket**.\n\nThese words, \
         at the start of a message, show one thing each:\n\n{}\nEverything here is scripted, so \
         nothing you approve does any harm.",
        catalog()
    );
    Play::open().say(&text).done()
}

/// Looks at the account, then asks for consent to file what it found.
fn propose_ticket(prompt: &Prompt) -> Steps {
    let (look, file) = (call_id(), call_id());
    let account = json!({
        "account": "Tidewater Books",
        "plan": "Harbour",
        "services": [
            {"name": "shop-web", "status": "degraded", "restarts_last_hour": 2},
            {"name": "shop-worker", "status": "healthy", "restarts_last_hour": 0},
        ],
    });
    let ticket = json!({
        "subject": "shop-web restarts: out of memory",
        "priority": "high",
        "service": "shop-web",
        "description": description(prompt),
    });
    Play::open()
        .message(
            Message::new(MAIN)
                .reasoning(
                    "A ticket should start with facts. I will look at the account before I write \
                     anything.",
                )
                .text(
                    "Of course. Let me look at your account first, so that the ticket starts with the facts.",
                )
                .call(&look, console("get_account"), &json!({"include": ["services"]})),
        )
        .result(40, &look, account.to_string())
        .message(
            Message::new(MAIN)
                .text(
                    "I found something: `shop-web` was restarted twice in the last hour because \
                     it ran out of memory. `shop-worker` is fine.\n\nI would file this with \
                     **high** priority and add your words to it. Shall I?",
                )
                .call(&file, helpdesk("create_ticket"), &ticket),
        )
        .step(Step::AwaitApproval { thread: MAIN.to_owned(), calls: vec![file.clone()] })
        .pause(move |answers| after_consent(answers, &file))
}

/// The user's words, unless they only said yes.
fn description(prompt: &Prompt) -> String {
    let text = prompt.text.trim();
    if text.split_whitespace().count() < 4 {
        return "Found while talking to the customer.".to_owned();
    }
    format!("The customer wrote: {text}")
}

fn after_consent(answers: &Answers, file: &str) -> Steps {
    if let Some(denial) = answers.denial(file) {
        return Play::open()
            .result(0, file, denial)
            .say(
                "All right, nothing was filed. Tell me what you would like to change, or ask \
                 about the service's **status** and I will keep looking.",
            )
            .done();
    }
    let number = format!("SM-{}", 4000 + uuid::Uuid::new_v4().as_u128() % 1000);
    let filed = json!({"ticket": number, "queue": "web", "first_answer_within": "2 hours"});
    Play::open()
        .result(30, file, filed.to_string())
        .remember(TICKET, number.clone())
        .say(&format!(
            "Your ticket is **{number}**. The web team answers within two hours; until then the \
             service restarts by itself within seconds.\n\nYou can ask me about the ticket at any \
             time."
        ))
        .done()
}

fn tell_ticket(prompt: &Prompt) -> Steps {
    let number = prompt.memory.get(TICKET).map_or("", String::as_str);
    let get = call_id();
    let ticket = json!({"ticket": number, "status": "in progress", "assignee": "Imogen"});
    Play::open()
        .message(Message::new(MAIN).text("Let me see.").call(
            &get,
            helpdesk("get_ticket"),
            &json!({"ticket": number}),
        ))
        .result(30, &get, ticket.to_string())
        .say(&format!(
            "**{number}** is in progress. Imogen of the web team has taken it and is raising the \
             memory limit of `shop-web` to 768 MiB. She will write to you when it has held for an \
             hour."
        ))
        .done()
}

fn tell_health() -> Steps {
    let list = call_id();
    let services = json!([
        {"name": "shop-web", "status": "degraded", "memory": "498 of 512 MiB"},
        {"name": "shop-worker", "status": "healthy", "memory": "140 of 256 MiB"},
    ]);
    Play::open()
        .message(Message::new(MAIN).text("I will check.").call(
            &list,
            console("list_services"),
            &json!({"account": "tidewater-books"}),
        ))
        .result(40, &list, services.to_string())
        .say(
            "Here is how your services are doing:\n\n\
             | Service | State | Memory |\n|---|---|---|\n\
             | `shop-web` | degraded | 498 of 512 MiB |\n\
             | `shop-worker` | healthy | 140 of 256 MiB |\n\n\
             `shop-web` is close to its limit and has been restarted twice. Shall I **file a \
             ticket** about it?",
        )
        .done()
}

fn tell_invoice() -> Steps {
    let get = call_id();
    let invoice = json!({"invoice": "2026-10", "total": "€42.00", "lines": [
        {"item": "Harbour plan", "amount": "€36.00"},
        {"item": "Extra storage, 12 GB", "amount": "€6.00"},
    ]});
    Play::open()
        .message(Message::new(MAIN).text("Let me open your last invoice.").call(
            &get,
            console("get_invoice"),
            &json!({"month": "2026-10"}),
        ))
        .result(30, &get, invoice.to_string())
        .say(
            "Your invoice for October is **€42.00**: €36.00 for the Harbour plan, and €6.00 for \
             12 GB of extra storage. It was paid by card on the third of November.",
        )
        .done()
}

fn say_goodbye(prompt: &Prompt) -> Steps {
    let text = match prompt.memory.get(TICKET) {
        Some(number) => format!("You are welcome. **{number}** is in good hands. Have a good day!"),
        None => "You are welcome. Have a good day!".to_owned(),
    };
    Play::open().say(&text).done()
}

/// A turn without words: the model is simply run again.
fn nudge(prompt: &Prompt) -> Steps {
    let text = if prompt.files.is_empty() {
        "I am still here. Tell me what you need, or say **help** to see what I can show."
    } else {
        "Thank you for the file. Tell me what I should do with it."
    };
    Play::open().say(text).done()
}

fn search(prompt: &Prompt) -> Steps {
    let find = call_id();
    let query: String = prompt.text.trim().chars().take(80).collect();
    let pages = json!([{"title": "Memory limits and restarts", "url": "https://example.com/help/memory"}]);
    Play::open()
        .message(Message::new(MAIN).text("Let me look that up.").call(
            &find,
            helpdesk("search_help"),
            &json!({"query": query}),
        ))
        .result(30, &find, pages.to_string())
        .say(
            "The closest page that I have is [Memory limits and restarts]\
             (https://example.com/help/memory), and I am not sure that it answers you.\n\nI can \
             **file a ticket** with your words, check the **status** of your services, or show \
             you what else to try: say **help**.",
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intent(text: &str, ticket: bool) -> Intent {
        let mut prompt = Prompt { text: text.to_owned(), ..Prompt::default() };
        if ticket {
            prompt.memory.insert(TICKET, "SM-4001".to_owned());
        }
        Intent::of(&prompt)
    }

    #[test]
    fn intents_are_understood() {
        assert_eq!(intent("Hi there!", false), Intent::Greeting);
        assert_eq!(intent("I would like to file a support ticket.", false), Intent::FileTicket);
        assert_eq!(intent("How is my ticket?", true), Intent::AskTicket);
        assert_eq!(intent("How is my ticket?", false), Intent::FileTicket);
        assert_eq!(intent("File another ticket", true), Intent::FileTicket);
        assert_eq!(intent("Is the shop down?", false), Intent::Health);
        assert_eq!(intent("Why was I charged twice?", false), Intent::Invoice);
        assert_eq!(intent("What can you do?", false), Intent::Catalog);
        assert_eq!(intent("Thanks!", false), Intent::Thanks);
        assert_eq!(intent("Yes, please", false), Intent::FileTicket);
        assert_eq!(intent("No", false), Intent::No);
        assert_eq!(intent("", false), Intent::Nothing);
        assert_eq!(intent("How do I point a domain at you?", false), Intent::Other);
    }
}
