// What hosts make of what a service offers, as it was seen. What no row says is not known.

/** The hosts that were driven with a scripted model, and their versions. */
export const HOSTS = {
  'Claude Code': '2.1.332',
  Codex: '0.171',
  Gemini: '0.61',
  opencode: '1.18.33',
  Qwen: '0.24.4',
  Continue: '1.5.47',
  Cline: '3.0.65',
  'Copilot CLI': '1.0.102'
} as const

type HostName = keyof typeof HOSTS

export type HabitSubject =
  'dots' | 'name' | 'keywords' | 'references' | 'union' | 'description' | 'link' | 'instructions'

export interface HostHabit {
  /** What it is about. Absent if `check` cannot tell what it concerns. */
  readonly subject?: HabitSubject
  readonly hosts: readonly HostName[] | 'all'
  readonly habit: string
  /** The most characters that a host takes. */
  readonly limit?: number
  /** How it was seen, and when. `DRIVEN` by default. */
  readonly seen?: string
}

export const DRIVEN = 'driven, November 2026'
const CLAUDE_CODE: Pick<HostHabit, 'hosts' | 'seen'> = {
  hosts: ['Claude Code'], seen: 'driven; 2.1.234 cut at 2048 (anthropics/claude-code#87650); November 2026'
}
const COPILOT = 'driven; the refusal was read in higebu/3gpp-mcp#238; November 2026'

/** The bounds that Codex drops are named one by one. */
export const DROPPED_KEYWORDS: readonly string[] = [
  'prefixItems', 'format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength',
  'maxLength', 'minItems', 'maxItems'
]

const PLAIN_NAMES: readonly HostName[] = ['Claude Code', 'Codex', 'opencode', 'Qwen', 'Cline', 'Copilot CLI']
const SHORT_NAMES: readonly HostName[] = ['Gemini', 'Qwen', 'Cline', 'Copilot CLI']
const NO_INSTRUCTIONS: readonly HostName[] = ['Continue', 'Cline', 'Copilot CLI']
const NO_ELICITATION: readonly HostName[] = ['Gemini', 'opencode', 'Qwen', 'Continue', 'Cline']
const SOME_MODELS = 'some models refuse all tools for a description of more than 1024 characters'

export const HOST_HABITS: readonly HostHabit[] = [
  { subject: 'dots', hosts: PLAIN_NAMES, habit: 'dots in names are rewritten' },
  { subject: 'name', hosts: SHORT_NAMES, habit: 'names have 63 or 64 characters at most', limit: 63 },
  { subject: 'keywords', hosts: ['Codex'], habit: 'prefixItems, format and bounds are dropped' },
  { subject: 'references', hosts: ['Continue'], habit: '$defs are dropped, and $ref leads nowhere' },
  { subject: 'union', hosts: ['Claude Code'], habit: 'a choice at the top becomes prose' },
  { subject: 'union', hosts: ['Continue'], habit: 'a choice at the top loses all arguments' },
  { subject: 'union', hosts: ['Copilot CLI'], habit: 'the members of a choice at the top have no types' },
  { subject: 'union', hosts: ['opencode'], habit: 'no arguments meet what a choice at the top becomes' },
  { hosts: ['Codex', 'Gemini', 'Qwen', 'Cline'], habit: 'a choice at the top is passed on' },
  { subject: 'description', ...CLAUDE_CODE, limit: 16_384, habit: 'descriptions end at 16384 characters' },
  { subject: 'description', hosts: ['Copilot CLI'], habit: SOME_MODELS, limit: 1024, seen: COPILOT },
  { hosts: ['Qwen'], habit: 'the model reads 160 characters of a description until it searches' },
  { hosts: 'all', habit: 'the model gets no titles, annotations and output schemas' },
  { subject: 'link', hosts: ['opencode', 'Copilot CLI'], habit: 'resource links are dropped' },
  { hosts: ['Cline'], habit: 'the model gets structured content twice' },
  { hosts: ['Claude Code', 'Codex'], habit: 'texts beside structured content are dropped' },
  { hosts: ['Codex'], habit: 'pictures beside structured content are dropped' },
  { hosts: ['Gemini', 'opencode', 'Continue'], habit: 'the model gets structured content only as a text' },
  { hosts: ['Continue', 'Cline'], habit: 'the model gets pictures as base64 text' },
  { subject: 'instructions', hosts: NO_INSTRUCTIONS, habit: 'the model gets no instructions' },
  { subject: 'instructions', ...CLAUDE_CODE, limit: 4096, habit: 'instructions end at 4096 characters' },
  { hosts: ['Codex'], habit: 'the model gets a backtrace for error -32602' },
  { hosts: NO_ELICITATION, habit: 'there is no elicitation' },
  {
    hosts: ['Claude Code', 'Codex', 'Copilot CLI'], habit: 'without a person, questions end within 20 ms'
  },
  { hosts: ['Copilot CLI'], habit: 'a question with a link needs elicitationId' },
  { hosts: ['Copilot CLI'], habit: 'without a person, a question to its model never ends' },
  { hosts: ['Claude Code', 'Qwen'], habit: 'the model searches for tools, continue_call among them' },
  { hosts: ['Gemini', 'Continue'], habit: 'no cancel is sent' },
  { hosts: ['Gemini', 'Qwen'], habit: 'the host refuses wrong arguments itself, and repairs some' }
]

/** Names the hosts of a habit. */
export function nameHosts ({ hosts }: HostHabit): string {
  return typeof hosts === 'string' ? `${hosts} hosts` : hosts.join(', ')
}
