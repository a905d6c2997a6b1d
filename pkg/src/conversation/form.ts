// A form of the page as the draft's form: it shows the draft, and sends it.
import type { Readable } from "../common/readable.js";
import type { Draft, Status } from "./types.js";

/** The part of a form that is used. */
export type Form = Pick<HTMLFormElement, "addEventListener" | "removeEventListener" | "querySelector" | "requestSubmit">;

/** A form's field. */
interface Written {
  readonly draft: Readable<Draft>;
  readonly status: Readable<Status>;
  readonly setDraft: (text: string) => void;
  readonly submit: (event: Event) => void;
}

/** Binds a form; returns the function that releases it. */
export function bindForm(form: Form, { draft, status, setDraft, submit }: Written): () => void {
  const field = form.querySelector<HTMLInputElement | HTMLTextAreaElement>("textarea, input")!;
  let hasFocus = false;
  const show = (): void => {
    const { text } = draft.get();
    // An unchanged value is not set: that would move the cursor.
    if (field.value !== text) field.value = text;
    const { canSubmit } = status.get();
    if (field.disabled !== canSubmit) return;
    // A disabled field loses the focus. It gets it back, unless the person has focused another field.
    if (!canSubmit) hasFocus = field.matches(":focus");
    field.disabled = !canSubmit;
    if (canSubmit && hasFocus && !field.ownerDocument.querySelector("input:focus, textarea:focus")) field.focus();
  };
  const stops = [draft.subscribe(show), status.subscribe(show)];
  const listen = (target: Pick<EventTarget, "addEventListener" | "removeEventListener">, type: string, listener: (event: Event) => void): void => {
    target.addEventListener(type, listener);
    stops.push(() => target.removeEventListener(type, listener));
  };
  listen(form, "submit", submit);
  listen(field, "input", () => setDraft(field.value));
  listen(field, "keydown", (event) => {
    const { key, keyCode, shiftKey, isComposing } = event as KeyboardEvent;
    // An input submits by itself. In Safari, the Enter that ends a composition no longer belongs to it, and has this code.
    if (field.tagName !== "TEXTAREA" || key !== "Enter" || shiftKey || isComposing || keyCode === 229) return;
    event.preventDefault();
    form.requestSubmit();
  });
  show();
  return () => {
    for (const stop of stops) stop();
  };
}
