import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** A modal dialog. The browser keeps the focus in it, and returns the focus when it closes. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current!;
    const before = document.activeElement as HTMLElement | null;
    element.showModal();
    return () => {
      element.close();
      before?.focus?.();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onCancel={(event) => (event.preventDefault(), close())}>
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}
