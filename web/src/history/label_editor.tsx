import { useEffect, useRef, useState } from "preact/hooks";
import type { Label } from "../contract";
import { taggedAddress } from "./addresses";
import { LabelForm } from "./label_form";
import type { Labelled } from "./tags";

interface Props {
  /** What it is about, for those who do not see where it stands: "run 20261122-0952-z312". */
  of: string;
  label: Labelled;
  /** Rejects with what the server has against it. */
  save: (label: Label) => Promise<void>;
  /** Whether a tag leads to the runs that have it. */
  linksTags?: boolean;
}

/** Tags and note of a run or an experiment, edited where they stand. */
export function LabelEditor({ of, label, save, linksTags = false }: Props) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  useEffect(() => {
    // Who has closed the form goes on where it was opened.
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
