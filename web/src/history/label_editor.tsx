import { useEffect, useRef, useState } from "preact/hooks";
import type { Label } from "../contract";
import { taggedAddress } from "./addresses";
import { LabelForm } from "./label_form";
import type { Labelled } from "./tags";

interface Props {
  /** The subject, for screen readers: "run 20261122-0952-z312". */
  of: string;
  label: Labelled;
  /** Rejects with the server's message. */
  save: (label: Label) => Promise<void>;
  /** Tags link to the runs with that tag. */
  linksTags?: boolean;
}

/** The tags and note of a run or an experiment, editable in place. */
export function LabelEditor({ of, label, save, linksTags = false }: Props) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  useEffect(() => {
    // After the form closes, the focus returns to the button that opened it.
    if (wasOpen.current && !isOpen) button.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);

  if (isOpen) return <LabelForm of={of} label={label} save={save} close={() => setOpen(false)} />;
  const isBare = label.tags.length === 0 && label.note === "";
  return (
    <div class={isBare ? "labels bare" : "labels"}>
      {label.tags.length > 0 && (
        <ul class="plain-list tag-list" aria-label="Tags">
          {label.tags.map((tag) => (
            <li key={tag}>{linksTags ? <a href={taggedAddress(tag)}>{tag}</a> : <span>{tag}</span>}</li>
          ))}
        </ul>
      )}
      {label.note && <span class="note-text">{label.note}</span>}
      <button type="button" ref={button} class="quiet" onClick={() => setOpen(true)}>
        {isBare ? "Add tags, note" : "Edit"}
        <span class="unseen">{isBare ? ` of ${of}` : ` tags and note of ${of}`}</span>
      </button>
    </div>
  );
}
