// The sign of turnwire: a wire that turns.

export function Logo() {
  return (
    <span className="logo">
      <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
        <path d="M7 11h11a5 5 0 0 1 0 10h-6" />
        <path d="m15.5 17-4 4 4 4" />
        <circle cx="7" cy="11" r="2.6" />
      </svg>
      turnwire
    </span>
  );
}
