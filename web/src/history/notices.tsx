import type { ComponentChildren } from "preact";

/** Something that could not be loaded or kept. again: offered as a button. */
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

/** Said while there is nothing to show yet; seen only when it takes longer than the blink of an eye. */
export function Waiting({ children }: { children: ComponentChildren }) {
  return (
    <p class="waiting soft" role="status">
      {children}
    </p>
  );
}

/** There is nothing: why, and what to do. */
export function Nothing({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="nothing">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
