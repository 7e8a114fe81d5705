// The text of a field's label: its title, its name, and whether it is required.

interface LabelTextProps {
  readonly label: string
  /** Shown beside a label that is another text. The index of an item is not. */
  readonly name: string | number
  readonly isRequired: boolean
}

export function LabelText ({ label, name, isRequired }: LabelTextProps) {
  return (
    <>
      {label}
      {typeof name === 'string' && name !== label && <code class='faint'>{name}</code>}
      {isRequired && <span class='required' title='required'> *<span class='unseen'> required</span></span>}
    </>
  )
}
