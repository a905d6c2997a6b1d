import { afterNextRender, Component, ElementRef, viewChild } from "@angular/core";
import { injectConversation, injectRead } from "turnwire/angular";
import { chat } from "./chat";

@Component({
  selector: "app-root",
  template: `
    <main>
      <div role="log">
        @for (key of read(chat().items); track key) {
          @let item = read(chat().item(key));
          <article [class]="item?.role">
            @for (part of item?.parts; track part.key) {
              <p [class]="part.type">{{ part.text }}</p>
            }
            @for (action of item?.actions; track action) {
              <button (click)="chat().act(key, action)">{{ action }}</button>
            }
          </article>
        }
      </div>
      <form #form><input aria-label="Message" required /> <button>Send</button></form>
    </main>
  `,
})
export class App {
  readonly chat = injectConversation(() => chat);
  readonly read = injectRead();
  readonly form = viewChild.required<ElementRef<HTMLFormElement>>("form");
  readonly bound = afterNextRender(() => chat.bindForm(this.form().nativeElement));
}
