// Pieces of advice, and how they are reported.

/** What can be turned off, by name, and what it is about. */
export const ADVICE = {
  'passed-over': 'a file in a folder of the catalog that is not loaded',
  'foreign-key': 'a key of a front matter that nothing here reads',
  description: 'a tool, a prompt, a resource or an argument without a description',
  'mime-type': 'a resource or a template without a MIME type',
  scheme: 'a URI scheme of the catalog\'s own that no text for models explains',
  alike: 'two tools whose descriptions a model can hardly tell apart',
  name: 'a name that some clients refuse or cut',
  'bare-object': 'a property about which the schema says nothing',
  required: 'a required property that the schema does not describe',
  'result-form': 'an output schema whose values may be taken for whole results',
  'secret-header': 'an argument that looks like a secret, and is copied into a header',
  union: 'a choice between many schemas, within another choice, or at the top of an input schema',
  'long-list': 'a list of tools that takes much of a model\'s context',
  unasked: 'a tool that asks, and does not say whether a model may pass its questions on',
  'tasks-only': 'a tool that refuses clients without tasks',
  'long-call': 'a time limit beyond what hosts wait, without a task',
  hosts: 'what a host makes of a tool or of the instructions, with --hosts',
  'missing-setting': 'a setting that the service needs, and that is not set here'
} as const

type AdviceName = keyof typeof ADVICE

export const ADVICE_NAMES: readonly string[] = Object.keys(ADVICE)

export interface CatalogAdvice {
  readonly name: AdviceName
  /** Relative to the catalog folder. */
  readonly file: string
  /** The export and the field of the definition. Empty for the whole file. */
  readonly place: string
  /** What was found, and what to do. */
  readonly rule: string
}

/** Reports one piece of advice about a definition. */
export type Advise = (name: AdviceName, place: string, rule: string) => void

/** A primitive as clients get it in a list, and where its definition is. */
export interface Listed<T> { readonly entry: T, readonly advise: Advise }
