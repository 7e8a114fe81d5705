// Texts to read and to copy: code, JSON, and what a tool wrote.

import { useState } from 'preact/hooks'
import { cut } from '../../../../base/text.ts'
import { toPretty } from '../connection/json.ts'

/** A longer text is shown in part: a browser takes seconds for a megabyte. */
const MAX_SHOWN = 50_000

export function CopyButton ({ text, label }: { readonly text: () => string, readonly label: string }) {
  const [outcome, setOutcome] = useState('Copy')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text())
      setOutcome('Copied')
    } catch {
      setOutcome('The browser refused')
    }
    setTimeout(() => setOutcome('Copy'), 2000)
  }
  return (
    <button type='button' class='small copy' onClick={copy}>
      <span aria-live='polite'>{outcome}</span><span class='unseen'> {label}</span>
    </button>
  )
}

interface CodeProps {
  readonly text: string
  readonly label: string
  /** Whether the lines are of prose. */
  readonly isProse?: boolean
}

/** The frame can take the focus: without a mouse it could not be scrolled. */
export function Code ({ text, label, isProse = false }: CodeProps) {
  const [isWhole, setWhole] = useState(false)
  const isCut = text.length > MAX_SHOWN && !isWhole
  return (
    <div class='code-frame'>
      <pre tabIndex={0} role='group' aria-label={label} class={isProse ? 'prose' : undefined}>
        {isCut ? cut(text, MAX_SHOWN) : text}
      </pre>
      <CopyButton text={() => text} label={label} />
      {isCut && (
        <button type='button' class='small' onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString('en')} characters
        </button>
      )}
    </div>
  )
}

export function JsonCode ({ value, label }: { readonly value: unknown, readonly label: string }) {
  return <Code text={toPretty(value)} label={label} />
}
