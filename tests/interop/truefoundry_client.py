"""The vendor's clients, what is checked of every turn, and the count of checks."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import httpx
import truefoundry_gateway_sdk as sdk
from truefoundry_gateway_sdk.agents import (
    AgentSessionClient,
    PrivateAgentSessionClient,
    is_event_delta,
    merge_event_delta,
)
from truefoundry_gateway_sdk.core.api_error import ApiError


class Warnings(logging.Handler):
    """Keeps what the client complains about."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


class Interop:
    """The clients, and the checks made with them."""

    def __init__(self, base_url: str, token: str) -> None:
        self.base_url = base_url.rstrip("/")
        self.token = token
        self.requests: list[str] = []
        self.passed = 0
        self.failed = 0
        self.warnings = Warnings()
        logging.getLogger().addHandler(self.warnings)
        self.fast = self.client(AgentSessionClient, delay_ms=0)
        self.paced = self.client(AgentSessionClient, delay_ms=20)
        self.private = self.client(PrivateAgentSessionClient, delay_ms=0)

    def client(self, kind: Callable[..., Any], delay_ms: int) -> Any:
        """A client that records its requests and sets the pace of its turns."""
        recorder = httpx.Client(event_hooks={"request": [self.record]}, timeout=30)
        headers = {"x-turnwire-delay-ms": str(delay_ms)}
        return kind(
            base_url=self.base_url, api_key=self.token, headers=headers, httpx_client=recorder
        )

    def record(self, request: httpx.Request) -> None:
        path = request.url.path.removeprefix(httpx.URL(self.base_url).path)
        self.requests.append(f"{request.method} {path}")

    def check(self, what: str, condition: bool, detail: object = "") -> None:
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {what} {detail}", flush=True)

    def equal(self, what: str, actual: object, expected: object) -> None:
        self.check(what, actual == expected, f"\n  actual   {actual!r}\n  expected {expected!r}")

    def run(self, scenario: Callable[[Interop], None]) -> None:
        """One scenario; an exception or a warning is a failure."""
        name = scenario.__name__
        self.warnings.messages.clear()
        try:
            scenario(self)
        except Exception:
            self.check(f"{name}: ran through", False, traceback.format_exc())
        self.equal(f"{name}: no event was skipped", self.warnings.messages, [])
        print(f"{name}: done", flush=True)

    # Pieces of scenarios.

    def session(self, client: Any = None) -> Any:
        return (client or self.fast).create_session(agent_name="support-bot")

    def drive(self, session: Any, given: Any = None, **options: Any) -> Driven:
        """Runs one turn to its end over the stream, and checks what holds for every turn."""
        if isinstance(given, str):
            given = [sdk.UserMessage(content=given)]
        arguments = {} if given is None else {"input": given}
        turn = session.prepare_turn(**arguments, **options)
        driven = Driven(turn, list(turn.execute()))
        self.check_stream(driven)
        return driven

    def check_stream(self, driven: Driven) -> None:
        name = driven.turn.id
        count = len(driven.items)
        self.equal(f"{name}: dense numbers", driven.numbers, list(range(1, count + 1)))
        self.equal(f"{name}: first event", driven.types[0], "turn.created")
        self.equal(f"{name}: last event", driven.types[-1], "turn.done")
        self.equal(f"{name}: one end", driven.types.count("turn.done"), 1)
        self.check(f"{name}: known to the client", bool(driven.turn.id))
        self.check(f"{name}: a state at the end", driven.turn.state.status != "running")

    def check_persisted(self, session: Any, driven: Driven, left_out: Iterable[str] = ()) -> None:
        """The events kept by the server are what the deltas add up to."""
        kept = {event.id: event for event in session.get_turn(driven.turn.id).list_events()}
        streamed = {
            id_: event for id_, event in driven.index.items() if id_ not in set(left_out)
        }
        name = driven.turn.id
        self.equal(f"{name}: same events", sorted(kept), sorted(streamed))
        for id_, event in kept.items():
            if id_ in streamed:
                self.equal(
                    f"{name}: {event.type}",
                    event.model_dump(exclude_none=True),
                    streamed[id_].model_dump(exclude_none=True),
                )

    def refuses(self, what: str, status: int, call: Callable[[], object]) -> str:
        """The call fails with this status and the error envelope; gives its message."""
        try:
            result = call()
            if hasattr(result, "__iter__"):
                list(result)
        except ApiError as error:
            self.equal(f"{what}: status", error.status_code, status)
            body = error.body if isinstance(error.body, dict) else error.body.model_dump()
            return str(body["error"]["message"])
        self.check(f"{what}: refused", False)
        return ""


class Driven:
    """A turn that was followed to the end of its stream."""

    def __init__(self, turn: Any, items: list[Any]) -> None:
        self.turn = turn
        self.items = items
        self.numbers = [item.sequence_number for item in items]
        self.events = [item.event for item in items]
        self.types = [event.type for event in self.events]
        self.index: dict[str, Any] = {}
        for event in (event.model_copy(deep=True) for event in self.events):
            if is_event_delta(event):
                merge_event_delta(self.index[event.id], event)
            elif event.type not in ("turn.created", "turn.done"):
                self.index[event.id] = event

    @property
    def state(self) -> Any:
        return self.turn.state

    def outline(self, thread: str | None = None) -> list[str]:
        """Event types in order, runs of deltas as one; of one thread if asked."""
        outline: list[str] = []
        for event in self.events:
            if thread and event.thread_id != thread:
                continue
            if not (is_event_delta(event) and outline and outline[-1] == event.type):
                outline.append(event.type)
        return outline

    def of(self, type_: str) -> list[Any]:
        return [event for event in self.index.values() if event.type == type_]

    def texts(self) -> list[str]:
        return [message.content or "" for message in self.of("model.message")]


def approvals(driven: Driven, decide: Callable[[], Any]) -> list[Any]:
    return [
        sdk.UserToolApprovalEvent(
            thread_id=action.thread_id, tool_call_id=call.id, approval=decide()
        )
        for action in driven.state.required_actions
        if action.type == "tool.approval_required"
        for call in action.tool_calls
    ]


def responses(driven: Driven, content: str) -> list[Any]:
    return [
        sdk.UserToolResponseEvent(
            thread_id=action.thread_id, tool_call_id=call.id, content=content
        )
        for action in driven.state.required_actions
        if action.type == "tool.response_required"
        for call in action.tool_calls
    ]
