// A chat as a React app has it, in strict mode: it waits for each turn, and subscribes to it when it renders.
import { createElement, StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { useReadable } from "./readable.js";

/** Renders a chat. Turns are waited for when they are sent (`"handler"`), or as soon as they are shown (`"effect"`). */
export function render(session, from, element) {
  createRoot(element).render(createElement(StrictMode, null, createElement(Chat, { session, from })));
}

function Chat({ session, from }) {
  const [turns, setTurns] = useState([]);
  const send = async (input) => {
    const turn = session.createTurn({ input });
    setTurns([...turns, turn]);
    if (from === "handler") await turn.waitForCompletion();
  };
  return createElement(
    "main",
    null,
    createElement("button", { onClick: () => send("approval") }, "Send"),
    turns.map((turn, at) => createElement(Turn, { key: at, turn, from, send })),
  );
}

function Turn({ turn, from, send }) {
  const { threads, required_actions, status } = useReadable(turn.view);
  useEffect(() => {
    if (from !== "effect") return undefined;
    const controller = new AbortController();
    turn.waitForCompletion({ signal: controller.signal }).catch((error) => {
      if (error.code !== "aborted") throw error;
    });
    return () => controller.abort();
  }, [turn, from]);
  const allow = ({ thread_id, tool_call_id }) => send({ type: "user.tool_approval", thread_id, tool_call_id, approval: { status: "allow" } });
  return createElement(
    "article",
    { "data-status": status },
    threads.flatMap(({ messages }) => messages.map(({ id, content }) => createElement("p", { key: id }, content))),
    required_actions.map((action) =>
      createElement("button", { key: action.tool_call_id, onClick: () => allow(action) }, `Allow ${action.name}(${action.arguments})`),
    ),
  );
}
