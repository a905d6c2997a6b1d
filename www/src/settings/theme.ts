// Light, dark, or as the system. `public/theme.js` applies the stored choice before the first paint.

export type Theme = "system" | "light" | "dark";

const KEY = "turnwire.theme";

export function currentTheme(): Theme {
  const { theme } = document.documentElement.dataset;
  return theme === "light" || theme === "dark" ? theme : "system";
}

export function applyTheme(theme: Theme): void {
  const root = document.documentElement;
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  try {
    if (theme === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // Then it holds until the page is closed.
  }
}
