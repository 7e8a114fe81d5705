// The person at a page answers the questions of tools in a dialog of the page, not of the screen.

/** @param client the official client, whose questions have one field: `confirm` */
export function answerByDialog (client) {
  client.setRequestHandler('elicitation/create', async ({ params: { message } }) => {
    const dialog = document.createElement('dialog')
    const button = Object.assign(document.createElement('button'), { textContent: 'Confirm' })
    dialog.append(message, button)
    document.body.append(dialog)
    dialog.showModal()
    await new Promise((resolve) => button.addEventListener('click', resolve))
    dialog.remove()
    return { action: 'accept', content: { confirm: true } }
  })
}
