// The contenders of the comparison. Each folder here holds the same shop, written as the documentation of the
// contender shows.

/**
 * `commands` are what somebody types to get from an empty folder to a served and tested tool; the last one
 * serves. `byHand` are the files that have to be written for that. `main` is what serves the shop.
 */
export const CONTENDERS = [
  {
    name: 'Trivet',
    folder: 'trivet',
    commands: ['npx trivet init .', 'npm install', 'npm test', 'npm start'],
    byHand: [],
    main: ['node_modules/trivet/dist/main.js', 'serve'],
    rates: 'catalog/tools/convert.js'
  },
  {
    name: 'official SDK 2.4',
    folder: 'sdk',
    commands: [
      'npm install @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/node@2.1.2 ' +
        '@modelcontextprotocol/fastify@2.0.1 fastify@5.12.8 zod@4.6.7',
      'npm install --save-dev @modelcontextprotocol/client@2.4.0',
      'node --test',
      'node main.js'
    ],
    byHand: ['shop.js', 'main.js', 'shop.test.js'],
    main: ['main.js'],
    rates: 'shop.js'
  },
  {
    name: 'fastmcp 4.20',
    folder: 'fastmcp',
    commands: [
      'npm install fastmcp@4.20.16 zod@4.6.7',
      'npm install --save-dev @modelcontextprotocol/sdk@1.32.2',
      'node --test',
      'node main.js'
    ],
    byHand: ['shop.js', 'main.js', 'shop.test.js'],
    main: ['main.js'],
    rates: 'shop.js'
  }
]
