import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { ReportDocument } from "../contract";
import { Blocks } from "./blocks";
import { Contents } from "./contents";
import { PicturesOf, picturesOf } from "./pictures";

/**
 * A report. The document may be replaced every few seconds. Open parts, selections, sorting and scroll positions stay.
 *
 * below: what stands between the answer and the sections.
 * hasTitle: false if the page shows the title elsewhere. hasContents: the same for the list of sections.
 */
export function DocumentView(props: {
  document: ReportDocument;
  hasTitle?: boolean;
  hasContents?: boolean;
  below?: JSX.Element | undefined;
}) {
  const { document, hasTitle = true, hasContents = true, below } = props;
  const pictures = useMemo(() => picturesOf(document), [document]);
  return (
    <PicturesOf value={pictures}>
      <article class="document">
        {hasTitle && <DocumentTitle document={document} />}
        <Blocks blocks={document.head} />
        {below}
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
