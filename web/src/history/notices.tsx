import type { ComponentChildren } from "preact";

/** An error from loading or saving. again: adds a retry button. */
export function Trouble({ error, again }: { error: string; again?: (() => void) | undefined }) {
  return (
    <div class="trouble" role="alert">
      <p>{error}</p>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Shown while the data loads. Appears only after a short delay. */
export function Waiting({ children }: { children: ComponentChildren }) {
  return (
    <p class="waiting soft" role="status">
      {children}
    </p>
  );
}

/** An empty list: the reason, and what to do. */
export function Nothing({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="nothing">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
