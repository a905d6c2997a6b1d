import { createApp, h, shallowRef } from "vue";
import { install } from "../kit.js";
import App from "./App.vue";
import Answer from "./Guide.vue";

install((element, first) => {
  const props = shallowRef(first);
  const app = createApp(() => h(props.value.turn ? Answer : App, props.value));
  app.mount(element);
  return { update: (next) => (props.value = { ...props.value, ...next }), unmount: () => app.unmount() };
});
