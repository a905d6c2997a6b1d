import { renderToString } from "solid-js/web";
import { App } from "./app.jsx";

export const render = async (props) => renderToString(() => <App {...props} />);
