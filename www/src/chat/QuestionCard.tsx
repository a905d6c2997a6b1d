// A question of the agent to the person: options to choose from, and room for another answer.

import { memo, useMemo } from "react";
import type { ToolCallSnapshot } from "turnwire";
import { Icon } from "../ui/Icon";
import { useAnswer, useConversation, usePendingAction } from "./context";
import { GivenAnswer } from "./GivenAnswer";
import { ResponseForm } from "./ResponseForm";

interface Question {
  readonly question: string;
  readonly options: readonly string[];
}

const RECOMMENDED = " (Recommended)";

export const QuestionCard = memo(function QuestionCard({ call }: { call: ToolCallSnapshot }) {
  const answer = useAnswer(call.id);
  const pending = usePendingAction(call.id) !== undefined;
  const { question, options } = useMemo(
    () => (call.status === "streaming" ? { question: "", options: [] } : parse(call.arguments)),
    [call.status, call.arguments],
  );
  if (question === "") {
    return (
      <section className="card question">
        <p className="question-text shimmer">
          <Icon name="question" /> A question is coming
        </p>
      </section>
    );
  }
  return (
    <section className={`card question${pending && !answer ? " waits" : ""}`} aria-label="The agent asks you">
      <p className="question-text">
        <Icon name="question" /> {question}
      </p>
      {answer ? (
        <GivenAnswer callId={call.id} state={answer} />
      ) : (
        pending && (
          <>
            <Options callId={call.id} options={options} />
            <ResponseForm callId={call.id} label={options.length > 0 ? "Or in your own words" : "Your answer"} />
          </>
        )
      )}
    </section>
  );
});

function Options({ callId, options }: { callId: string; options: readonly string[] }) {
  const conversation = useConversation();
  return (
    <ul className="options">
      {options.map((option) => (
        <li key={option}>
          <button type="button" onClick={() => conversation.answer(callId, { kind: "text", content: option })}>
            <span>{option.endsWith(RECOMMENDED) ? option.slice(0, -RECOMMENDED.length) : option}</span>
            {option.endsWith(RECOMMENDED) && <span className="badge">Recommended</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The arguments of `ask_user_question`; anything that does not fit is shown unchanged. */
function parse(args: string): Question {
  try {
    const value: unknown = JSON.parse(args);
    if (typeof value === "object" && value !== null && "question" in value && typeof value.question === "string") {
      const options = "options" in value && Array.isArray(value.options) ? value.options : [];
      return { question: value.question, options: options.filter((option) => typeof option === "string") };
    }
  } catch {
    // Not JSON: shown as text below.
  }
  return { question: args || "The agent asks for your answer.", options: [] };
}
