/** The Plimsoll mark, as on a ship's hull. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 36 28" aria-hidden="true">
      <circle cx="18" cy="14" r="10.5" fill="none" stroke="currentColor" stroke-width="3" />
      <path d="M1 14h34" stroke="currentColor" stroke-width="3" />
    </svg>
  );
}
