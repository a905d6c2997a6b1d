// A question of the agent to the person: options to choose from, and room for another answer.

import { memo, useMemo } from "react";
import type { Call } from "turnwire/conversation";
import { Icon } from "../ui/Icon";
import { useChat } from "./chat";
import { GivenAnswer } from "./GivenAnswer";
import { ResponseForm } from "./ResponseForm";

interface Question {
  readonly question: string;
  readonly options: readonly string[];
}

const RECOMMENDED = " (Recommended)";

export const QuestionCard = memo(function QuestionCard({ call }: { call: Call }) {
  const { key, answer, status, arguments: given, argumentsText } = call;
  const pending = call.pending !== null;
  const { question, options } = useMemo(
    () => (status === "streaming" ? { question: "", options: [] } : parse(given, argumentsText)),
    [status, given, argumentsText],
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
    <section role="group" className={`card question${pending && !answer ? " waits" : ""}`} aria-label="The agent asks you">
      <p className="question-text">
        <Icon name="question" /> {question}
      </p>
      {answer ? (
        <GivenAnswer callKey={key} given={answer} />
      ) : (
        pending && (
          <>
            <Options callKey={key} options={options} />
            <ResponseForm callKey={key} label={options.length > 0 ? "Or in your own words" : "Your answer"} />
          </>
        )
      )}
    </section>
  );
});

function Options({ callKey, options }: { callKey: string; options: readonly string[] }) {
  const conversation = useChat();
  return (
    <ul className="options">
      {options.map((option) => (
        <li key={option}>
          <button type="button" onClick={() => conversation.answer(callKey, { kind: "text", content: option })}>
            <span>{option.endsWith(RECOMMENDED) ? option.slice(0, -RECOMMENDED.length) : option}</span>
            {option.endsWith(RECOMMENDED) && <span className="badge">Recommended</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The arguments of `ask_user_question`; anything that does not fit is shown unchanged. */
function parse(value: unknown, text: string): Question {
  if (typeof value !== "object" || value === null || !("question" in value) || typeof value.question !== "string") {
    return { question: text || "The agent asks for your answer.", options: [] };
  }
  const options = "options" in value && Array.isArray(value.options) ? value.options : [];
  return { question: value.question, options: options.filter((option) => typeof option === "string") };
}
