// Puts the chosen theme on the page before it is painted. The choice is made and stored by src/settings/theme.ts.
try {
  const theme = localStorage.getItem("turnwire.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden; the page then follows the system.
}
