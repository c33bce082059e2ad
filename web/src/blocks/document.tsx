import { useMemo } from "preact/hooks";
import type { ReportDocument } from "../contract";
import { Blocks } from "./blocks";
import { Contents } from "./contents";
import { PicturesOf, picturesOf } from "./pictures";

/**
 * A report. It may be given anew every few seconds: what is open, chosen, sorted and scrolled to stays.
 *
 * hasTitle: the title and the lines below it stand elsewhere otherwise. hasContents: the same of the sections' names.
 */
export function DocumentView(props: { document: ReportDocument; hasTitle?: boolean; hasContents?: boolean }) {
  const { document, hasTitle = true, hasContents = true } = props;
  const pictures = useMemo(() => picturesOf(document), [document]);
  return (
    <PicturesOf value={pictures}>
      <article class="document">
        {hasTitle && <DocumentTitle document={document} />}
        <Blocks blocks={document.head} />
        {hasContents && <Contents sections={document.sections} keepsAddress />}
        {document.sections.map(({ id, title, blocks }) => (
          <section key={id} id={id} tabIndex={-1}>
            {title && <h2>{title}</h2>}
            <Blocks blocks={blocks} />
          </section>
        ))}
      </article>
    </PicturesOf>
  );
}

function DocumentTitle({ document }: { document: ReportDocument }) {
  return (
    <>
      <h1>{document.title}</h1>
      {document.lines.map((line) => (
        <p key={line} class="soft">
          {line}
        </p>
      ))}
    </>
  );
}
