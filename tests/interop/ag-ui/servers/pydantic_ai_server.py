"""Pydantic AI: `/agent`, `/legacy` (0.x, THINKING_* events), `/usage`."""

from pydantic import BaseModel
from pydantic_ai import Agent, RunContext, ToolReturn
from pydantic_ai.models.function import DeltaThinkingPart, DeltaToolCall, FunctionModel
from pydantic_ai.tools import DeferredToolRequests
from pydantic_ai.ui import StateDeps
from pydantic_ai.ui.ag_ui import AGUIAdapter
from ag_ui.core import StateSnapshotEvent
from starlette.applications import Starlette
from starlette.routing import Route

from script import Call, Thought, allow_pages, pieces, serve, spoken


class State(BaseModel):
    n: int = 0


async def model(messages, _info):
    text, results, users = "", [], 0
    for part in (part for message in messages for part in message.parts):
        if part.part_kind == "user-prompt":
            text = part.content if isinstance(part.content, str) else " ".join(c for c in part.content if isinstance(c, str))
            results, users = [], users + 1
        elif part.part_kind in ("tool-return", "retry-prompt"):
            results.append(part.model_response_str() if hasattr(part, "model_response_str") else str(part.content))
    index = 0
    async for piece in spoken(pieces(text, results, users)):
        if isinstance(piece, str):
            yield piece
        elif isinstance(piece, Thought):
            yield {0: DeltaThinkingPart(content=piece.text)}
        elif isinstance(piece, Call):
            index += 1
            yield {index: DeltaToolCall(name=piece.name, json_args="", tool_call_id=piece.id)}
            for arguments in piece.arguments:
                yield {index: DeltaToolCall(json_args=arguments)}


agent = Agent(FunctionModel(stream_function=model), deps_type=StateDeps[State], output_type=[str, DeferredToolRequests])


@agent.tool_plain
def get_weather(city: str) -> dict:
    return {"city": city, "temp": 18}


@agent.tool_plain(requires_approval=True)
def delete_file(path: str) -> str:
    return f"deleted {path}"


@agent.tool_plain
def broken() -> str:
    raise ValueError("disk on fire")


@agent.tool
def set_state(context: RunContext[StateDeps[State]], n: int) -> ToolReturn:
    context.deps.state.n = n
    return ToolReturn(return_value="state set", metadata=[StateSnapshotEvent(snapshot={"n": n})])


def endpoint(path: str, **options) -> Route:
    async def handle(request):
        return await AGUIAdapter.dispatch_request(request, agent=agent, deps=StateDeps(State()), **options)

    return Route(path, handle, methods=["POST"])


app = Starlette(routes=[endpoint("/agent"), endpoint("/legacy", ag_ui_version="0.1.10"), endpoint("/usage", include_usage=True)])
allow_pages(app)

if __name__ == "__main__":
    serve(app)
