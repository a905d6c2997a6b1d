// A chat with many rows. The app, the list, each row and each call's card count how often they render. Without `OnPush` Angular
// renders what is inside a component whenever it renders that.
import { ChangeDetectionStrategy, Component, computed, forwardRef, input } from "@angular/core";
import { injectConversation, injectReadable } from "turnwire/angular";
import type { Conversation } from "turnwire/conversation";
import { drawn } from "../../kit.js";

@Component({
  selector: "app-row",
  changeDetection: ChangeDetectionStrategy.OnPush,
  imports: [forwardRef(() => Card)],
  template: `<article>
    {{ drawn("row " + id()) }}
    @for (part of message()?.parts; track part.key ?? part.type) {
      @if (part.type === "call") {<app-card [chat]="chat()" [id]="part.key" />} @else if (part.type === "text") {<p>{{ part.text.length }}</p>}
    }
  </article>`,
})
export class Row {
  readonly chat = input.required<Conversation>();
  readonly id = input.required<string>();
  readonly message = injectReadable(() => this.chat().message(this.id()));
  readonly drawn = drawn;
}

@Component({
  selector: "app-card",
  changeDetection: ChangeDetectionStrategy.OnPush,
  imports: [forwardRef(() => Thread)],
  template: `<section>
    {{ drawn("card " + id(), length()) }}
    @if (call()?.thread; as thread) {<app-thread [chat]="chat()" [id]="thread" />}
  </section>`,
})
export class Card {
  readonly chat = input.required<Conversation>();
  readonly id = input.required<string>();
  readonly call = injectReadable(() => this.chat().call(this.id()));
  readonly length = computed(() => String(this.call()?.argumentsText.length ?? ""));
  readonly drawn = drawn;
}

@Component({
  selector: "app-thread",
  changeDetection: ChangeDetectionStrategy.OnPush,
  imports: [Row],
  template: `{{ drawn("thread " + id()) }} @for (row of thread()?.rows; track row.key) {<app-row [chat]="chat()" [id]="row.key" />}`,
})
export class Thread {
  readonly chat = input.required<Conversation>();
  readonly id = input.required<string>();
  readonly thread = injectReadable(() => this.chat().thread(this.id()));
  readonly drawn = drawn;
}

@Component({
  selector: "app-rows",
  changeDetection: ChangeDetectionStrategy.OnPush,
  imports: [Row],
  template: `<main>{{ drawn("list") }} @for (row of rows(); track row.key) {<app-row [chat]="chat()" [id]="row.key" />}</main>`,
})
export class Rows {
  readonly chat = input.required<Conversation>();
  readonly shown = injectConversation(() => this.chat());
  readonly rows = injectReadable(() => this.shown().rows);
  readonly drawn = drawn;
}
