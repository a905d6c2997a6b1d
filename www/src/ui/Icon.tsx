// The icons of the page, as inline SVG on a 20 × 20 grid. They are decorative: the text beside them has the meaning.

const PATHS = {
  menu: "M3 5.5h14M3 10h14M3 14.5h14",
  plus: "M10 4v12M4 10h12",
  close: "m5 5 10 10M15 5 5 15",
  send: "M10 16V4.5M5 9l5-5 5 5",
  cut: "M5.8 8.6a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6M5.8 16a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6M7.6 12.2 16.5 4.5M7.6 7.8l8.9 7.7",
  stop: "M6 6h8v8H6z",
  attach: "m14.5 9.5-5 5a3.2 3.2 0 0 1-4.6-4.6l6-6a2.2 2.2 0 0 1 3.1 3.1l-5.8 5.8a1.1 1.1 0 0 1-1.6-1.6l5-5",
  file: "M11.5 3H6a1 1 0 0 0-1 1v12a1 1 0 0 0 1 1h8a1 1 0 0 0 1-1V6.5zM11.5 3v3.5H15",
  tool: "M12.5 3.5a4 4 0 0 0-4.4 5.3L3.6 13.3a1.8 1.8 0 0 0 0 2.6l.5.5a1.8 1.8 0 0 0 2.6 0l4.5-4.5a4 4 0 0 0 5.3-4.4l-2.3 2.3-2.9-.6-.6-2.9z",
  agent: "M10 10a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4M4 16.8c.5-3 3-4.8 6-4.8s5.5 1.8 6 4.8",
  question:
    "M10 17.2a7.2 7.2 0 1 0 0-14.4 7.2 7.2 0 0 0 0 14.4M8.1 8c.1-1.2.9-1.9 2-1.9s1.9.7 1.9 1.7c0 1.4-1.9 1.6-1.9 3M10.1 13.4v.1",
  shield: "M10 3 4.5 5v4.5c0 3.4 2.3 6 5.5 7.5 3.2-1.5 5.5-4.1 5.5-7.5V5zM7.6 9.8l1.8 1.8 3.2-3.5",
  plug: "M7.5 3v4M12.5 3v4M5 7h10v2.5a5 5 0 0 1-10 0zM10 14.5V17",
  box: "M10 3 4 6v8l6 3 6-3V6zM4 6l6 3 6-3M10 9v8",
  bolt: "M11 3 5 11h4l-1 6 6-8h-4z",
  check: "m4.5 10.5 3.5 3.5 7.5-8",
  edit: "M4.5 15.5l.7-3.2 7.6-7.6a1.6 1.6 0 0 1 2.3 0l.2.2a1.6 1.6 0 0 1 0 2.3l-7.6 7.6z",
  copy: "M7.5 7.5h8v8h-8zM5 12.5h-.5v-8h8V5",
  info: "M10 17.2a7.2 7.2 0 1 0 0-14.4 7.2 7.2 0 0 0 0 14.4M10 9.4v4M10 6.6v.1",
  warn: "M10 3.5 2.8 16h14.4zM10 8.5v3.5M10 14.2v.1",
  chevron: "m7.5 5 5 5-5 5",
  down: "M10 4.5v11M5 10.5l5 5 5-5",
  external: "M8 4.5H4.5v11h11V12M11 4h5v5M16 4l-7 7",
  settings: "M4 6h7M15 6h1M4 14h1M9 14h7M13 4.2v3.6M7 12.2v3.6",
  list: "M7 5.5h9M7 10h9M7 14.5h9M3.8 5.5h.1M3.8 10h.1M3.8 14.5h.1",
  sun: "M10 13.2a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4M10 2.8v1.4M10 15.8v1.4M2.8 10h1.4M15.8 10h1.4M4.9 4.9l1 1M14.1 14.1l1 1M15.1 4.9l-1 1M5.9 14.1l-1 1",
  moon: "M16 11.8A6.5 6.5 0 0 1 8.2 4a6.5 6.5 0 1 0 7.8 7.8z",
  system: "M3.5 4.5h13v8.5h-13zM7.5 16h5M10 13v3",
  retry: "M15.5 10a5.5 5.5 0 1 1-1.6-3.9M16 3.5v3.2h-3.2",
  thought: "M10 3.5a5 5 0 0 0-3 9c.6.5.8 1 .8 1.7h4.4c0-.7.2-1.2.8-1.7a5 5 0 0 0-3-9M8.2 16.8h3.6",
  clock: "M10 16.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13M10 6.5V10l2.5 1.5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, className }: { name: IconName; className?: string }) {
  return (
    <svg
      className={className ? `icon ${className}` : "icon"}
      viewBox="0 0 20 20"
      width="20"
      height="20"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
