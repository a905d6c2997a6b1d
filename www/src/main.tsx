// Starts the page.

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { IS_SCRIPTED } from "./connection/scripted";
import "./styles/index.css";

// A server inside the page has no session of an earlier visit.
if (IS_SCRIPTED) window.history.replaceState(null, "", "#/");

const root = document.getElementById("root");
if (!root) throw new Error("The page has no #root.");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
