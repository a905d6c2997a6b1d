//! The classes for JavaScript, as a script in the page uses them.

use js_sys::{Function, JSON, Promise};
use serde_json::Value as Json;
use turnwire::web::classes::Client;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::gateway::gateway_url;
use super::wasm_bindgen_test;

/// Runs a script with a client. The script returns a value that JSON can represent.
async fn run(protocol: &str, path: &str, script: &str) -> Json {
    let options = js_sys::Object::new();
    let set = |name: &str, value: &str| {
        js_sys::Reflect::set(&options, &name.into(), &value.into()).expect("it is an object");
    };
    set("baseUrl", &[gateway_url(), path].concat());
    set("protocol", protocol);
    let client = Client::new(options.into()).expect("the options are right");
    let body = ["return (async () => {", script, "})();"].concat();
    let played = Function::new_with_args("client", &body).call1(&JsValue::NULL, &JsValue::from(client));
    let played: Promise = played.expect("it is a script").unchecked_into();
    let result = JsFuture::from(played).await.expect("the script does not throw");
    let text = JSON::stringify(&result).expect("it is JSON");
    serde_json::from_str(&String::from(text)).expect("it is JSON")
}

const CHAT: &str = "
    const session = await client.createSession(AGENT);
    const turn = session.createTurn('plain');
    const numbers = [];
    let text = '';
    await turn.stream(({ type, content, sequence_number }) => {
        numbers.push(sequence_number);
        if (type === 'model.message.delta') text += content ?? '';
    });
    const snapshot = turn.snapshot();
    return { numbers, text, shown: snapshot.threads[0].messages.map(({ content }) => content).join(''), status: turn.status };";

#[wasm_bindgen_test]
async fn a_script_streams_a_turn() {
    for (protocol, path, agent) in
        [("truefoundry", "/demo", "support-bot"), ("turn-rpc", "/turn-rpc", "Chat")]
    {
        let told = run(protocol, path, &CHAT.replace("AGENT", &["'", agent, "'"].concat())).await;
        let count = told["numbers"].as_array().expect("a list").len();
        assert_eq!(told["numbers"], (1..=count).collect::<Json>(), "{protocol}");
        assert_eq!(told["text"], told["shown"], "{protocol}");
        assert_eq!(told["status"], "done");
    }
}

#[wasm_bindgen_test]
async fn a_script_answers_an_approval_and_stops_a_stream() {
    let told = run(
        "truefoundry",
        "/demo",
        "const session = await client.createSession('support-bot');
        const turn = session.createTurn('approval');
        const { required_actions: [action] } = await turn.waitForCompletion();
        const [waiting] = turn.snapshot().required_actions;
        const { thread_id, tool_call_id } = waiting;
        const answer = { type: 'user.tool_approval', thread_id, tool_call_id, approval: { status: 'allow' } };
        const next = session.createTurn([answer]);
        const { status } = await next.waitForCompletion();
        const long = session.createTurn('long 20000');
        const reading = long.stream(() => long.stop()).catch(({ code }) => code);
        return { asked: action !== undefined, name: typeof waiting.name, status, code: await reading, error: long.snapshot().error };",
    )
    .await;
    let expected = serde_json::json!({ "asked": true, "name": "string", "status": "done", "code": "aborted", "error": null });
    assert_eq!(told, expected);
}

#[wasm_bindgen_test]
async fn errors_have_a_code_and_the_servers_message() {
    let told = run(
        "truefoundry",
        "/demo",
        "try { await client.getSession('none'); } catch (error) {
            return { code: error.code, status: error.status, isError: error instanceof Error };
        }",
    )
    .await;
    assert_eq!(told, serde_json::json!({ "code": "http", "status": 404, "isError": true }));
    let wrong = js_sys::eval("({ baseUrl: 'https://server.test', tokn: 'x' })").expect("an object");
    let refused = Client::new(wrong).expect_err("there is no such option");
    let code = js_sys::Reflect::get(&refused, &"code".into()).expect("an error");
    assert_eq!(code.as_string().as_deref(), Some("invalid_option"));
}
