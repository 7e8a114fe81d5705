// Parses URI templates. https://www.rfc-editor.org/rfc/rfc6570#section-2

export type Operator = '' | '+' | '#' | '.' | '/' | ';' | '?' | '&'

export interface Variable {
  readonly name: string
  readonly explode: boolean
  /** How many characters of the value are written, if not all. */
  readonly maxLength: number | undefined
}

interface Expression {
  readonly kind: 'expression'
  readonly operator: Operator
  readonly variables: readonly Variable[]
}

export type Part = { readonly kind: 'literal', readonly text: string } | Expression

const PIECE = /\{([^{}]*)\}|([^{}]+)|([{}])/g
const EXPRESSION = /^([+#./;?&]?)([^+#./;?&].*)$/
const VARIABLE = /^((?:\w|%[0-9A-Fa-f]{2})(?:[\w.]|%[0-9A-Fa-f]{2})*)(\*|:[1-9]\d{0,3})?$/

/** Throws a SyntaxError that names the problem. */
export function parseTemplate (template: string): Part[] {
  const parts: Part[] = []
  const explodes = new Map<string, boolean>()
  for (const [piece, expression, literal] of template.matchAll(PIECE)) {
    if (literal !== undefined) parts.push({ kind: 'literal', text: literal })
    else if (expression !== undefined) parts.push(parseExpression(expression, explodes))
    else throw new SyntaxError(`has an unbalanced ${piece}`)
  }
  checkReadable(parts)
  return parts
}

/** Throws a SyntaxError for a template from whose URIs the values of the variables cannot be told. */
function checkReadable (parts: readonly Part[]): void {
  let hasQuery = false
  for (const [index, part] of parts.entries()) {
    if (part.kind === 'literal') {
      hasQuery ||= part.text.includes('?')
      continue
    }
    const { operator } = part
    const before = parts[index - 1]
    if (before?.kind === 'expression' && isJoined(before.operator, operator)) {
      const expressions = `${textOf(before)}${textOf(part)}`
      throw new SyntaxError(`has ${expressions}: put a text between them that says where the first one ends`)
    }
    if (operator === '&' && !hasQuery) {
      throw new SyntaxError(`has ${textOf(part)} without a ? before it: write ${textOf(part, '?')}`)
    }
    if (operator === '?' && hasQuery) {
      throw new SyntaxError(`has ${textOf(part)} after another ?: write ${textOf(part, '&')}`)
    }
    hasQuery ||= operator === '?'
  }
}

/** The expressions whose values may hold the slash that a following `{+path}` can begin with. */
const WITH_SLASHES: readonly Operator[] = ['+', '#', '?', '&']

/** Whether nothing marks the end of an expression and the beginning of the next one. */
function isJoined (before: Operator, operator: Operator): boolean {
  return operator === '' || (operator === '+' && WITH_SLASHES.includes(before))
}

function textOf ({ operator, variables }: Expression, spelled: Operator = operator): string {
  const list = variables.map(({ name, explode, maxLength }) => {
    return `${name}${explode ? '*' : ''}${maxLength === undefined ? '' : `:${maxLength}`}`
  })
  return `{${spelled}${list.join(',')}}`
}

/** @param explodes whether each variable so far is exploded. */
function parseExpression (text: string, explodes: Map<string, boolean>): Part {
  const [, operator, list] = EXPRESSION.exec(text) ?? []
  if (list === undefined || !isOperator(operator)) {
    throw new SyntaxError(`has an expression that RFC 6570 does not know: {${text}}`)
  }
  const variables = list.split(',').map((spec) => {
    const [, name, modifier] = VARIABLE.exec(spec) ?? []
    if (name === undefined) {
      throw new SyntaxError(`has a malformed variable ${JSON.stringify(spec)} in {${text}}`)
    }
    const explode = modifier === '*'
    if (name.includes('%')) {
      const variable = JSON.stringify(name)
      throw new SyntaxError(`has a percent-encoded variable ${variable}: use letters, digits, . and _`)
    }
    if (explodes.get(name) === !explode) {
      throw new SyntaxError(`explodes the variable ${JSON.stringify(name)} in one place and not in another`)
    }
    explodes.set(name, explode)
    const maxLength = explode || modifier === undefined ? undefined : Number(modifier.slice(1))
    return { name, explode, maxLength }
  })
  return { kind: 'expression', operator, variables }
}

function isOperator (text: string | undefined): text is Operator {
  return text !== undefined && ['', '+', '#', '.', '/', ';', '?', '&'].includes(text)
}
