import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Label } from "../contract";
import { errorText } from "../shared";
import { changesOf, tagsOf, textOf, type Labelled } from "./tags";

interface Props {
  /** The subject, for screen readers. */
  of: string;
  label: Labelled;
  /** Rejects with the server's message. */
  save: (label: Label) => Promise<void>;
  close: () => void;
}

/** Enter saves, Escape closes. If the server refuses, its message shows and the input stays. */
export function LabelForm({ of, label, save, close }: Props) {
  const [tags, setTags] = useState(textOf(label.tags));
  const [note, setNote] = useState(label.note);
  const [error, setError] = useState("");
  const [isSaving, setSaving] = useState(false);

  const submit = async (): Promise<void> => {
    const changes = changesOf(label, { tags: tagsOf(tags), note: note.trim() });
    if (changes === null) {
      close();
      return;
    }
    setSaving(true);
    setError("");
    try {
      await save(changes);
      close();
    } catch (reason) {
      setError(errorText(reason));
      setSaving(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
    } else if (event.key === "Enter" && !event.shiftKey && event.target instanceof HTMLTextAreaElement) {
      event.preventDefault();
      void submit();
    }
  };
  return (
    <form
      class="label-form"
      aria-label={`Tags and note of ${of}`}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Fields tags={tags} note={note} setTags={setTags} setNote={setNote} onKeyDown={onKeyDown} />
      {error && (
        <p class="wrong" role="alert">
          {error}
        </p>
      )}
      <div class="buttons">
        <button type="submit" disabled={isSaving}>
          {isSaving ? "Saving…" : "Save"}
        </button>
        <button type="button" class="quiet" onClick={close}>
          Cancel
        </button>
      </div>
    </form>
  );
}

interface FieldsProps {
  tags: string;
  note: string;
  setTags: (text: string) => void;
  setNote: (text: string) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

function Fields({ tags, note, setTags, setNote, onKeyDown }: FieldsProps) {
  const help = useId();
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  return (
    <>
      <label>
        <span>Tags</span>
        <input
          ref={first}
          value={tags}
          autocomplete="off"
          aria-describedby={help}
          onInput={(event) => setTags(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </label>
      <label>
        <span>Note</span>
        <textarea
          rows={2}
          value={note}
          aria-describedby={help}
          onInput={(event) => setNote(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </label>
      <p id={help} class="soft">
        Commas between tags. Enter saves, Shift+Enter begins a new line, Escape cancels.
      </p>
    </>
  );
}
