// What the model calls, in order, and what it should read of each result.

/**
 * `expected` is a part of the text that the model should read.
 * @type {Array<{ title: string, tool: string, args: object, expected: RegExp }>}
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
  { title: 'Structured content', tool: 'read_stock', args: { sku: 'a' }, expected: /"count":\s*3/ },
  { title: 'Wrong arguments', tool: 'read_stock', args: { sku: { a: 1 } }, expected: /Invalid arguments|sku/ },
  { title: 'A result of the official SDK', tool: 'read_shelf', args: {}, expected: /there are four|"count":\s*4/ },
  { title: 'A form', tool: 'ask_size', args: {}, expected: /Which size/ },
  { title: 'A link to visit', tool: 'ask_visit', args: {}, expected: /Show the user this link|visited/ },
  { title: 'A name with a dot', tool: 'parts.list', args: {}, expected: /listed parts/ },
  {
    title: 'A long name',
    tool: 'list_all_of_the_spare_parts_that_any_warehouse_of_the_company_has_in_its_stock_today',
    args: {},
    expected: /listed spare parts/
  }
]
