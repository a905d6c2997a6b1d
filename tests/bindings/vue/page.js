import { createApp, h, shallowRef } from "vue";
import { install } from "../kit.js";
import App from "./App.vue";
import Answer from "./Guide.vue";
import Talk from "./Talk.vue";

install((element, first) => {
  const props = shallowRef(first);
  const app = createApp(() => h(props.value.turn ? Answer : props.value.conversation ? Talk : App, props.value));
  app.mount(element);
  return { update: (next) => (props.value = { ...props.value, ...next }), unmount: () => app.unmount() };
});
