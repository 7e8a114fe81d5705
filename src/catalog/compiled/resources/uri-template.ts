// Expands URI templates, and matches URIs against them. The time of a match is linear in the URI's length.
// https://www.rfc-editor.org/rfc/rfc6570

import { RE2JS } from 're2js'
import { parseTemplate as parseExpansion } from 'url-template'
import type { TemplateVariables } from '../../../platform/author/define-resource.ts'
import { parseTemplate, type Operator, type Part, type Variable } from './uri-template-syntax.ts'
import { VariableValues } from './variable-values.ts'

/** The values of variables. A variable without a value is left out. */
export type ExpandedVariables = { readonly [name: string]: string | readonly string[] }

export interface UriTemplate {
  readonly text: string
  readonly variables: readonly string[]
  /** The place of each variable that has the most of its value. */
  readonly places: ReadonlyMap<string, Variable>
  /** The number of fixed characters. The template with the most is the most specific. */
  readonly literalLength: number
  /** Throws a URIError for text that is not well-formed Unicode. */
  expand (variables: ExpandedVariables): string
  /** Returns the percent-decoded variables. `undefined` when the URI does not match the template. */
  match (uri: string): TemplateVariables | undefined
}

/** Throws a SyntaxError that names the problem. */
export function createUriTemplate (template: string): UriTemplate {
  const parts = parseTemplate(template)
  const { path, query, pairs } = splitQuery(parts)
  const pattern = RE2JS.compile(path.map((part, at) => toPattern(part, path[at + 1])).join(''), RE2JS.DOTALL)
  const literals = path.flatMap((part) => (
    part.kind === 'literal' && toEncoded(part.text) === part.text ? part.text : []
  ))
  const pathVariables = path.flatMap(
    (part) => part.kind === 'expression'
      ? part.variables.map((variable) => ({ variable, operator: part.operator }))
      : []
  )
  const expansion = parseExpansion(template)
  const places = toPlaces(parts)
  const names = [...places.keys()]

  return {
    text: template,
    variables: names,
    places,
    literalLength: parts.reduce(
      (length, part) => length + (part.kind === 'literal' ? part.text.length : 0), 0
    ),
    expand: (variables) => expansion.expand(mutable(variables)),
    match (uri) {
      const mark = query === undefined ? -1 : uri.indexOf('?')
      const text = mark === -1 ? uri : uri.slice(0, mark)
      if (!hasInOrder(text, literals)) return undefined
      const matcher = pattern.matcher(text)
      if (!matcher.matches()) return undefined
      try {
        const values = new VariableValues()
        pathVariables.forEach(({ variable, operator }, index) => {
          values.add(variable, decode(matcher.group(index + 1), variable, operator))
        })
        const isMatch = query === undefined ||
          readQuery(mark === -1 ? '' : uri.slice(mark + 1), query, pairs, values)
        return isMatch ? values.toVariables(names) : undefined
      } catch (error) {
        // A malformed percent-encoding names no resource.
        if (error instanceof URIError) return undefined
        throw error
      }
    }
  }
}

function toPlaces (parts: readonly Part[]): Map<string, Variable> {
  const places = new Map<string, Variable>()
  for (const part of parts) {
    for (const variable of part.kind === 'expression' ? part.variables : []) {
      const { maxLength: longest = Infinity } = places.get(variable.name) ?? { maxLength: -1 }
      if ((variable.maxLength ?? Infinity) > longest) places.set(variable.name, variable)
    }
  }
  return places
}

/**
 * Splits off a query that consists of `{?…}` and `{&…}`: its variables match in any order. Any other query
 * stays in `path` and is matched by the pattern.
 */
function splitQuery (
  parts: readonly Part[]
): { path: readonly Part[], query: readonly Variable[] | undefined, pairs: readonly string[] } {
  const isQuery = (part: Part) => part.kind === 'expression' &&
    (part.operator === '?' || part.operator === '&')
  const first = parts.findIndex(
    (part) => isQuery(part) || (part.kind === 'literal' && part.text.includes('?'))
  )
  const tail = first === -1 ? [] : parts.slice(first)
  const head = tail[0]
  const pairParts = tail.slice(head?.kind === 'literal' ? 1 : 0)
  if (pairParts.length === 0 || !pairParts.every(isQuery)) return { path: parts, query: undefined, pairs: [] }
  const query = pairParts.flatMap((part) => part.kind === 'expression' ? part.variables : [])
  if (head?.kind !== 'literal') return { path: parts.slice(0, first), query, pairs: [] }
  const mark = head.text.indexOf('?')
  const path: Part[] = [...parts.slice(0, first), { kind: 'literal', text: head.text.slice(0, mark) }]
  const pairs = toEncoded(head.text.slice(mark + 1)).split('&').filter((pair) => pair !== '')
  return { path, query, pairs }
}

/** @param next the part after this one. */
function toPattern (part: Part, next: Part | undefined): string {
  if (part.kind === 'literal') return literalPattern(part.text)
  const { operator, variables } = part
  // A value may hold what the next expression begins with, such as the dot of `{name}{.type}`. It ends early
  // then, so that the next expression gets its values.
  const lazy = next?.kind === 'expression' && !isRequired(next.operator) ? '?' : ''
  const repeat = isRequired(operator) ? `+${lazy}` : `*${lazy}`
  const list = (characters: string, separator: string) => ({ explode }: Variable) => explode
    ? `(${characters}${repeat}(?:${separator}${characters}${repeat})*${lazy})`
    : `(${characters}${repeat})`
  const several = variables.length > 1 || variables.some(({ explode }) => explode)
  switch (operator) {
    case '': return variables.map(list(several ? '[^/?#,]' : '[^/?#]', ',')).join(',')
    case '+': return variables.map(list(several ? '[^,]' : '.', ',')).join(',')
    case '#': {
      const [first = '', ...following] = variables.map(list(several ? '[^,]' : '.', ','))
      return `(?:#${first}${following.map((pattern) => `(?:,${pattern})?`).join('')})?`
    }
    case '.': return variables.map((variable) => `(?:\\.${list('[^/?#.]', '\\.')(variable)})?`).join('')
    case '/': return variables.map((variable) => `(?:/${list('[^/?#]', '/')(variable)})?`).join('')
    case ';': return variables.map(pairPattern(';', `[^/?#;]*${lazy}`)).join('')
    // Reached only when literal text separates the expressions of a query. Their order is then fixed.
    case '?':
    case '&': return variables.map(pairPattern('[?&]', `[^&#]*${lazy}`)).join('')
  }
}

/**
 * Whether each variable must have a value of at least one character. An empty value of `{id}` expands as a
 * missing one does: `book://` is no book.
 */
function isRequired (operator: Operator): boolean {
  return operator === '' || operator === '+'
}

/**
 * Whether the texts come one after the other. The search is native: a catalog may have a hundred templates
 * that begin alike, and the pattern of each takes a millisecond to refuse a long URI.
 */
function hasInOrder (uri: string, texts: readonly string[]): boolean {
  let at = 0
  for (const text of texts) {
    const start = uri.indexOf(text, at)
    if (start === -1) return false
    at = start + text.length
  }
  return true
}

/** Matches the text as written, and as `expand` writes it: percent-encoded where a URI needs that. */
function literalPattern (text: string): string {
  const expanded = toEncoded(text)
  return expanded === text ? RE2JS.quote(text) : `(?:${RE2JS.quote(text)}|${RE2JS.quote(expanded)})`
}

function toEncoded (literal: string): string {
  return parseExpansion(literal).expand({})
}

/** Captures `=value`, or an empty text for a name alone. Captures all pairs of an exploded variable. */
function pairPattern (mark: string, value: string): (variable: Variable) => string {
  return ({ name, explode }) => {
    const key = mark + RE2JS.quote(name)
    return explode ? `((?:${key}(?:=${value})?)+)?` : `(?:${key}((?:=${value})?))?`
  }
}

function decode (
  text: string | null, { name, explode }: Variable, operator: Operator
): string | string[] | undefined {
  if (text === null) return undefined
  switch (operator) {
    case ';':
    case '?':
    case '&': {
      const valueOf = (pair: string) => decodeURIComponent(pair.slice(1))
      return explode
        ? text.slice(1).split(operator === ';' ? ';' : '&').map((pair) => valueOf(pair.slice(name.length)))
        : valueOf(text)
    }
    default: {
      const separator = operator === '/' || operator === '.' ? operator : ','
      return explode ? text.split(separator).map(decodeURIComponent) : decodeURIComponent(text)
    }
  }
}

function readQuery (
  text: string, query: readonly Variable[], pairs: readonly string[], values: VariableValues
): boolean {
  if (text.includes('#')) return false
  const missingPairs = new Set(pairs)
  const unread = [...query]
  const lists = new Map<Variable, string[]>()
  for (const pair of text.split('&')) {
    if (pair === '' || missingPairs.delete(pair)) continue
    const [key = '', ...pairParts] = pair.split('=')
    const name = decodeURIComponent(key)
    const index = unread.findIndex((list) => list.name === name)
    const variable = unread[index]
    if (variable === undefined) return false
    const value = decodeURIComponent(pairParts.join('='))
    if (variable.explode) {
      const list = lists.get(variable)
      if (list === undefined) lists.set(variable, [value])
      else list.push(value)
    } else {
      values.add(variable, value)
      unread.splice(index, 1)
    }
  }
  for (const [variable, list] of lists) values.add(variable, list)
  return missingPairs.size === 0
}

function mutable (variables: ExpandedVariables): { [name: string]: string | string[] } {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]])
  )
}
