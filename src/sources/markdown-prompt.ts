// Reads a prompt from a Markdown file: the front matter describes it, the body is its text.

import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { Type } from 'typebox'
import { definePrompt, type PromptDefinition } from '../authoring/define-prompt.ts'
import type { PromptMessage, Role } from '../protocol/content.ts'
import { createReader } from '../schema/reader.ts'
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
  order: optional(Type.Number())
}, closed), (problems) => new SyntaxError(`front matter: ${problems.join('; ')}`))

const PLACEHOLDER = /\{\{\s*([\w.-]+)\s*\}\}/g
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
  for (const { text } of turns) {
    for (const [, placeholder = ''] of text.matchAll(PLACEHOLDER)) {
      if (!known.has(placeholder)) {
        throw new SyntaxError(`{{${placeholder}}} is none of the arguments in the front matter`)
      }
    }
  }
  return definePrompt({
    ...settings,
    name,
    arguments: args.map(({ complete, ...argument }) => ({
      ...argument, ...(complete === undefined ? {} : { complete: complete.map(String) })
    })),
    render: (values: ArgumentValues): PromptMessage[] => turns.map(({ role, text }) => ({
      role, content: { type: 'text', text: fillIn(text, values) }
    }))
  })
}

interface ArgumentValues { readonly [name: string]: string | undefined }

/** Replaces each placeholder once. Braces in a value are not replaced. */
function fillIn (text: string, values: ArgumentValues): string {
  return text.replace(
    PLACEHOLDER,
    (_, placeholder: string) => Object.hasOwn(values, placeholder) ? values[placeholder] ?? '' : ''
  )
}

interface Turn { readonly role: Role, readonly text: string }

function readTurns (body: string): Turn[] {
  const turns: Turn[] = []
  let role: Role = 'user'
  for (const [index, piece] of body.split(ROLE_LINE).entries()) {
    // `split` puts the captured roles between the texts.
    if (index % 2 === 1) role = piece === 'assistant' ? 'assistant' : 'user'
    else if (piece.trim() !== '') turns.push({ role, text: piece.trim() })
  }
  if (turns.length === 0) throw new SyntaxError('has no text')
  return turns
}
