// Parses URI templates. https://www.rfc-editor.org/rfc/rfc6570#section-2

export type Operator = '' | '+' | '#' | '.' | '/' | ';' | '?' | '&'

export interface Variable {
  readonly name: string
  readonly explode: boolean
  /** How many characters of the value are written, if not all. */
  readonly maxLength: number | undefined
}

export type Part =
  | { readonly kind: 'literal', readonly text: string }
  | { readonly kind: 'expression', readonly operator: Operator, readonly variables: readonly Variable[] }

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
  return parts
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
