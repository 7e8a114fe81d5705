// Parses URI templates. https://www.rfc-editor.org/rfc/rfc6570#section-2

export type Operator = '' | '+' | '#' | '.' | '/' | ';' | '?' | '&'

export interface Variable { readonly name: string, readonly explode: boolean }

export type Part =
  | { readonly kind: 'literal', readonly text: string }
  | { readonly kind: 'expression', readonly operator: Operator, readonly variables: readonly Variable[] }

const PIECE = /\{([^{}]*)\}|([^{}]+)|([{}])/g
const EXPRESSION = /^([+#./;?&]?)([^+#./;?&].*)$/
const VARIABLE = /^((?:\w|%[0-9A-Fa-f]{2})(?:[\w.]|%[0-9A-Fa-f]{2})*)(\*|:[1-9]\d{0,3})?$/

/** Throws a SyntaxError that names the problem. */
export function parseTemplate (template: string): Part[] {
  const parts: Part[] = []
  const names = new Set<string>()
  for (const [piece, expression, literal] of template.matchAll(PIECE)) {
    if (literal !== undefined) parts.push({ kind: 'literal', text: literal })
    else if (expression !== undefined) parts.push(parseExpression(expression, names))
    else throw new SyntaxError(`has an unbalanced ${piece}`)
  }
  return parts
}

function parseExpression (text: string, names: Set<string>): Part {
  const [, operator, list] = EXPRESSION.exec(text) ?? []
  if (list === undefined || !isOperator(operator)) {
    throw new SyntaxError(`has an expression that RFC 6570 does not know: {${text}}`)
  }
  const variables = list.split(',').map((spec) => {
    const [, name, modifier] = VARIABLE.exec(spec) ?? []
    if (name === undefined) {
      throw new SyntaxError(`has a malformed variable ${JSON.stringify(spec)} in {${text}}`)
    }
    if (modifier?.startsWith(':') === true) {
      throw new SyntaxError(
        `uses the prefix modifier ${modifier} in {${text}}, from which a value cannot be read back`
      )
    }
    if (names.has(name)) throw new SyntaxError(`names the variable ${JSON.stringify(name)} twice`)
    names.add(name)
    return { name, explode: modifier === '*' }
  })
  return { kind: 'expression', operator, variables }
}

function isOperator (text: string | undefined): text is Operator {
  return text !== undefined && ['', '+', '#', '.', '/', ';', '?', '&'].includes(text)
}
