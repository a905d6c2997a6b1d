import { renderToString } from "react-dom/server";
import { App } from "./app.jsx";

export const render = async (props) => renderToString(<App {...props} />);
