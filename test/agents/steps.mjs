// What the model calls, in order, and what it should read of each result.

const LONG_NAME = 'list_all_of_the_spare_parts_that_any_warehouse_of_the_company_has_in_its_stock_today'

/**
 * `expected` is a part of the text that the model should read.
 * `args` can be made from the results before, as texts. A step without args is left out.
 * `isOwn` is for the shell of the agent: `args` is then the command.
 * @typedef {{ title: string, tool?: string, isOwn?: boolean, args: unknown, expected: RegExp }} Step
 * @type {Step[]}
 */
export const STEPS = [
  {
    title: 'Arguments as texts',
    tool: 'count_parts',
    args: { rows: '[1,2]', limit: '5', exact: 'true', note: null },
    expected: /counted \[\[1,2\],5,true\]/
  },
  {
    title: 'A union at the top', tool: 'choose_shape', args: { kind: 'circle', radius: 2 }, expected: /chosen .*circle/
  },
  {
    title: '`$ref`', tool: 'place_order', args: { item: { sku: 'a', count: 1 } }, expected: /ordered .*"a"/
  },
  { title: 'A link', tool: 'make_link', args: {}, expected: /report-7\.pdf/ },
  { title: 'A picture', tool: 'draw_dot', args: {}, expected: /a red dot/ },
  {
    title: 'Texts and structured content', tool: 'measure_dot', args: {}, expected: /a red dot/
  },
  { title: 'Structured content', tool: 'read_stock', args: { sku: 'a' }, expected: /"count":\s*3/ },
  { title: 'Wrong arguments', tool: 'read_stock', args: { sku: { a: 1 } }, expected: /Invalid arguments|sku/ },
  { title: 'A result of the official SDK', tool: 'read_shelf', args: {}, expected: /there are four|"count":\s*4/ },
  { title: 'A text that was cut', tool: 'print_rows', args: {}, expected: /cursor/ },
  {
    title: 'What was cut',
    tool: 'read_more',
    args: ([result]) => ({ cursor: /cursor:? "([^"]+)"/.exec(result)?.[1] ?? '' }),
    expected: /row 70 of/
  },
  { title: 'Rows that were cut', tool: 'list_rows', args: {}, expected: /cursor/ },
  { title: 'A form', tool: 'ask_size', args: {}, expected: /Which size/ },
  { title: 'A link to visit', tool: 'ask_visit', args: {}, expected: /Show the user this link|visited/ },
  { title: 'A question for folders', tool: 'ask_folders', args: {}, expected: /asked|roots/ },
  { title: 'An upload', tool: 'take_file', args: {}, expected: /Show the user this link/ },
  {
    title: 'The upload, with a shell',
    isOwn: true,
    args: ([result]) => {
      const url = /http:\S+\/files\/[\w.~%-]+/.exec(result)?.[0]
      return url && `printf seven > note.txt && curl -s -F file=@note.txt '${url}'`
    },
    expected: /File received/
  },
  {
    title: 'The file that was uploaded',
    tool: 'continue_call',
    args: ([, question]) => {
      const call = /call: "([^"]+)"/.exec(question)?.[1]
      return call && { call, answers: { upload: {} } }
    },
    expected: /took note\.txt: seven/
  },
  { title: 'A name with a dot', tool: 'parts.list', args: {}, expected: /listed parts/ },
  { title: 'A long name', tool: LONG_NAME, args: {}, expected: /listed spare parts/ },
  { title: 'A long description', tool: 'tell_story', args: {}, expected: /told a story/ },
  // Behind the others: Copilot CLI waits for a person here.
  { title: 'A question to the model', tool: 'ask_model', args: {}, expected: /asked|sampling/ }
]
