// Splits the body of a Markdown prompt into texts with placeholders, and files that are embedded.

import type { Role } from '../../../platform/protocol/content.ts'

export interface TextPart {
  readonly role: Role
  /** Literal text, and at each odd index the name of the argument that stands there. */
  readonly pieces: readonly string[]
}

export interface FilePart {
  readonly role: Role
  /** The path or URI in the text of the author. */
  readonly target: string
  /** The line of the body, from 0. */
  readonly line: number
}

export type BodyPart = TextPart | FilePart

/** A placeholder. A backslash in front makes it text, unless another one is in front of the backslash. */
const PLACEHOLDER = /(?<!(?<!\\)\\\{?)\{\{\s*([\w.-]+)\s*\}\}/
/** The backslash that is left out, in text before a placeholder and in the last text. */
const [ESCAPE, LAST_ESCAPE] = [/\\(?=\{\{|\{?$)/g, /\\(?=\{\{)/g]
const ROLE_LINE = /^[ \t]*<!--\s*(user|assistant)\s*-->[ \t]*\r?$/
/** An image on a line of its own. Its target is in angle brackets, or has no spaces outside a placeholder. */
const IMAGE_LINE =
  /^ {0,3}!\[[^\]]*\]\([ \t]*(?:<([^<>]+)>|((?:[^()\s<>{]|\{(?!\{)|\{\{\s*[\w.-]+\s*\}\})+))(?:[ \t]+"[^"]*")?[ \t]*\)[ \t]*\r?$/
const FENCE = /^ {0,3}(`{3,}|~{3,})/
/** An image of another site, of this page, or named by an argument stays text. */
const FOREIGN_TARGET = /^(?:(?!file:)[a-z][a-z0-9+.-]*:|[/#?]|\\*\{\{)/i

/** Throws a SyntaxError if the body is empty. */
export function readBody (body: string): BodyPart[] {
  const parts: BodyPart[] = []
  let role: Role = 'user'
  let lines: string[] = []
  let fence: string | undefined
  function endText (): void {
    const text = lines.join('\n').trim()
    if (text !== '') parts.push({ role, pieces: toPieces(text) })
    lines = []
  }
  for (const [index, line] of body.split('\n').entries()) {
    const [isRole, nextRole] = ROLE_LINE.exec(line) ?? []
    if (isRole !== undefined) {
      endText()
      role = nextRole === 'assistant' ? 'assistant' : 'user'
      fence = undefined
      continue
    }
    const target = fence === undefined ? targetOf(line) : undefined
    if (target === undefined) {
      fence = fenceAfter(line, fence)
      lines.push(line)
    } else {
      endText()
      parts.push({ role, target, line: index })
    }
  }
  endText()
  if (parts.length === 0) throw new SyntaxError('has no text')
  return parts
}

function toPieces (text: string): string[] {
  const pieces = text.split(PLACEHOLDER)
  return pieces.map((piece, index) => piece.replaceAll(index + 1 < pieces.length ? ESCAPE : LAST_ESCAPE, ''))
}

function targetOf (line: string): string | undefined {
  const [, bracketed, bare] = IMAGE_LINE.exec(line) ?? []
  const target = bracketed ?? bare
  return target === undefined || FOREIGN_TARGET.test(target) ? undefined : target
}

/** The fence of the code block that the next line is in. Lines of code embed nothing. */
function fenceAfter (line: string, open: string | undefined): string | undefined {
  const [opening, fence] = FENCE.exec(line) ?? []
  if (opening === undefined || fence === undefined) return open
  if (open === undefined) return fence
  const isEnd = fence.startsWith(open) && line.slice(opening.length).trim() === ''
  return isEnd ? undefined : open
}

export function isTextPart (part: BodyPart): part is TextPart {
  return 'pieces' in part
}

export interface ArgumentValues { readonly [name: string]: string | undefined }

/** The names of the arguments that the texts use. */
export function namesIn (texts: readonly TextPart[]): string[] {
  return texts.flatMap(({ pieces }) => pieces.filter(isPlaceholder))
}

/** Replaces each placeholder once. Braces in a value are not replaced. */
export function fillIn ({ pieces }: TextPart, values: ArgumentValues): string {
  // Concatenated and not joined: a text that is too long is then never copied.
  let text = ''
  for (const [index, piece] of pieces.entries()) {
    if (!isPlaceholder(piece, index)) text += piece
    else if (Object.hasOwn(values, piece)) text += values[piece] ?? ''
  }
  return text
}

function isPlaceholder (_: string, index: number): boolean {
  return index % 2 === 1
}
