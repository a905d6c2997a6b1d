"""Drives the vendor's own client against a gateway: every endpoint, and a turn of every script.

    python truefoundry.py --base-url http://127.0.0.1:8790/acme

Needs `truefoundry-gateway-sdk==0.4.2`. The last line is `N passed, M failed`; the exit status is
0 only if nothing failed. An event that the client skips with a warning counts as a failure.
"""

from __future__ import annotations

import argparse
import base64
import re
import sys
import time
from collections.abc import Callable
from typing import Any

import httpx
import truefoundry_gateway_sdk as sdk
from truefoundry_client import Driven, Interop, approvals, responses
from truefoundry_gateway_sdk.agents import is_event_delta

MODEL = {"name": "scripted/one"}

# The endpoints of the protocol, as patterns of what stands after the tenant.
ENDPOINTS = {
    "create session": r"POST /v1/agents/sessions",
    "list sessions": r"GET /v1/agents/sessions",
    "get session": r"GET /v1/agents/sessions/[^/]+",
    "cancel": r"POST /v1/agents/sessions/[^/]+/cancel",
    "list turns": r"GET /v1/agents/sessions/[^/]+/turns",
    "create turn": r"POST /v1/agents/sessions/[^/]+/turns",
    "get turn": r"GET /v1/agents/sessions/[^/]+/turns/[^/]+",
    "subscribe": r"POST /v1/agents/sessions/[^/]+/turns/[^/]+/subscribe",
    "list turn events": r"GET /v1/agents/sessions/[^/]+/turns/[^/]+/events",
    "list session events": r"GET /v1/agents/sessions/[^/]+/events",
    "create draft": r"POST /v1/agents/draft-sessions",
    "list drafts": r"GET /v1/agents/draft-sessions",
    "get draft": r"GET /v1/agents/draft-sessions/[^/]+",
    "update draft": r"PATCH /v1/agents/draft-sessions/[^/]+",
    "list owned sessions": r"GET /v1/x/agents/owned-sessions",
    "search sessions": r"GET /v1/x/agents/search-sessions",
    "sandbox file": r"GET /v1/agents/sandbox/[^/]+/file",
}


MESSAGE = ["model.message", "model.message.delta"]


def sessions(t: Interop) -> None:
    agent = f"agent-{time.time_ns()}"
    made = [t.fast.create_session(agent_name=agent) for _ in range(5)]
    first = made[0]
    t.equal("session type", first.type, "session")
    t.equal("session agent", first.agent_name, agent)
    t.check("no title yet", first.title is None)
    t.check("id has a zone", bool(re.fullmatch(r"[0-9a-z]{26}\.\w+", first.id)), first.id)
    got = t.fast.get_session(first.id)
    t.equal("same session", got.id, first.id)
    t.equal("creator", got.created_by_subject, first.created_by_subject)
    newest_first = [session.id for session in t.fast.list_sessions(agent_name=agent, limit=2)]
    t.equal("all pages", newest_first, [session.id for session in reversed(made)])
    oldest_first = t.fast.list_sessions(agent_name=agent, limit=2, order="asc")
    t.equal("other order", [s.id for s in oldest_first], [session.id for session in made])
    past = t.fast.list_sessions(agent_name=agent, end_timestamp="2020-01-01T00:00:00Z")
    t.equal("none so long ago", list(past), [])
    t.drive(first, "plain words that become the title of this session, up to fifty characters")
    t.equal(
        "title",
        t.fast.get_session(first.id).title,
        "plain words that become the title of this session,",
    )
    message = t.refuses("unknown session", 404, lambda: t.fast.get_session("nobody"))
    t.equal("message", message, "Session not found: nobody")


def drafts(t: Interop) -> None:
    draft = t.private.create_draft_session(agent_spec={"model": MODEL}, agent_name="draft-bot")
    t.equal("draft type", draft.type, "session/draft")
    t.equal("draft name", draft.agent_name, "draft-bot")
    spec = {"model": MODEL, "instructions": "Be brief."}
    draft.update(agent_spec=spec)
    t.equal("changed", draft.agent_spec.instructions, "Be brief.")
    before = draft.updated_at
    time.sleep(0.01)
    draft.update()
    t.check("an empty change is a change", draft.updated_at > before)
    got = t.private.get_draft_session(draft.id)
    t.equal("change is kept", got.agent_spec.instructions, "Be brief.")
    driven = t.drive(draft, "plain")
    t.equal("turn of a draft", driven.state.status, "done")
    t.check_persisted(draft, driven)
    listed = t.private.list_draft_sessions(agent_name="draft-bot", limit=1)
    t.check("listed", draft.id in [item.id for item in listed])
    t.refuses("draft is not a session", 404, lambda: t.fast.get_session(draft.id))
    saved = t.session()
    owned = {item.id: item.type for item in t.private.list_owned_sessions(limit=2)}
    t.equal("owned draft", owned.get(draft.id), "session/draft")
    t.equal("owned session", owned.get(saved.id), "session")
    search = t.private.search_sessions
    t.equal("by id", [item.id for item in search(session_id=draft.id)], [draft.id])
    by_type = {item.type for item in search(session_type="session/draft", limit=3)}
    t.equal("by type", by_type, {"session/draft"})
    t.equal("by creator", list(search(created_by_subject_id="nobody")), [])


def plain(t: Interop) -> None:
    session = t.session()
    driven = t.drive(session, "plain")
    order = ["turn.created", "mcp.initialize", *MESSAGE, "turn.done"]
    t.equal("order", driven.outline(), order)
    base = driven.events[2]
    t.check("the base is empty", base.content is None and base.finish_reason is None)
    t.equal("state", driven.state.status, "done")
    t.equal("output is the message", driven.state.output.content, driven.texts()[0])
    t.equal("nothing required", driven.state.required_actions, [])
    t.check("metrics", driven.state.metrics.total_tokens > 0)
    t.equal("input", driven.events[0].input[0].content, "plain")
    t.check("creator", bool(driven.turn.created_by_subject.subject_slug))
    t.check_persisted(session, driven)


def reasoning(t: Interop) -> None:
    session = t.session()
    driven = t.drive(session, "reasoning")
    message = driven.of("model.message")[0]
    t.check("thoughts", len(message.reasoning_content) > 100)
    t.check("answer", len(message.content) > 50)
    t.check_persisted(session, driven)


def unicode(t: Interop) -> None:
    session = t.session()
    driven = t.drive(session, "unicode")
    text = driven.texts()[0]
    for piece in ("\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", "世界", "שלום"):
        t.check(f"contains {piece}", piece in text)
    t.check("control characters", "\u2028" in text and "\u0007" in text)
    t.check("looks like a protocol", "data: not an event\nid: 999" in text)
    t.check_persisted(session, driven)


def markdown(t: Interop) -> None:
    session = t.session()
    driven = t.drive(session, "markdown")
    for piece in ("# Moving", "|---", "```js", "> Do not"):
        t.check(f"contains {piece}", piece in driven.texts()[0].replace(":--", "---"))
    t.check_persisted(session, driven)


def tools(t: Interop) -> None:
    session = t.session()
    driven = t.drive(session, "tools")
    call = [*MESSAGE, "tool.response"]
    order = ["turn.created", "mcp.initialize", *call, *call, *MESSAGE, "turn.done"]
    t.equal("order", driven.outline(), order)
    messages, results = driven.of("model.message"), driven.of("tool.response")
    for message, result in zip(messages, results):
        t.equal("finish", message.finish_reason, "tool_calls")
        t.equal("result of the call", result.tool_call_id, message.tool_calls[0].id)
        t.equal("kind of tool", message.tool_calls[0].tool_info.type, "mcp")
    t.check_persisted(session, driven)


def parallel(t: Interop) -> None:
    session = t.session()
    driven = t.drive(session, "parallel")
    calls = driven.of("model.message")[0].tool_calls
    t.equal("three calls", len(calls), 3)
    cities = ["Lisbon", "Montréal", "Ōsaka"]
    for call, city in zip(calls, cities):
        t.check(f"arguments for {city}", city in call.function.arguments)
    indexes = [e.tool_calls[0].index for e in driven.events if is_event_delta(e) and e.tool_calls]
    t.check("interleaved", indexes[:6] == [0, 1, 2, 0, 1, 2], indexes)
    answered = {result.tool_call_id for result in driven.of("tool.response")}
    t.equal("all answered", answered, {call.id for call in calls})
    t.check_persisted(session, driven)


def approval_allowed(t: Interop) -> None:
    session = t.session()
    paused = t.drive(session, "approval")
    t.equal("paused", paused.state.status, "done")
    t.check("no output", paused.state.output is None)
    action = paused.state.required_actions[0]
    t.equal("action is the event", action.id, paused.of("tool.approval_required")[0].id)
    source = paused.index[action.tool_calls[0].source_event_id]
    t.equal("source holds the call", source.tool_calls[0].id, action.tool_calls[0].id)
    t.check_persisted(session, paused)
    resumed = t.drive(session, approvals(paused, sdk.ApprovalAllow))
    order = ["turn.created", "mcp.initialize", "tool.response", *MESSAGE, "turn.done"]
    t.equal("order", resumed.outline(), order)
    t.check("restarted", "nine seconds" in resumed.texts()[-1])
    t.equal("chained", resumed.turn.previous_turn_id, paused.turn.id)
    t.check_persisted(session, resumed)


def approval_denied(t: Interop) -> None:
    session = t.session()
    paused = t.drive(session, "approval")
    answer = approvals(paused, lambda: sdk.ApprovalDeny(reason="not during the sale"))
    resumed = t.drive(session, answer)
    result = resumed.of("tool.response")[0].content
    t.check("the model is told", "denied" in result and "not during the sale" in result, result)
    t.check("left alone", "left it alone" in resumed.texts()[-1])
    t.check_persisted(session, resumed)


def pending_is_answered(t: Interop) -> None:
    session = t.session()
    paused = t.drive(session, "mixed")
    retry_once = {"max_retries": 0}

    def sending(items: list[Any]) -> Callable[[], object]:
        return lambda: session.prepare_turn(input=items).execute(request_options=retry_once)

    message = sdk.UserMessage(content="never mind")
    text = t.refuses("user message", 400, sending([message]))
    t.check("says why", "cannot be sent while approvals or questions are pending" in text, text)
    text = t.refuses("only one", 400, sending(approvals(paused, sdk.ApprovalAllow)))
    t.check("names the missing", paused.state.required_actions[0].tool_calls[0].id in text, text)
    text = t.refuses("nothing", 400, sending([]))
    t.check("must resolve all", "must resolve all pending tool calls" in text, text)
    text = t.refuses("mixture", 400, sending([message, *responses(paused, "no")]))
    t.check("must not mix", "input must not mix user messages" in text, text)
    stray = sdk.UserToolResponseEvent(thread_id="main", tool_call_id="call_x", content="x")
    text = t.refuses("stray", 400, sending([stray]))
    t.check("no such call", "no open tool call for tool_call_id 'call_x'" in text, text)
    text = t.refuses("empty", 400, lambda: t.drive(t.session(), [sdk.UserMessage(content=" ")]))
    t.check("empty content", "user message has empty content" in text, text)
    t.equal("nothing was kept", len(list(session.list_turns())), 1)


def question(t: Interop) -> None:
    session = t.session()
    paused = t.drive(session, "question")
    call = paused.of("model.message")[0].tool_calls[0]
    t.equal("system tool", call.tool_info.name, "ask_user_question")
    t.check("options", "(Recommended)" in call.function.arguments)
    resumed = t.drive(session, responses(paused, "Singapore"))
    t.equal("no result event", resumed.of("tool.response"), [])
    t.check("answer is used", "Singapore" in resumed.texts()[-1])
    t.check_persisted(session, resumed)


def mixed(t: Interop) -> None:
    session = t.session()
    paused = t.drive(session, "mixed")
    kinds = [action.type for action in paused.state.required_actions]
    t.equal("both kinds", kinds, ["tool.response_required", "tool.approval_required"])
    t.equal("as events", paused.types[-3:-1], kinds)
    t.equal("nothing ran yet", paused.of("tool.response"), [])
    answers = approvals(paused, sdk.ApprovalAllow) + responses(paused, "Nobody")
    resumed = t.drive(session, answers)
    asked = paused.state.required_actions[0].tool_calls[0].id
    ran = {result.tool_call_id for result in resumed.of("tool.response")}
    calls = {call.id for call in paused.of("model.message")[0].tool_calls}
    t.equal("the others ran", ran, calls - {asked})
    t.check("used", "four instances" in resumed.texts()[-1] and "Nobody" in resumed.texts()[-1])
    t.check_persisted(session, resumed)


def subagents(t: Interop) -> None:
    session = t.session()
    driven = t.drive(session, "subagents")
    created, done = driven.of("thread.created"), driven.of("thread.done")
    t.equal("three threads", len(created), 3)
    t.equal("all end", {e.thread_id for e in done}, {e.thread_id for e in created})
    states = sorted(event.state.status for event in done)
    t.equal("one fails", states, ["done", "done", "error"])
    calls = driven.of("model.message")[0].tool_calls
    t.equal("parents", [e.parent.tool_call_id for e in created], [call.id for call in calls])
    for event in done:
        position = driven.events.index(next(e for e in driven.events if e.id == event.id))
        before = driven.events[position - 1]
        t.equal("empty result first", (before.type, before.content), ("tool.response", ""))
        t.equal("on the parent", before.thread_id, "main")
        if event.state.status == "done":
            own = [m for m in driven.of("model.message") if m.thread_id == event.thread_id]
            t.equal("output", event.state.output.content, own[-1].content)
    t.check_persisted(session, driven)


def subagent_asks(t: Interop) -> None:
    session = t.session()
    paused = t.drive(session, "subagents approval")
    action = paused.state.required_actions[0]
    t.check("asked by a sub-agent", action.thread_id != "main")
    alive = {e.thread_id for e in paused.of("thread.created")}
    alive -= {e.thread_id for e in paused.of("thread.done")}
    t.equal("its thread lives on", alive, {action.thread_id})
    resumed = t.drive(session, approvals(paused, sdk.ApprovalAllow))
    ended = resumed.of("thread.done")
    t.equal("and ends", [event.thread_id for event in ended], [action.thread_id])
    t.check_persisted(session, resumed)


def mcp_auth(t: Interop) -> None:
    for given in (None, []):
        session = t.session()
        paused = t.drive(session, "mcp-auth")
        order = ["turn.created", "mcp.auth_required", "turn.done"]
        t.equal("order", paused.outline(), order)
        server = paused.state.required_actions[0].mcp_servers[0]
        t.equal("page to sign in", httpx.get(server.auth_url).status_code, 200)
        resumed = t.drive(session, given)
        names = [s.name for s in resumed.of("mcp.initialize")[0].mcp_servers]
        t.check("connected", server.name in names)
        t.check("goes on", "calendar" in resumed.texts()[0])
        t.check_persisted(session, resumed)


def sandbox(t: Interop) -> None:
    session = t.session()
    driven = t.drive(session, "sandbox")
    id_ = driven.of("sandbox.created")[0].sandbox_id
    path = re.search(r"`(/[^`]+)`", driven.texts()[-1]).group(1)
    content = b"".join(t.private.download_sandbox_file(id_, path=path))
    t.check("file", content.startswith(b"month,uptime_percent"), content)
    again = t.drive(session, "sandbox")
    t.equal("one sandbox a session", again.of("sandbox.created"), [])
    file = t.private.download_sandbox_file
    t.refuses("unknown file", 404, lambda: file(id_, path="/nothing"))
    t.refuses("unknown sandbox", 404, lambda: file("nobody", path=path))
    t.refuses("relative path", 400, lambda: file(id_, path="uptime.csv"))
    t.check_persisted(session, driven)


def file(t: Interop) -> None:
    session = t.session()
    data = "data:image/png;base64," + base64.b64encode(b"0123456789").decode()
    parts = [
        sdk.TextContent(text="file, please"),
        sdk.FileContent(name="ten bytes.png", data=data),
    ]
    driven = t.drive(session, [sdk.UserMessage(content=parts)])
    for piece in ("ten bytes.png", "image/png", "10 bytes"):
        t.check(f"tells {piece}", piece in driven.texts()[0], driven.texts()[0])
    t.equal("input is shown again", driven.events[0].input[0].content[1].data, data)
    t.check_persisted(session, driven)


def error(t: Interop) -> None:
    session = t.session()
    driven = t.drive(session, "error")
    t.equal("state", driven.state.status, "error")
    t.check("message", "502" in driven.state.message)
    partial = driven.of("model.message")[0]
    t.check("breaks off", partial.content.endswith("the renew") and not partial.finish_reason)
    t.check_persisted(session, driven, left_out=[partial.id])
    after = t.drive(session, "plain")
    t.equal("the session goes on", after.turn.previous_turn_id, driven.turn.id)


def length(t: Interop) -> None:
    session = t.session()
    driven = t.drive(session, "length")
    t.equal("state", driven.state.status, "error")
    t.equal("message", driven.state.message, "max_tokens breached")
    t.equal("finish", driven.of("model.message")[0].finish_reason, "length")
    t.check_persisted(session, driven)


def long(t: Interop) -> None:
    session = t.session()
    driven = t.drive(session, "long 20000")
    deltas = [event for event in driven.events if is_event_delta(event) and event.content]
    t.equal("deltas", len(deltas), 20000)
    t.equal("text", driven.texts()[0], driven.state.output.content)


def slow_is_cancelled(t: Interop) -> None:
    session = t.session(t.paced)
    turn = session.prepare_turn(input=[sdk.UserMessage(content="slow")])
    items = []
    for item in turn.execute():
        items.append(item)
        if item.sequence_number == 6:
            turn.cancel()
            turn.cancel()
    driven = Driven(turn, items)
    t.check_stream(driven)
    t.equal("state", driven.state.status, "cancelled")
    t.equal("reason", driven.state.reason, "client-cancelled")
    partial = driven.of("model.message")[0].id
    t.check_persisted(session, driven, left_out=[partial])
    turn.cancel()
    t.equal("still the same end", turn.refresh().state.reason, "client-cancelled")
    t.equal("next turn", t.drive(session, "plain").state.status, "done")


def next_turn_cancels(t: Interop) -> None:
    session = t.session(t.paced)
    first = session.prepare_turn(input=[sdk.UserMessage(content="slow")])
    running = first.execute()
    for item in running:
        if item.sequence_number == 4:
            break
    second = t.drive(session, "plain")
    t.equal("second", second.state.status, "done")
    rest = list(running)
    t.equal("first", first.state.reason, "cancelled-for-next-turn")
    t.equal("its stream ends", rest[-1].event.type, "turn.done")


def resume(t: Interop) -> None:
    session = t.session(t.paced)
    turn = session.prepare_turn(input=[sdk.UserMessage(content="plain")])
    stream = turn.execute()
    items = []
    for item in stream:
        items.append(item)
        if item.sequence_number == 7:
            break
    stream.close()
    live = session.get_turn(turn.id)
    t.equal("runs on", live.state.status, "running")
    conflict = t.refuses("no list yet", 409, lambda: no_retry(live.list_events))
    t.check("says so", "running" in conflict, conflict)
    t.equal("history without it", list(session.list_events()), [])
    for item in live.stream(after_sequence_number=7):
        items.append(item)
        if item.sequence_number == 20:
            break
    header = {"additional_headers": {"Last-Event-ID": "20"}}
    items += live.stream(request_options=header)
    driven = Driven(live, items)
    t.check_stream(driven)
    t.equal("whole text", driven.texts()[0], live.state.output.content)
    again = list(live.stream(after_sequence_number=0))
    t.equal("replay", [item.event for item in again], driven.events)
    bad = {"additional_headers": {"Last-Event-ID": "x"}}
    message = t.refuses("bad header", 400, lambda: list(live.stream(request_options=bad)))
    t.equal("message", message, "Invalid Last-Event-Id header")
    t.check_persisted(session, driven)


def no_retry(call: Callable[..., Any]) -> list[Any]:
    return list(call(request_options={"max_retries": 0}))


def without_stream(t: Interop) -> None:
    session = t.session()
    turn = session.prepare_turn(input=[sdk.UserMessage(content="tools")])
    state = turn.execute(stream=False)
    t.equal("state", state.status, "done")
    t.check("output", "768 MiB" in state.output.content)
    t.equal("events", len(list(turn.list_events(limit=2))), 6)
    newest_first = [event.type for event in turn.list_events(order="desc")]
    t.equal("other order", newest_first, list(reversed([e.type for e in turn.list_events()])))


def branches(t: Interop) -> None:
    session = t.session()
    first, second = t.drive(session, "plain"), t.drive(session, "plain")
    fork = t.drive(session, "plain", previous_turn_id=first.turn.id)
    t.equal("fork", fork.turn.previous_turn_id, first.turn.id)
    shown = [turn.id for turn in session.list_turns()]
    t.equal("the branch of the last turn", shown, [fork.turn.id, first.turn.id])
    t.equal("the other is kept", session.get_turn(second.turn.id).id, second.turn.id)
    root = t.drive(session, "plain", previous_turn_id="none")
    t.check("root", root.turn.previous_turn_id is None)
    t.equal("alone", [turn.id for turn in session.list_turns()], [root.turn.id])
    turn = session.prepare_turn(
        input=[sdk.UserMessage(content="plain")], previous_turn_id="nobody"
    )
    message = t.refuses("unknown turn", 404, turn.execute)
    t.equal("message", message, "Turn not found: nobody")


def history(t: Interop) -> None:
    session = t.session()
    driven = [t.drive(session, f"plain {number}") for number in range(4)]
    turns = [turn.id for turn in session.list_turns(limit=3)]
    t.equal("newest first", turns, [each.turn.id for each in reversed(driven)])
    items = list(session.list_events(limit=3))
    kept = ["turn.created", "mcp.initialize", "model.message", "turn.done"]
    t.equal("newest first", [item.event.type for item in items], list(reversed(kept * 4)))
    t.equal("turn of each", [item.turn_id for item in items[::4]], turns)


def conversation(t: Interop) -> None:
    """The support desk, as a first visitor meets it."""
    session = t.session()
    t.check("greets", "Wren" in t.drive(session, "Hello!").texts()[0])
    paused = t.drive(session, "I would like to file a support ticket.")
    t.equal("looks first", len(paused.of("tool.response")), 1)
    t.equal("asks", paused.state.required_actions[0].type, "tool.approval_required")
    filed = t.drive(session, approvals(paused, sdk.ApprovalAllow))
    number = re.search(r"SM-\d{4}", filed.texts()[-1]).group()
    told = t.drive(session, "How is my ticket?")
    t.check("remembers", number in told.texts()[-1])
    t.check("lists", "subagents" in t.drive(session, "help").texts()[0])
    t.check("searches", "not sure" in t.drive(session, "Do you sell boats?").texts()[-1])
    t.equal("title", t.fast.get_session(session.id).title, "Hello!")


SCENARIOS = [
    sessions,
    drafts,
    plain,
    reasoning,
    unicode,
    markdown,
    tools,
    parallel,
    approval_allowed,
    approval_denied,
    pending_is_answered,
    question,
    mixed,
    subagents,
    subagent_asks,
    mcp_auth,
    sandbox,
    file,
    error,
    length,
    long,
    slow_is_cancelled,
    next_turn_cancels,
    resume,
    without_stream,
    branches,
    history,
    conversation,
]


# These ask for what the relay does not pass: sandbox files, searches, private paths, and an error in the gateway's own words.
NOT_RELAYED = [sessions, drafts, sandbox, file]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base-url", required=True, help="address of the gateway with its tenant")
    parser.add_argument("--token", default="interop-test", help="bearer token")
    parser.add_argument("--relayed", action="store_true", help="a relay stands before the gateway")
    parser.add_argument("scenarios", nargs="*", help="run only these")
    arguments = parser.parse_args()
    base_url = arguments.base_url.rstrip("/")
    if httpx.URL(base_url).path in ("", "/"):
        base_url += "/acme"
    interop = Interop(base_url, arguments.token)
    chosen = [s for s in SCENARIOS if not arguments.scenarios or s.__name__ in arguments.scenarios]
    if arguments.relayed:
        chosen = [scenario for scenario in chosen if scenario not in NOT_RELAYED]
    for scenario in chosen:
        interop.run(scenario)
    if chosen == SCENARIOS:
        for name, pattern in ENDPOINTS.items():
            used = any(re.fullmatch(pattern, request) for request in interop.requests)
            interop.check(f"endpoint used: {name}", used)
    print(f"{interop.passed} passed, {interop.failed} failed")
    return 1 if interop.failed else 0


if __name__ == "__main__":
    sys.exit(main())
