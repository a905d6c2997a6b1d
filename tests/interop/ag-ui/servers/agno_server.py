"""Agno: `/agui`."""

import json

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.models.response import ModelResponse
from agno.os import AgentOS
from agno.os.interfaces.agui import AGUI
from agno.run import RunContext
from agno.tools import tool
from agno.tools.reasoning import ReasoningTools

from script import Call, Thought, pieces, serve, spoken


def answer_to(messages) -> list:
    text, results = "", []
    for message in messages:
        if message.role == "user":
            text, results = message.get_content_string(), []
        elif message.role == "tool":
            results.append(message.get_content_string())
    return pieces(text, results, sum(message.role == "user" for message in messages))


class Scripted(Model):
    def __init__(self):
        super().__init__(id="scripted", name="Scripted", provider="lab")

    def invoke(self, *_, **__):
        raise NotImplementedError

    def invoke_stream(self, *_, **__):
        raise NotImplementedError

    async def ainvoke(self, messages, **_):
        said = "".join(piece for piece in answer_to(messages) if isinstance(piece, str))
        return ModelResponse(role="assistant", content=said)

    async def ainvoke_stream(self, messages, **_):
        async for piece in spoken(answer_to(messages)):
            if isinstance(piece, str):
                yield ModelResponse(role="assistant", content=piece)
            elif isinstance(piece, Thought):
                yield ModelResponse(role="assistant", reasoning_content=piece.text)
            elif isinstance(piece, Call):
                function = {"name": piece.name, "arguments": json.dumps(json.loads("".join(piece.arguments)))}
                call = {"id": piece.id, "type": "function", "function": function}
                yield ModelResponse(role="assistant", tool_calls=[call])

    def _parse_provider_response(self, response, **_):
        return response

    def _parse_provider_response_delta(self, response):
        return response


@tool
def get_weather(city: str) -> dict:
    "Weather"
    return {"city": city, "temp": 18}


@tool(requires_confirmation=True)
def delete_file(path: str) -> str:
    "Delete"
    return f"deleted {path}"


@tool(requires_user_input=True, user_input_fields=["path"])
def move_file(path: str) -> str:
    "Move"
    return f"moved {path}"


@tool
def broken() -> str:
    "Broken"
    raise ValueError("disk on fire")


@tool
def set_state(run_context: RunContext, n: int) -> str:
    "State"
    run_context.session_state["n"] = n
    return "state set"


# Agno tells no reasoning of a model, only that of its tool `think`.
tools = [get_weather, delete_file, move_file, broken, set_state, ReasoningTools(enable_analyze=False)]
agent = Agent(name="lab", id="lab", model=Scripted(), db=InMemoryDb(), telemetry=False, add_history_to_context=True, tools=tools)
app = AgentOS(agents=[agent], interfaces=[AGUI(agent=agent)], telemetry=False).get_app()

if __name__ == "__main__":
    serve(app)
