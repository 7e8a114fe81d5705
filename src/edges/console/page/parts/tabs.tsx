// Tabs, by the pattern of the ARIA practices: the arrow keys move between them.
// https://www.w3.org/WAI/ARIA/apg/patterns/tabs/

import type { ComponentChildren } from 'preact'

interface TabsProps {
  readonly id: string
  readonly label: string
  readonly names: readonly string[]
  readonly chosen: string
  readonly onChoose: (name: string) => void
  /** What stands behind a name, such as a count. */
  readonly notes?: { readonly [name: string]: string }
  readonly children: ComponentChildren
}

const STEPS: { readonly [key: string]: number } = { ArrowRight: 1, ArrowLeft: -1 }

export function Tabs ({ id, label, names, chosen: current, onChoose, notes = {}, children }: TabsProps) {
  const move = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    const next = names[(names.indexOf(current) + (step ?? 0) + names.length) % names.length]
    if (step === undefined || next === undefined) return
    event.preventDefault()
    onChoose(next)
    document.getElementById(`${id}-${next}`)?.focus()
  }
  return (
    <div class='tabs'>
      <div role='tablist' aria-label={label} onKeyDown={move}>
        {names.map((name) => (
          <button
            key={name} type='button' role='tab' id={`${id}-${name}`} aria-selected={name === current}
            aria-controls={`${id}-panel`} tabIndex={name === current ? 0 : -1} onClick={() => onChoose(name)}
          >
            {name}{notes[name] !== undefined && <span class='note'> {notes[name]}</span>}
          </button>
        ))}
      </div>
      <div role='tabpanel' id={`${id}-panel`} aria-labelledby={`${id}-${current}`}>{children}</div>
    </div>
  )
}
