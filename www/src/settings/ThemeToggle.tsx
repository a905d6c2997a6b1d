// Cycles through the themes: system, light, dark.

import { useState } from "react";
import { Icon, type IconName } from "../ui/Icon";
import { applyTheme, currentTheme, type Theme } from "./theme";

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const ICONS: Record<Theme, IconName> = { system: "system", light: "sun", dark: "moon" };
const NAMES: Record<Theme, string> = { system: "as the system has it", light: "light", dark: "dark" };

export function ThemeToggle() {
  const [theme, setTheme] = useState(currentTheme);
  const toggle = () => {
    applyTheme(NEXT[theme]);
    setTheme(NEXT[theme]);
  };
  return (
    <button
      type="button"
      className="quiet round"
      onClick={toggle}
      aria-label={`Colours: ${NAMES[theme]}`}
      title={`Colours: ${NAMES[theme]}`}
    >
      <Icon name={ICONS[theme]} />
    </button>
  );
}
