// Turns the lines of the log into lines for people at a terminal.

import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { styleText } from 'node:util'
import { toPlain, toPlainJson, toPlainLines } from '../../base/words.ts'
import { lineNumberOf, type Problem } from '../../catalog/compiled/problem.ts'
import { isFrame, toAuthorLines } from './author-frames.ts'
import { toCallLines } from './call-lines.ts'

type Fields = { readonly [name: string]: unknown }
type Style = Parameters<typeof styleText>[0]

const LEVELS: ReadonlyMap<unknown, readonly [name: string, style: Style]> = new Map([
  [10, ['trace', 'gray']], [20, ['debug', 'gray']], [30, ['', 'reset']], [40, ['warning', 'yellow']],
  [50, ['error', 'red']], [60, ['fatal', 'red']]
])
const ERROR = 50
/** Fields that say nothing to one person at one machine, and fields that the message has already. */
const LEFT_OUT = new Set([
  'level', 'time', 'pid', 'hostname', 'msg', 'reqId', 'err', 'problems', 'catalog', 'version', 'source',
  'url', 'changes', 'lists', 'updated', 'isFixed'
])

/** @param line of the log, as JSON. Text that is no JSON is returned as it is. */
export function toPeople (line: string): string {
  const fields = parse(line)
  if (fields === undefined) return line
  const { level, time, msg } = fields
  const [name, style] = LEVELS.get(level) ?? ['', 'reset']
  const clock = styleText('gray', new Date(Number(time)).toTimeString().slice(0, 8))
  const text = msg === 'request' ? toRequest(fields) : toMessage(fields)
  const marked = name === '' ? text : styleText(style, `${name}: ${text}`)
  return [`${clock} ${marked}`, ...toDetails(fields), ''].join('\n')
}

/** Any text may come from a client. */
function parse (line: string): Fields | undefined {
  try {
    return JSON.parse(line, (_, value) => typeof value === 'string' ? toPlainLines(value) : value)
  } catch {
    return undefined
  }
}

/** `tools/call search_books 200 1.2 ms` */
function toRequest ({ method, name, status, outcome, durationMs, code, reason }: Fields): string {
  const failure = code === undefined ? undefined : `error ${String(code)}`
  const word = outcome === 'ok' ? undefined : outcome
  const parts = [method, name, status, word, failure]
  const text = parts.filter((part) => part !== undefined).join(' ')
  return toPlain(`${text} ${String(durationMs)} ms${reason === undefined ? '' : `: ${String(reason)}`}`)
}

/** `The Shop serves 3 tools at http://127.0.0.1:3000/mcp` */
function toMessage (fields: Fields): string {
  const { msg = '', url, isFixed } = fields
  const place = url === undefined ? '' : ` at ${String(url)}`
  const state = isFixed === true ? ': its problems are fixed' : ''
  return `${indent(String(msg)).trimStart()}${place}${state} ${toRest(fields)}`.trim()
}

function toRest (fields: Fields): string {
  const pairs = Object.entries(fields).filter(([name]) => !LEFT_OUT.has(name))
  // The error that a client receives has this id. Other lines have no use for it.
  if (fields.reqId !== undefined && Number(fields.level) >= ERROR) pairs.push(['requestId', fields.reqId])
  const text = pairs.map(([key, value]) => `${toPlain(key)}=${toPlainJson(JSON.stringify(value))}`).join(' ')
  return text === '' ? '' : styleText('gray', text)
}

/**
 * What a call was given and what came of it; or what changed; or problems of a catalog, each with the line of
 * its file; or the error with its stack.
 */
function toDetails (fields: Fields): string[] {
  const { msg, catalog, changes, problems, err } = fields
  if (msg === 'request') return toCallLines(fields).map((line) => styleText('gray', line))
  if (Array.isArray(changes)) return changes.map((change) => indent(toStyledChange(String(change))))
  if (isProblems(problems)) return problems.flatMap((problem) => toProblem(String(catalog), problem))
  if (typeof err !== 'object' || err === null) return []
  const text = 'stack' in err ? err.stack : 'message' in err ? err.message : ''
  return toError(String(text)).map(indent)
}

/** The error without the frames of the service and of Node. The first frame is where its author looks. */
function toError (stack: string): string[] {
  const lines = toAuthorLines(stack)
  const first = lines.findIndex((line) => isFrame(line))
  return lines.map((line, index) => {
    if (!isFrame(line)) return line
    const shortened = line.replace(FRAME_PATH, (_, path: string) => toShortPath(path))
    return index === first ? styleText('bold', shortened) : shortened
  })
}

const FRAME_PATH = /(?:file:\/\/)?(\/[^():]+)(?=:\d+:\d+)/

/** Relative to the working directory, as terminals and editors open it. */
function toShortPath (path: string): string {
  const short = relative('', path)
  return short.startsWith('..') ? path : short
}

const SIGNS: { readonly [sign: string]: Style } = { '+': 'green', '-': 'red', '~': 'yellow' }

function toStyledChange (change: string): string {
  return styleText(SIGNS[change.slice(0, 1)] ?? 'reset', change)
}

function isProblems (value: unknown): value is readonly Problem[] {
  return Array.isArray(value) && value.length > 0
}

function toProblem (catalog: string, problem: Problem): string[] {
  const { file, place, rule, column } = problem
  const number = lineNumberOf(problem)
  if (number === undefined) return [indent(`${file}: ${place === '' ? '' : `${place}: `}${rule}`)]
  const line = readLine(join(catalog, file), number)
  const source = line === undefined ? [] : toSource(number, line, column)
  return [indent(`${styleText('bold', `${file}:${number}`)} ${rule}`), ...source]
}

/** The line, and a caret under its column. Tabs stay tabs, so that the caret is where it must be. */
function toSource (number: number, line: string, column: number | undefined): string[] {
  const lines = [`${number} | ${line}`]
  if (column !== undefined) {
    lines.push(`${' '.repeat(`${number} | `.length)}${line.slice(0, column - 1).replaceAll(/[^\t]/g, ' ')}^`)
  }
  return lines.map((sourceLine) => indent(indent(styleText('gray', sourceLine))))
}

/** `undefined` if the file has changed in the meantime, so that it has no such line. */
function readLine (path: string, number: number): string | undefined {
  try {
    return readFileSync(path, 'utf8').split('\n')[number - 1]
  } catch {
    return undefined
  }
}

function indent (text: string): string {
  return text.replace(/^/gm, '  ')
}
