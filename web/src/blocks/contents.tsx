import { useEffect, useState } from "preact/hooks";
import type { Section } from "../contract";

/**
 * The sections of a document. Marks the section that the reader is in.
 *
 * keepsAddress: another component owns the part of the address after #.
 */
export function Contents({ sections, keepsAddress }: { sections: readonly Section[]; keepsAddress: boolean }) {
  const listed = sections.filter((section) => section.in_contents);
  const current = useReadSection(listed);
  return (
    <nav class="contents" aria-label="Sections">
      {listed.map(({ id, title, label }) => (
        <a
          key={id}
          href={`#${id}`}
          aria-current={id === current ? "location" : undefined}
          onClick={(event) => {
            if (!keepsAddress) return;
            event.preventDefault();
            goTo(id);
          }}
        >
          {label || title}
        </a>
      ))}
    </nav>
  );
}

/** Scrolls and moves the focus, as a link does, so that Tab continues from there. */
function goTo(id: string): void {
  const section = document.getElementById(id);
  section?.scrollIntoView();
  section?.focus({ preventScroll: true });
}

function useReadSection(sections: readonly Section[]): string {
  const [current, setCurrent] = useState("");
  const ids = sections.map((section) => section.id).join(" ");
  useEffect(() => {
    const spy = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) if (entry.isIntersecting) setCurrent(entry.target.id);
      },
      { rootMargin: "-20% 0px -70% 0px" },
    );
    for (const id of ids.split(" ")) {
      const section = document.getElementById(id);
      if (section) spy.observe(section);
    }
    return () => spy.disconnect();
  }, [ids]);
  return current;
}
