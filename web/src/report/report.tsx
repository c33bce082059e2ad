import { Contents, DocumentView } from "../blocks";
import type { ReportDocument } from "../contract";
import { Mark, ThemeSwitch } from "../shared";

/** A document with its own frame. */
export function Report({ document }: { document: ReportDocument }) {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the report
      </a>
      <header class="bar">
        <div>
          <a class="home" href="#main" aria-label="Plimsoll, top of the page">
            <Mark />
            <span>Plimsoll</span>
          </a>
          <Contents sections={document.sections} keepsAddress={false} />
          <ThemeSwitch />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <DocumentView document={document} hasContents={false} />
        <footer>Written by {document.written_by}. This file is complete: it asks nothing of any network.</footer>
      </main>
    </>
  );
}
