"""Google ADK: `/agent`, and `/agents/state` beside it, which tells a thread."""

import json

from ag_ui_adk import ADKAgent, AGUIToolset, add_adk_fastapi_endpoint
from fastapi import FastAPI
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import FunctionTool
from google.genai import types

from script import Call, Thought, allow_pages, pieces, serve, spoken


def answer_to(contents) -> list:
    text, results, users = "", [], 0
    for content in contents:
        for part in content.parts or []:
            if part.function_response:
                results.append(str(part.function_response.response))
            elif part.text and content.role == "user":
                text, results, users = part.text, [], users + 1
    return pieces(text, results, users)


class Scripted(BaseLlm):
    model: str = "scripted"

    async def generate_content_async(self, llm_request, stream=False):
        parts = []
        async for piece in spoken(answer_to(llm_request.contents)):
            if isinstance(piece, Call):
                arguments = json.loads("".join(piece.arguments))
                parts.append(types.Part(function_call=types.FunctionCall(id=piece.id, name=piece.name, args=arguments)))
                continue
            part = types.Part(text=piece.text, thought=True) if isinstance(piece, Thought) else types.Part(text=piece)
            parts.append(part)
            yield LlmResponse(content=types.Content(role="model", parts=[part]), partial=True)
        thought = "".join(part.text for part in parts if part.text and part.thought)
        text = "".join(part.text for part in parts if part.text and not part.thought)
        whole = [types.Part(text=thought, thought=True)] * bool(thought) + [types.Part(text=text)] * bool(text)
        whole += [part for part in parts if part.function_call]
        yield LlmResponse(content=types.Content(role="model", parts=whole), partial=False, turn_complete=True)


def get_weather(city: str) -> dict:
    "Weather"
    return {"city": city, "temp": 18}


def delete_file(path: str) -> dict:
    "Delete"
    return {"deleted": path}


lab = LlmAgent(
    name="lab",
    model=Scripted(),
    instruction="Be brief.",
    tools=[get_weather, FunctionTool(delete_file, require_confirmation=True), AGUIToolset()],
)
app = FastAPI()
allow_pages(app)
add_adk_fastapi_endpoint(app, ADKAgent(adk_agent=lab, app_name="lab", user_id="me", use_in_memory_services=True), path="/agent")

if __name__ == "__main__":
    serve(app)
