// An app with readers of one source, and a sibling that reads another.
import { Component, computed, input, signal } from "@angular/core";
import { injectConversation, injectReadable, type Readable } from "turnwire/angular";
import type { Turn } from "turnwire";
import type { Conversation as Chat } from "turnwire/conversation";
import { drawn, label } from "../../kit.js";
import { Answer } from "./guide";
import { Rows } from "./rows";

export interface Source extends Readable<unknown> {
  readonly name: string;
}

/** What the app shows. */
export interface Props {
  readonly source?: Source;
  readonly other?: Source;
  readonly readers?: number;
  readonly turn?: Turn;
  readonly conversation?: Conversation;
  /** With many rows. */
  readonly chat?: Chat;
}

export const props = signal<Props>({});

@Component({ selector: "app-reader", template: `<p class="reader">{{ drawn("reader", label(source(), value())) }}</p>` })
export class Reader {
  readonly source = input.required<Source>();
  readonly value = injectReadable(() => this.source());
  readonly drawn = drawn;
  readonly label = label;
}

@Component({ selector: "app-sibling", template: `<p>{{ drawn("sibling", text()) }}</p>` })
export class Sibling {
  readonly source = input.required<Source>();
  readonly value = injectReadable(() => this.source());
  readonly drawn = drawn;
  text(): string {
    return String(this.value());
  }
}

/** What is used of a conversation. */
interface Conversation {
  attach(): () => void;
  readonly rows: Readable<string>;
}

@Component({ selector: "app-talk", template: `<p class="reader">{{ rows() }}</p>` })
export class Talk {
  readonly conversation = input.required<Conversation>();
  readonly chat = injectConversation(() => this.conversation());
  readonly rows = injectReadable(() => this.chat().rows);
}

@Component({
  selector: "app-root",
  imports: [Answer, Reader, Rows, Sibling, Talk],
  template: `{{ drawn("app") }}
    @if (props().turn; as turn) {<app-answer [turn]="turn" />}
    @if (props().conversation; as conversation) {<app-talk [conversation]="conversation" />}
    @if (props().chat; as chat) {<app-rows [chat]="chat" />}
    @if (props().source; as source) {@for (at of places(); track at) {<app-reader [source]="source" />}}
    @if (props().other; as other) {<app-sibling [source]="other" />}`,
})
export class App {
  readonly props = props;
  readonly places = computed(() => Array.from({ length: props().readers ?? 0 }, (_, at) => at));
  readonly drawn = drawn;
}
