"""Microsoft Agent Framework: `/agent`, `/store` (an empty `messages` reads the thread again), `/detached` (as `/store`,
and runs go on without their reader; keepalive comments every second)."""

import uuid

from agent_framework import (
    Agent, BaseChatClient, ChatResponse, ChatResponseUpdate, Content, FunctionInvocationLayer, ResponseStream, tool,
)
from agent_framework_ag_ui import (
    AgentFrameworkAgent, InMemoryAGUIThreadSnapshotStore, add_agent_framework_fastapi_endpoint, state_update,
)
from fastapi import FastAPI

from script import Call, Thought, allow_pages, pieces, serve, spoken


def role_of(message) -> str:
    return str(getattr(message.role, "value", message.role))


def answer_to(messages) -> list:
    text, results = "", []
    for message in messages:
        if role_of(message) == "user":
            text, results = message.text, []
        elif role_of(message) == "tool":
            results += [str(content.result) for content in message.contents if content.type == "function_result"]
    return pieces(text, results, sum(role_of(message) == "user" for message in messages))


class Scripted(FunctionInvocationLayer, BaseChatClient):
    def _inner_get_response(self, *, messages, stream, options, **_):
        async def updates():
            message = f"m-{uuid.uuid4()}"

            def update(content):
                return ChatResponseUpdate(role="assistant", contents=[content], message_id=message, response_id=f"r-{message}")

            async for piece in spoken(answer_to(messages)):
                if isinstance(piece, str):
                    yield update(Content.from_text(piece))
                elif isinstance(piece, Thought):
                    yield update(Content.from_text_reasoning(text=piece.text, protected_data="enc=="))
                elif isinstance(piece, Call):
                    for number, arguments in enumerate(piece.arguments):
                        name = piece.name if number == 0 else ""
                        yield update(Content.from_function_call(piece.id, name, arguments=arguments))

        if stream:
            return ResponseStream(updates(), finalizer=ChatResponse.from_updates)

        async def whole():
            return ChatResponse.from_updates([update async for update in updates()])

        return whole()


@tool
def get_weather(city: str) -> dict:
    "Weather"
    return {"city": city, "temp": 18}


@tool(approval_mode="always_require")
def delete_file(path: str) -> str:
    "Delete"
    return f"deleted {path}"


@tool
def broken() -> str:
    "Broken"
    raise ValueError("disk on fire")


@tool
def set_state(n: int):
    "State"
    return state_update(text="state set", state={"n": n})


app = FastAPI()
allow_pages(app)


def endpoint(path: str, **options) -> None:
    agent = Agent(client=Scripted(), name="lab", instructions="Be brief.", tools=[get_weather, delete_file, broken, set_state])
    framed = AgentFrameworkAgent(agent=agent, state_schema={"n": {"type": "integer"}})
    add_agent_framework_fastapi_endpoint(app, framed, path, single_user=True, **options)


endpoint("/agent")
endpoint("/store", snapshot_store=InMemoryAGUIThreadSnapshotStore())
endpoint("/detached", snapshot_store=InMemoryAGUIThreadSnapshotStore(), detached_runs=True, keepalive_seconds=1)

if __name__ == "__main__":
    serve(app)
