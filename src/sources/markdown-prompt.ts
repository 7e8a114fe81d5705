// Reads a prompt from a Markdown file: the front matter describes it, the body is its text.

import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { definePrompt, type PromptDefinition } from '../authoring/define-prompt.ts'
import { ToolError } from '../authoring/tool-error.ts'
import type { PromptMessage, Role } from '../protocol/content.ts'
import { createReader } from '../schema/reader.ts'
import { Type } from '../schema/type.ts'
import { splitFrontMatter } from './front-matter.ts'

const closed = { additionalProperties: false }
const optional = Type.Optional

const readSettings = createReader(Type.Object({
  name: optional(Type.String()),
  title: optional(Type.String()),
  description: optional(Type.String()),
  arguments: optional(Type.Array(Type.Object({
    name: Type.String(),
    title: optional(Type.String()),
    description: optional(Type.String()),
    required: optional(Type.Boolean()),
    complete: optional(Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()])))
  }, closed))),
  scopes: optional(Type.Array(Type.String())),
  whenMissing: optional(Type.Enum(['hide', 'challenge'])),
  audit: optional(Type.Enum(['names', 'values'])),
  order: optional(Type.Number())
}, closed), (problems) => new SyntaxError(`front matter: ${problems.join('; ')}`))

const PLACEHOLDER = /\{\{\s*([\w.-]+)\s*\}\}/
/** In characters, of all messages. A prompt may use an argument often, and the client chooses its length. */
const MAX_LENGTH = 1_048_576
const ROLE_LINE = /^[ \t]*<!--\s*(user|assistant)\s*-->[ \t]*\r?$/m

/** Rejects if the file is not a valid prompt. The message says why. */
export async function readMarkdownPromptFile (file: string): Promise<PromptDefinition> {
  return readMarkdownPrompt(await readFile(file, 'utf8'), file)
}

/** @param file its name is the default name of the prompt. */
function readMarkdownPrompt (text: string, file: string): PromptDefinition {
  const { data, body } = splitFrontMatter(text)
  const { name = basename(file, '.md'), arguments: args = [], ...settings } = readSettings(data)
  const turns = readTurns(body)
  const known = new Set(args.map((argument) => argument.name))
  const unknown = turns.flatMap(({ pieces }) => pieces.filter(isPlaceholder)).find((name) => !known.has(name))
  if (unknown !== undefined) {
    throw new SyntaxError(`{{${unknown}}} is none of the arguments in the front matter`)
  }
  if (lengthOf(fillIn(turns, {})) > MAX_LENGTH) {
    throw new SyntaxError(`is longer than ${MAX_LENGTH} characters`)
  }
  return definePrompt({
    ...settings,
    name,
    arguments: args.map(({ complete, ...argument }) => ({
      ...argument, ...(complete === undefined ? {} : { complete: complete.map(String) })
    })),
    render (values: ArgumentValues): PromptMessage[] {
      const filled = fillIn(turns, values)
      if (lengthOf(filled) > MAX_LENGTH) {
        throw new ToolError(`The arguments make the prompt longer than ${MAX_LENGTH} characters.`)
      }
      return filled.map(({ role, text }) => ({ role, content: { type: 'text', text } }))
    }
  })
}

interface ArgumentValues { readonly [name: string]: string | undefined }

/** Literal text, and at each odd index the name of the argument that stands there. */
type Pieces = readonly string[]

function isPlaceholder (_: string, index: number): boolean {
  return index % 2 === 1
}

/** Replaces each placeholder once. Braces in a value are not replaced. */
function fillIn (turns: readonly Turn[], values: ArgumentValues): FilledTurn[] {
  return turns.map(({ role, pieces }) => {
    // Concatenated and not joined: a text that is too long is then never copied.
    let text = ''
    for (const [index, piece] of pieces.entries()) {
      if (!isPlaceholder(piece, index)) text += piece
      else if (Object.hasOwn(values, piece)) text += values[piece] ?? ''
    }
    return { role, text }
  })
}

function lengthOf (turns: readonly FilledTurn[]): number {
  return turns.reduce((length, { text }) => length + text.length, 0)
}

interface FilledTurn { readonly role: Role, readonly text: string }

interface Turn { readonly role: Role, readonly pieces: Pieces }

function readTurns (body: string): Turn[] {
  const turns: Turn[] = []
  let role: Role = 'user'
  for (const [index, piece] of body.split(ROLE_LINE).entries()) {
    // `split` puts the captured roles between the texts.
    if (index % 2 === 1) role = piece === 'assistant' ? 'assistant' : 'user'
    else if (piece.trim() !== '') turns.push({ role, pieces: piece.trim().split(PLACEHOLDER) })
  }
  if (turns.length === 0) throw new SyntaxError('has no text')
  return turns
}
