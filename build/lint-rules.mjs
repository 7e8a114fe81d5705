// Rules of lint for Plain English: what a local is called, and how a comment begins.

/** A reader has to look up what these stand for: a local is a noun of the domain. */
const PRONOUNS = new Set([
  'anything', 'both', 'each', 'more', 'most', 'one', 'ones', 'other', 'others', 'own', 'rest', 'some',
  'something', 'such', 'these', 'they', 'thing', 'things', 'those', 'what', 'whole',
  'asked', 'begun', 'chosen', 'found', 'given', 'gone', 'held', 'kept', 'known', 'made', 'meant', 'met',
  'needed', 'opened', 'said', 'seen', 'sent', 'shown', 'taken', 'told', 'wanted'
])

const FIRST_WORDS = /^(?:Who|Whoever|Nobody|Those|That|Of|By|As)\b/
const SENTENCES = /[.:;] (?:Who|Whoever|Nobody)\b/

const QUESTIONS = /^(?:ARE|CAN|DOES|HAS|IS|MAY)_/
const NO_ANSWERS = new Set(['ArrayExpression', 'NewExpression', 'ObjectExpression', 'TemplateLiteral'])

/** Yields the identifiers that a pattern declares. */
function * namesOf (pattern) {
  switch (pattern?.type) {
    case 'Identifier': yield pattern; break
    case 'AssignmentPattern': yield * namesOf(pattern.left); break
    case 'RestElement': yield * namesOf(pattern.argument); break
    case 'ArrayPattern': for (const element of pattern.elements) yield * namesOf(element); break
    case 'ObjectPattern':
      for (const property of pattern.properties) yield * namesOf(property.value ?? property)
  }
}

/** Whether a value is certainly no answer to a question: a number, a text, a pattern or a collection. */
const isNoAnswer = (init) => NO_ANSWERS.has(init?.type) ||
  (init?.type === 'Literal' && typeof init.value !== 'boolean') ||
  (init?.type === 'UnaryExpression' && init.operator !== '!')

const names = {
  create (context) {
    const check = (pattern) => {
      for (const identifier of namesOf(pattern)) {
        const { name } = identifier
        if (!PRONOUNS.has(name)) continue
        context.report({ node: identifier, message: `Give the local \`${name}\` a noun of the domain.` })
      }
    }
    const checkParams = ({ params }) => { params.forEach(check) }
    return {
      VariableDeclarator ({ id, init }) {
        check(id)
        if (!QUESTIONS.test(id.name) || !isNoAnswer(init)) return
        context.report({ node: id, message: `Give \`${id.name}\` a noun: it answers no question.` })
      },
      CatchClause: ({ param }) => { check(param) },
      FunctionDeclaration: checkParams,
      FunctionExpression: checkParams,
      ArrowFunctionExpression: checkParams,
      TSFunctionType: checkParams,
      TSMethodSignature: checkParams
    }
  }
}

/** Yields each comment with its text as one line. Line comments below each other are one comment. */
function * textsOf (sourceCode) {
  let run
  for (const { type, loc, value } of sourceCode.getAllComments()) {
    const text = value.replace(/\s*\n\s*\*?\s*/g, ' ').replace(/^[\s*]+/, '')
    const { line, column } = loc.start
    const isAlone = sourceCode.lines[line - 1].slice(0, column).trim() === ''
    if (type === 'Line' && isAlone && run?.line === line - 1) {
      run.line = line
      run.text += ` ${text}`
      continue
    }
    if (run !== undefined) yield run
    run = { loc, text, line: type === 'Line' && isAlone ? line : undefined }
  }
  if (run !== undefined) yield run
}

const comments = {
  create (context) {
    return {
      Program () {
        for (const { loc, text } of textsOf(context.sourceCode)) {
          if (!FIRST_WORDS.test(text) && !SENTENCES.test(text)) continue
          context.report({ loc, message: 'Begin the sentence with its subject.' })
        }
      }
    }
  }
}

export const plainEnglish = { rules: { names, comments } }
