// A screen that uses the official library for screens.

import { App } from '@modelcontextprotocol/ext-apps'

const app = new App({ name: 'official', version: '1.0.0' }, { availableDisplayModes: ['inline'] })
const heard = { inputs: [], results: [], contexts: [] }
app.ontoolinput = (params) => heard.inputs.push(params)
app.ontoolresult = (params) => heard.results.push(params)
app.onhostcontextchanged = (params) => heard.contexts.push(params)
app.onteardown = async () => {
  await app.updateModelContext({ content: [{ type: 'text', text: 'saved' }] })
  return {}
}
Object.assign(window, { app, heard })
app.connect()
